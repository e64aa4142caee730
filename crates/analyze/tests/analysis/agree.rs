//! A depth check that disagrees with the comparison which it follows.

use iotax_analyze::{Analysis, Check, Metric, Phases, RuleOpen, Verdict, depth_check};
use iotax_experiment::Rule;
use iotax_experiment::rule::RuleOutcome;
use iotax_record::{ExperimentHead, Trial};

use iotax_wording::rule;

use crate::support::{Bed, Found, end, of};
use crate::warnings::{asked, said};

/// Equal arms, and what a depth check finds of them: rates by arm, block and depth.
fn checked(iops: impl Fn(usize, u32, u32) -> f64) -> Found {
    let mut bed = Bed::compare(&["a", "b"]);
    bed.edit(|spec| {
        spec.phases[0].set("depth=8").unwrap();
        spec.fail_if = vec![Rule::parse("slower by 5%").unwrap()];
    });
    let trials = bed.blocks(6, &[970.0, 970.0], 0.01);
    let mut phases = Phases::new(&bed.experiment);
    for trial in &trials {
        phases.add(trial);
    }
    let parts = phases.finish(Some(&end()));
    assert_eq!(of(&parts[0].1, "b", Metric::Throughput).verdict, Verdict::Equivalent);
    let spec = depth_check(&bed.experiment.spec, &parts).unwrap();
    let head = ExperimentHead { spec, ..bed.experiment.clone() };
    let mut check = Phases::of_depth_check(&head, &phases);
    for block in 0..3 {
        for (phase, arm) in (0..3).flat_map(|phase| [(phase, 0), (phase, 1)]) {
            let rate = iops(arm, block, phase);
            let trial = bed.trial_with(block, arm, rate, 8e9 / rate * f64::from(1 << phase) / 2.0);
            check.add(&Trial { phase, ..trial });
        }
    }
    phases.checked_at_depths(&check);
    let (experiment, analysis) = phases.finish(Some(&end())).remove(0);
    Found { experiment, analysis }
}

fn verdict(analysis: &Analysis) -> Verdict {
    of(analysis, "b", Metric::Throughput).verdict
}

#[test]
fn credits_that_ran_out_for_one_arm_take_the_verdict_back() {
    let analysis = checked(|arm, block, _| match (arm, block) {
        (1, _) | (0, 2) => 190.0,
        _ => 970.0,
    });
    assert_eq!(verdict(&analysis), Verdict::EffectChanged);
    let found = of(&analysis, "b", Metric::Throughput);
    let change = found.change.unwrap();
    assert!(change.in_depth_check && change.blocks == [6, 3]);
    assert_eq!((found.tax, found.lo, found.cap), (None, None, None));
    assert_eq!(analysis.rules[0].outcome, RuleOutcome::Undecided);
    insta::assert_snapshot!(said(&analysis, Check::RegimeShift));
    insta::assert_snapshot!(asked(&analysis)[0], @"Throughput of b: effect changed; the depth check that followed shows a different effect at the same depth. Use --drain to measure the sustained effect.");
}

/// Both sit on a plateau, each on its own: no cap that they share.
#[test]
fn arms_on_plateaus_of_their_own_are_not_masked() {
    let analysis = checked(|arm, block, _| [970.0, 190.0][arm] * (1.0 + 0.001 * f64::from(block)));
    assert_eq!(verdict(&analysis), Verdict::EffectChanged);
    assert_eq!(of(&analysis, "b", Metric::Throughput).cap, None);
}

#[test]
fn a_difference_at_the_same_level_is_one() {
    let analysis =
        checked(|arm, block, _| [970.0, 850.0][arm] * (1.0 + 0.003 * f64::from(block * 7 % 3)));
    assert_eq!(verdict(&analysis), Verdict::EffectChanged);
}

#[test]
fn a_level_that_fell_for_both_is_said_and_the_verdict_stands() {
    let analysis =
        checked(|_, block, phase| 190.0 * (1.0 + 0.002 * f64::from(block)) * f64::from(1 + phase));
    assert_eq!(verdict(&analysis), Verdict::Equivalent);
    assert_eq!(analysis.rules[0].outcome, RuleOutcome::Pass);
    insta::assert_snapshot!(said(&analysis, Check::RegimeShift));
}

#[test]
fn a_check_that_agrees_or_is_noisy_changes_nothing() {
    let agrees = checked(|_, block, phase| {
        970.0 * (1.0 + 0.01 * f64::from(block)) * f64::from(1 + phase) / 2.0
    });
    assert_eq!(verdict(&agrees), Verdict::Equivalent);
    assert_eq!(said(&agrees, Check::RegimeShift), "");
    let noisy = checked(|arm, block, phase| {
        let noise = [[0.8, 1.1, 0.9], [1.1, 0.8, 1.0]][arm][block as usize];
        970.0 * noise * f64::from(1 + phase) / 2.0
    });
    assert_eq!(verdict(&noisy), Verdict::Equivalent);
}

#[test]
fn on_a_cap_that_both_share_a_rule_is_undecided() {
    let analysis = checked(|_, block, _| 970.0 * (1.0 + 0.001 * f64::from(block)));
    assert_eq!(verdict(&analysis), Verdict::Masked);
    let judged = &analysis.rules[0];
    assert_eq!(judged.outcome, RuleOutcome::Undecided);
    assert_eq!(judged.open, Some(RuleOpen::Gate(Verdict::Masked)));
    assert_eq!(rule::why(judged).as_deref(), Some("a cap hides the difference"));
}
