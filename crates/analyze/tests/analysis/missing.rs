//! Trials that gave nothing: those that are left decide nothing alone.

use iotax_analyze::{Analysis, Judgment, Metric, Verdict};
use iotax_experiment::rule::RuleOutcome;
use iotax_experiment::{Rule, Subject};
use iotax_record::{EndReason, Trial};

use iotax_wording::rule as rule_open;

use crate::support::{Bed, Found, failed, of};
use crate::warnings::asked;

/// Blocks of two arms, of whose trials those fail that `fails` picks by block and arm.
fn run(truth: [f64; 2], blocks: u32, fails: impl Fn(u32, &str) -> bool) -> Found {
    let mut bed = Bed::compare(&["base", "new"]);
    let rules = ["slower by 5%", "iops < 300"].map(|rule| Rule::parse(rule).unwrap());
    bed.edit(|spec| spec.fail_if = rules.to_vec());
    let trials = bed.blocks(blocks, &truth, 0.01).into_iter();
    let lost = |trial: Trial| if fails(trial.block, &trial.arm) { failed(trial) } else { trial };
    bed.analyze(&trials.map(lost).collect::<Vec<_>>())
}

fn verdict(analysis: &Analysis) -> Verdict {
    of(analysis, "new", Metric::Throughput).verdict
}

fn rule<'a>(analysis: &'a Analysis, of: &str, text: &str) -> &'a Judgment {
    let mut rules = analysis.rules.iter();
    let of = Some(Subject::Arm(of.to_owned()));
    rules.find(|judged| judged.of == of && judged.rule.to_string().starts_with(text)).unwrap()
}

#[test]
fn an_arm_that_fails_in_most_trials_is_neither_faster_nor_equivalent() {
    for truth in [[400.0, 480.0], [400.0, 400.0], [400.0, 320.0]] {
        let analysis = run(truth, 9, |block, arm| arm == "new" && block % 3 != 0);
        assert_eq!(verdict(&analysis), Verdict::Undecided, "{truth:?}");
        let missing = of(&analysis, "new", Metric::Throughput).missing.unwrap();
        assert_eq!((missing.arm, missing.of_arm, missing.base), (6, 9, 0));
        assert!(missing.decides);
        let slower = rule(&analysis, "new", "slower");
        assert_ne!(slower.outcome, RuleOutcome::Pass, "{truth:?}");
        assert_eq!(rule(&analysis, "new", "iops").outcome, RuleOutcome::Undecided);
        assert_eq!(rule(&analysis, "base", "iops").outcome, RuleOutcome::Pass);
    }
}

#[test]
fn a_baseline_that_fails_makes_nobody_slower() {
    let analysis = run([400.0, 380.0], 10, |block, arm| arm == "base" && block < 2);
    assert_eq!(verdict(&analysis), Verdict::Undecided);
    let far = run([400.0, 200.0], 10, |block, arm| arm == "base" && block < 2);
    assert_eq!(verdict(&far), Verdict::Slower, "with the baseline's lost trials at nothing, too");
}

#[test]
fn a_broken_rule_stays_broken_and_a_slower_arm_slower() {
    let analysis = run([400.0, 320.0], 10, |block, arm| arm == "new" && block < 2);
    assert_eq!(verdict(&analysis), Verdict::Slower);
    assert_eq!(rule(&analysis, "new", "slower").outcome, RuleOutcome::Fail);
    let most = run([400.0, 200.0], 18, |block, arm| arm == "new" && block % 3 != 0);
    assert_eq!(rule(&most, "new", "slower").outcome, RuleOutcome::Fail);
}

#[test]
fn one_accident_among_many_trials_leaves_the_verdict() {
    let analysis = run([400.0, 400.0], 40, |block, arm| arm == "new" && block == 7);
    assert_eq!(verdict(&analysis), Verdict::Equivalent);
    assert_eq!(rule(&analysis, "new", "slower").outcome, RuleOutcome::Pass);
    let missing = of(&analysis, "new", Metric::Throughput).missing.unwrap();
    assert!(!missing.decides && missing.arm == 1);
    // In eight it may hide more than the margin.
    let few = run([400.0, 400.0], 8, |block, arm| arm == "new" && block == 7);
    assert_eq!(verdict(&few), Verdict::Undecided);
    let judged = rule(&few, "new", "slower");
    assert_eq!(judged.outcome, RuleOutcome::Undecided);
    insta::assert_snapshot!(rule_open::why(judged).unwrap(), @"1 of 8 trials of new gave no result, and the remaining trials may be the fast ones");
    insta::assert_snapshot!(asked(&few)[0], @"Throughput of new: undecided; too many trials failed, or the verdict would change if failed trials counted as trials that completed nothing. Find out why they failed, and measure again.");
}

#[test]
fn what_the_user_interrupted_is_not_missing() {
    let mut bed = Bed::compare(&["base", "new"]);
    let mut trials = bed.blocks(6, &[400.0, 400.0], 0.001);
    trials.last_mut().unwrap().outcome = iotax_record::Outcome::Interrupted;
    let analysis = bed.analyze(&trials);
    assert_eq!(verdict(&analysis), Verdict::Equivalent);
    assert_eq!(of(&analysis, "new", Metric::Throughput).missing, None);
}

#[test]
fn a_run_with_rules_goes_on_while_lost_trials_may_become_few() {
    let mut bed = Bed::compare(&["base", "new"]);
    bed.edit(|spec| spec.fail_if = vec![Rule::parse("slower by 5%").unwrap()]);
    let trials = bed.blocks(40, &[400.0, 400.0], 0.002).into_iter();
    let lost = |trial: Trial| {
        if trial.arm == "new" && trial.block == 1 { failed(trial) } else { trial }
    };
    let trials: Vec<Trial> = trials.map(lost).collect();
    assert_eq!(bed.decide(&trials[..16]).stop, []);
    let stop = bed.decide(&trials[..78]).stop;
    assert_eq!(stop, [EndReason::RulesDecided]);
}
