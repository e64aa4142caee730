//! Analyses with something that is to be told: rules, stalls, caps, warnings, names that mean harm.

use iotax_analyze::{
    Analysis, ArmDepths, Cap, Comparison, DepthLevel, DepthResponse, Doubt, DoubtKind,
    EffectChange, Estimate, JobSummary, Judgment, Metric, Missing, NoAnswer, Noise, OpenQuestion,
    Regime, RuleOpen, Stalls, TrialOutcome, Verdict,
};
use iotax_experiment::rule::{Condition, RuleOutcome};
use iotax_experiment::{Rule, Subject};

use super::analyses::{compare, comparison, estimate, of_arm, said};
use super::{HOSTILE, beforehand};

/// Arms that complete nothing in some trials, and one whose effect changed.
pub(crate) fn stalled() -> Analysis {
    let mut analysis = compare();
    let none = |name: &str, verdict, blocks, stalls| Comparison {
        tax: None,
        lo: None,
        hi: None,
        stalls: Some(stalls),
        blocks,
        ..of_arm(name, comparison(Metric::Throughput, [0.0; 3], verdict))
    };
    let counts = |arm, base, blocks| Stalls {
        arm,
        base,
        blocks,
        factor: None,
        each: None,
        only_more_often: false,
        more_blocks: None,
    };
    let total = Stalls { factor: Some(4_190.6), ..counts(7, 0, 7) };
    let early = Stalls { each: Some(17.2), more_blocks: Some(4), ..counts(3, 0, 3) };
    let change = EffectChange {
        in_depth_check: false,
        after_block: 9,
        blocks: [9, 7],
        before: estimate(0.4, 0.02),
        since: estimate(0.05, 0.02),
    };
    let changed = Comparison {
        tax: None,
        lo: None,
        hi: None,
        change: Some(change),
        ..of_arm("same", comparison(Metric::Throughput, [0.0; 3], Verdict::EffectChanged))
    };
    analysis.comparisons = vec![
        none("luks", Verdict::Slower, 7, total),
        none("queue", Verdict::Undecided, 3, early),
        none("cap", Verdict::NoInformation, 3, counts(3, 3, 3)),
        changed,
    ];
    (analysis.arms[1].trials, analysis.arms[1].stalled_trials, analysis.arms[1].iops) = (7, 7, 0.0);
    analysis.open_questions.clear();
    analysis
}

/// Arms of which trials failed, and one with which the depth check disagrees.
pub(crate) fn withheld() -> Analysis {
    let mut analysis = compare();
    let of = |name: &str, tax: [f64; 3], verdict| Comparison {
        holds_after_holm: false,
        ..of_arm(name, comparison(Metric::Throughput, tax, verdict))
    };
    let missing = |arm, base| Missing { arm, of_arm: 9, base, of_base: 9, decides: true };
    let change = EffectChange {
        in_depth_check: true,
        after_block: 6,
        blocks: [6, 3],
        before: estimate(0.01, 0.02),
        since: estimate(0.8, 0.02),
    };
    analysis.comparisons = vec![
        Comparison {
            missing: Some(missing(6, 0)),
            ..of("luks", [-0.2, -0.22, -0.18], Verdict::Undecided)
        },
        Comparison {
            missing: Some(missing(1, 2)),
            ..of("queue", [0.1, 0.08, 0.12], Verdict::Undecided)
        },
        Comparison {
            missing: Some(missing(9, 0)),
            tax: None,
            lo: None,
            hi: None,
            ..of("same", [0.0; 3], Verdict::Undecided)
        },
        Comparison {
            tax: None,
            lo: None,
            hi: None,
            change: Some(change),
            ..of("cap", [0.0; 3], Verdict::EffectChanged)
        },
    ];
    analysis.open_questions.clear();
    analysis
}

/// Two arms under one cap, drained, checked at three depths, and what the cap hides.
pub(crate) fn masked() -> Analysis {
    let mut analysis = compare();
    analysis.comparisons.truncate(1);
    let cap = Cap {
        iops: Estimate { value: 4_000.0, lo: 3_990.0, hi: 4_010.0 },
        bytes_per_s: 16_384_000.0,
    };
    let masked = Comparison {
        subject: Subject::Arm("luks".to_owned()),
        cap: Some(cap),
        regime: Some(Regime::Sustained),
        ..comparison(Metric::Throughput, [0.001, -0.002, 0.004], Verdict::Masked)
    };
    analysis.comparisons = vec![masked];
    let below = Analysis {
        workload: format!("{} below the cap", analysis.workload),
        comparisons: vec![of_arm(
            "luks",
            comparison(Metric::Latency, [0.31, 0.28, 0.34], Verdict::Slower),
        )],
        ..analysis.clone()
    };
    analysis.below_cap = vec![(super::compare(), below)];
    let level = |in_flight: u32, is_own| DepthLevel {
        in_flight,
        iops: 4_000.0,
        bytes_per_s: 16_384_000.0,
        mean_latency_ns: f64::from(in_flight) * 250_000.0,
        is_own,
    };
    let arm = |name: &str| ArmDepths {
        arm: name.to_owned(),
        response: DepthResponse::Plateau,
        busy: Some(0.2),
        levels: vec![level(4, false), level(8, true), level(16, false)],
    };
    analysis.depths = vec![arm("base"), arm("luks")];
    analysis.drained = beforehand::drained();
    analysis.preconditioned = beforehand::preconditioned();
    analysis
}

/// Failed trials, I/O errors, an unexpected gain, an interrupt, and no comparison for one arm.
pub(crate) fn warned() -> Analysis {
    let mut analysis = compare();
    for trial in analysis.trials.iter_mut().filter(|t| t.arm == "cap") {
        trial.outcome = TrialOutcome::Failed;
        trial.why =
            Some("/dev/vdb: read at offset 40960: Input/output error (os error 5)".to_owned());
        trial.used = false;
        (trial.iops, trial.bytes_per_s, trial.p99_ns) = (None, None, None);
        trial.per_second_ios.clear();
    }
    let cap = analysis.arms.iter_mut().find(|a| a.name == "cap").unwrap();
    (cap.trials, cap.failed_trials) = (0, 12);
    (cap.latency, cap.latency_ios) = (Vec::new(), 0);
    for comparison in analysis.comparisons.iter_mut().filter(|c| c.subject.arm() == Some("cap")) {
        (comparison.tax, comparison.lo, comparison.hi) = (None, None, None);
        (comparison.verdict, comparison.blocks, comparison.regime) = (Verdict::Undecided, 0, None);
    }
    let arm = |name: &str| Subject::Arm(name.to_owned());
    let first = Some("/dev/vdb: Input/output error (os error 5)".to_owned());
    let failed = Doubt::about(arm("cap"), DoubtKind::Failed { first }, 12);
    let kind = DoubtKind::WrongSign { metric: Metric::Throughput, tax: Some(-0.011) };
    let of = vec![arm("queue"), arm("same")];
    let noise = DoubtKind::Noise(Noise {
        of,
        spread: [0.02, 0.09],
        outlook: None,
        best_time_s: Some(20.0),
        source: None,
    });
    analysis.warnings = vec![
        Doubt { of_trials: Some(12), ..failed },
        Doubt::about(arm("same"), kind, 12),
        Doubt::of_all(noise, 12),
    ];
    analysis.open_questions.push(OpenQuestion::NoAnswer {
        metric: Metric::P99,
        of: vec![arm("cap")],
        why: NoAnswer::BeforeFirstLook { complete: 0 },
    });
    analysis.ending.interrupted = true;
    analysis.ending.reasons = said("it was interrupted");
    analysis
}

/// Every string from outside is hostile; goes with [`super::hostile`].
pub(crate) fn hostile() -> Analysis {
    let mut analysis = warned();
    let bad = |name: &str| {
        let i = ["base", "luks", "queue", "cap", "same"].iter().position(|n| *n == name).unwrap();
        format!("{i}{HOSTILE}")
    };
    analysis.workload = HOSTILE.to_owned();
    analysis.baseline = bad("base");
    for arm in &mut analysis.arms {
        arm.name = bad(&arm.name);
        arm.target = HOSTILE.to_owned();
        arm.other_jobs = vec![JobSummary {
            name: HOSTILE.to_owned(),
            target: None,
            iops: 1.0,
            bytes_per_s: 1.0,
            mean_latency_ns: 1.0,
            p99_latency_ns: 1,
            p999_latency_ns: 2,
            sync: None,
        }];
    }
    for comparison in &mut analysis.comparisons {
        let Subject::Arm(name) = &comparison.subject else { panic!("arms are compared") };
        comparison.subject = Subject::Arm(bad(name));
    }
    for trial in &mut analysis.trials {
        trial.arm = bad(&trial.arm);
        trial.why = Some(HOSTILE.to_owned());
    }
    let text = || HOSTILE.to_owned();
    let kinds = [
        DoubtKind::Failed { first: Some(text()) },
        DoubtKind::InMemory { file_system: text() },
        DoubtKind::LayerCache { cache: text() },
        DoubtKind::RateNotReached { job: text(), achieved: 0.5 },
        DoubtKind::UnlikeResults { said: text() },
    ];
    let doubts = kinds.into_iter().map(|kind| Doubt::about(Subject::Arm(text()), kind, 12));
    analysis.warnings = doubts.collect();
    analysis.open_questions = vec![OpenQuestion::DependsOnOthers { layers: vec![text()] }];
    analysis.ending.reasons = said(HOSTILE);
    analysis
}

/// A comparison with rules of every outcome.
pub(crate) fn ruled() -> Analysis {
    let judged = |rule: &str, of: &str, outcome, found: Option<[f64; 3]>| {
        let rule = Rule::parse(rule).expect("a rule");
        let is_difference = matches!(rule.condition, Condition::SlowerBy(_));
        Judgment {
            rule,
            of: Some(Subject::Arm(of.to_owned())),
            outcome,
            metric: is_difference.then_some(Metric::Throughput),
            found: found.map(|[value, lo, hi]| Estimate { value, lo, hi }),
            trials: 12,
            needed: None,
            detectable: None,
            missing: None,
            open: None,
        }
    };
    let mut analysis = compare();
    analysis.rules = vec![
        judged("slower by 5%", "luks", RuleOutcome::Fail, Some([0.34, 0.31, 0.37])),
        Judgment {
            needed: Some(90),
            detectable: Some(0.083),
            ..judged("slower by 5%", "a|b", RuleOutcome::Undecided, Some([0.04, 0.02, 0.06]))
        },
        judged("p99 > 10ms", "luks", RuleOutcome::Pass, Some([4.1e6, 3.9e6, 4.4e6])),
        Judgment {
            open: Some(RuleOpen::NoFigure),
            ..judged("sync.p99 > 10ms", "luks", RuleOutcome::Undecided, None)
        },
    ];
    let of_base = judged("sync.p99 > 10ms", "base", RuleOutcome::Pass, Some([1.2e6, 1.1e6, 1.3e6]));
    analysis.requirements = vec![of_base];
    analysis
}
