//! Whether storage is fit for the application of a workload, by a published threshold.

use iotax_analyze::{Analysis, Judgment};
use iotax_experiment::rule::RuleOutcome;
use iotax_experiment::{Job, Workload};
use iotax_record::ExperimentHead;

use crate::name::printable;
use crate::rule;

/// One per arm; none without a published threshold.
pub(super) fn sentences<'a>(
    experiment: &'a ExperimentHead,
    analysis: &'a Analysis,
) -> impl Iterator<Item = String> + 'a {
    let workload = experiment.spec.workload();
    analysis.requirements.iter().map(|judgment| sentence(judgment, workload))
}

/// `Fit for etcd-wal: target has a sync p99 of 1.2 ms [1.1, 1.3] over 5 trials; unfit if
/// sync.p99 > 10ms: https://...`
fn sentence(judgment: &Judgment, workload: &Workload) -> String {
    let fit = match judgment.outcome {
        RuleOutcome::Pass => "Fit for",
        RuleOutcome::Fail => "Unfit for",
        RuleOutcome::Undecided => "Fitness undecided for",
    };
    let source = workload.requires.as_ref().map_or("", |requires| requires.source.as_str());
    let (name, limit, result) = (&workload.name, &judgment.rule, rule::result(judgment));
    let changed = if is_changed(workload) { " (modified)" } else { "" };
    printable(&format!("{fit} {name}{changed}: {result}; unfit if {limit}: {source}"))
}

/// Whether it differs from the preset of its name in more than the size of files.
fn is_changed(workload: &Workload) -> bool {
    let Ok(known) = Workload::preset(&workload.name) else { return false };
    let is_same =
        |(one, other): (&Job, &Job)| Job { size_bytes: one.size_bytes, ..other.clone() } == *one;
    known.jobs.len() != workload.jobs.len() || !known.jobs.iter().zip(&workload.jobs).all(is_same)
}

#[cfg(test)]
mod tests {
    use iotax_analyze::Estimate;
    use iotax_experiment::Subject;

    use super::*;

    fn told(outcome: RuleOutcome, found: Option<(f64, f64, f64)>, needed: Option<u32>) -> String {
        let etcd = Workload::preset("etcd-wal").unwrap();
        let judgment = Judgment {
            rule: etcd.requires.clone().unwrap().rule,
            of: Some(Subject::Arm("target".to_owned())),
            outcome,
            metric: None,
            found: found.map(|(value, lo, hi)| Estimate { value, lo, hi }),
            trials: 5,
            needed,
            detectable: None,
            missing: None,
            open: None,
        };
        sentence(&judgment, &etcd)
    }

    #[test]
    fn a_workload_is_told_with_what_was_found_and_who_says_what_is_needed() {
        insta::assert_snapshot!(told(RuleOutcome::Pass, Some((1.2e6, 1.1e6, 1.3e6)), None), @"Fit for etcd-wal: target has a sync p99 of 1.2 ms [1.1, 1.3] over 5 trials; unfit if sync.p99 > 10ms: https://etcd.io/docs/v3.5/faq/ (p99 of wal_fsync_duration_seconds below 10 ms)");
        assert!(!is_changed(&Workload::preset("etcd-wal").unwrap()));
        let mut other = Workload::preset("etcd-wal").unwrap();
        other.set("wal.size=64M").unwrap();
        assert!(!is_changed(&other), "of any size");
        other.set("wal.block-size=1M").unwrap();
        assert!(is_changed(&other));
        insta::assert_snapshot!(told(RuleOutcome::Fail, Some((12.3e6, 11.0e6, 13.1e6)), None), @"Unfit for etcd-wal: target has a sync p99 of 12 ms [11, 13] over 5 trials; unfit if sync.p99 > 10ms: https://etcd.io/docs/v3.5/faq/ (p99 of wal_fsync_duration_seconds below 10 ms)");
        insta::assert_snapshot!(told(RuleOutcome::Undecided, Some((9.9e6, 8.0e6, 12e6)), Some(40)), @"Fitness undecided for etcd-wal: target has a sync p99 of 10 ms [8, 12] over 5 trials; about 40 trials would be enough for a verdict; unfit if sync.p99 > 10ms: https://etcd.io/docs/v3.5/faq/ (p99 of wal_fsync_duration_seconds below 10 ms)");
    }
}
