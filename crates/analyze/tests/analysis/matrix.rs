//! A matrix: effects of factors over arms that are combinations of their levels.

use iotax_analyze::{FactorEffect, FactorEffects, Metric, Verdict};
use iotax_experiment::{Setting, Subject};
use iotax_record::{EndReason, Trial};

use crate::support::{Bed, failed, job};

const SEC: [&str; 3] = ["sys", "krb5", "krb5p"];
const NCONNECT: [&str; 2] = ["1", "4"];

/// `sec` times `nconnect`, the second one changing fastest.
fn bed() -> Bed {
    let names: Vec<String> =
        SEC.iter().flat_map(|sec| NCONNECT.iter().map(move |n| format!("{sec}/{n}"))).collect();
    let mut bed = Bed::compare(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let setting =
        |factor: &str, level: &str| Setting { factor: factor.into(), level: level.into() };
    bed.edit(|spec| {
        for arm in &mut spec.arms {
            let (sec, nconnect) = arm.name.split_once('/').expect("a cell");
            arm.levels = vec![setting("sec", sec), setting("nconnect", nconnect)];
        }
    });
    bed
}

/// By `sec`, times by `nconnect`.
fn rates(sec: [f64; 3], nconnect: [f64; 2]) -> Vec<f64> {
    sec.iter().flat_map(|a| nconnect.iter().map(move |b| 1000.0 * a * b)).collect()
}

fn matrix(bed: &Bed, trials: &[Trial]) -> FactorEffects {
    bed.analyze(trials).analysis.matrix.expect("a matrix")
}

fn throughput<'a>(found: &'a FactorEffects, level: &str) -> &'a FactorEffect {
    let mut effects = found.effects.iter();
    effects
        .find(|e| e.setting.level == level && e.comparison.metric == Metric::Throughput)
        .expect("a level")
}

#[test]
fn the_effect_of_each_level_is_found_whatever_the_other_factor_does() {
    let mut bed = bed();
    let trials = bed.blocks(10, &rates([1.0, 0.74, 0.5], [1.0, 1.2]), 0.03);
    let found = matrix(&bed, &trials);
    for (level, tax, verdict) in [
        ("krb5", 0.26, Verdict::Slower),
        ("krb5p", 0.5, Verdict::Slower),
        ("4", -0.2, Verdict::Faster),
    ] {
        let FactorEffect { comparison, .. } = throughput(&found, level);
        assert_eq!(comparison.verdict, verdict, "{level}");
        let (lo, hi) = (comparison.lo.unwrap(), comparison.hi.unwrap());
        assert!(lo < tax && tax < hi && hi - lo < 0.15, "{level}: {comparison:?}");
    }
    let effect = throughput(&found, "krb5p");
    assert_eq!((effect.against.as_str(), effect.pairs, effect.stalled_pairs), ("sys", 2, 0));
    assert_eq!(throughput(&found, "4").pairs, 3);
    assert!(found.interactions.is_empty(), "{:?}", found.interactions);
    // Each arm is compared with the first, too.
    assert_eq!(bed.analyze(&trials).comparisons[0].subject.arm(), Some("sys/4"));
}

#[test]
fn an_effect_that_goes_with_the_level_of_another_factor_is_told_with_both() {
    let mut bed = bed();
    let mut rates = rates([1.0, 0.74, 0.5], [1.0, 1.2]);
    rates[5] *= 0.5;
    let trials = bed.blocks(12, &rates, 0.03);
    let [found] = &matrix(&bed, &trials).interactions[..] else { panic!("one") };
    assert_eq!((found.setting.level.as_str(), found.with.level.as_str()), ("krb5p", "4"));
    assert!((found.at_first.value - 0.5).abs() < 0.05, "{found:?}");
    assert!((found.at.value - 0.75).abs() < 0.05, "{found:?}");
    assert!((found.difference.value - 0.5).abs() < 0.1, "{found:?}");
}

#[test]
fn a_trial_that_failed_costs_its_pair_in_its_block() {
    let mut bed = bed();
    let mut trials = bed.blocks(10, &rates([1.0, 0.74, 0.5], [1.0, 1.2]), 0.03);
    let lost = trials.iter().position(|trial| trial.block == 4 && trial.arm == "krb5/4").unwrap();
    trials[lost] = failed(trials[lost].clone());
    let found = matrix(&bed, &trials);
    assert_eq!(throughput(&found, "krb5").comparison.blocks, 10);
    assert_eq!(throughput(&found, "krb5").comparison.verdict, Verdict::Slower);
}

#[test]
fn arms_that_stall_leave_the_effect_to_the_other_pairs() {
    let mut bed = bed();
    let mut trials = bed.blocks(8, &rates([1.0, 0.74, 0.5], [1.0, 1.0]), 0.03);
    for trial in trials.iter_mut().filter(|trial| trial.arm == "krb5p/4" && trial.block > 4) {
        let job = job(trial);
        job.read = iotax_record::DirectionRecord::default();
        trial.outcome = iotax_record::Outcome::Degraded { reasons: vec!["no I/O".into()] };
    }
    let found = matrix(&bed, &trials);
    let effect = throughput(&found, "krb5p");
    assert_eq!((effect.pairs, effect.stalled_pairs), (1, 1));
    assert_eq!(effect.comparison.verdict, Verdict::Slower);
}

#[test]
fn it_goes_on_with_every_arm_until_every_effect_is_known() {
    let mut bed = bed();
    // The first factor is clear at once, the second is not.
    let trials = bed.blocks(4, &rates([1.0, 0.5, 0.4], [1.0, 0.93]), 0.06);
    let progress = bed.decide(&trials);
    assert_eq!((progress.stop, progress.open), (Vec::new(), vec![true; 6]));
    let setting = Setting { factor: "sec".to_owned(), level: "krb5".to_owned() };
    assert_eq!(progress.arms[0].of, Subject::Level(setting));
    let trials = self::bed().blocks(40, &rates([1.0, 0.5, 0.4], [1.0, 0.8]), 0.03);
    let first: Vec<Trial> = trials.into_iter().filter(|trial| trial.block < 10).collect();
    assert_eq!(bed.decide(&first).stop, [EndReason::Resolved { besides: None }]);
}

/// Of 100 experiments with nothing in them, at most 5 may say that there is something.
#[test]
fn factors_without_an_effect_hardly_ever_get_one() {
    let said = (0..100).filter(|seed| {
        let mut bed = bed().seed(*seed);
        let trials = bed.blocks(10, &[1000.0; 6], 0.15);
        let found = matrix(&bed, &trials);
        let is_signed = |effect: &FactorEffect| {
            effect.comparison.metric == Metric::Throughput
                && matches!(effect.comparison.verdict, Verdict::Slower | Verdict::Faster)
        };
        found.effects.iter().any(is_signed) || !found.interactions.is_empty()
    });
    let said = said.count();
    assert!(said <= 7, "{said} of 100");
}

#[test]
fn a_level_whose_arms_differ_in_more_has_no_effect_and_is_named() {
    let mut bed = bed();
    // krb5p is there with nconnect=4 alone, sys without.
    bed.edit(|spec| spec.arms.retain(|arm| !["sys/4", "krb5p/1"].contains(&arm.name.as_str())));
    let trials = bed.blocks(8, &[1000.0, 700.0, 690.0, 500.0], 0.03);
    let found = matrix(&bed, &trials);
    assert_eq!(found.unpaired.len(), 1);
    assert_eq!(found.unpaired[0].level, "krb5p");
    assert!(found.effects.iter().all(|effect| effect.setting.level != "krb5p"));
}
