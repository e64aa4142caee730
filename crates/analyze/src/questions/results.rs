//! What results of other tools leave open.

use std::collections::BTreeSet;

use iotax_experiment::Subject;
use iotax_quantity::{capital, count, list};
use iotax_stats::tail::samples_needed;
use iotax_stats::unpaired::MIN_RESULTS;
use iotax_stats::verdict::Verdict;

use crate::analysis::all_named;
use crate::conclude::Conclusion;
use crate::evidence::Evidence;
use crate::facts::TrialFacts;
use crate::metrics::Metric;
use crate::results::is_held_to_a_rate;

/// Why the trials that gave something decide nothing.
pub(super) const LOST: &str = "undecided; some trials gave nothing, and counted as trials that did \
                               nothing they would turn the verdict around, or they are too many. \
                               Find out why they failed, and measure again.";

pub(super) fn open(evidence: &Evidence<'_>) -> Vec<String> {
    let mut questions: Vec<String> =
        evidence.conclusions.iter().filter_map(|c| without_answer(evidence, c)).collect();
    questions.extend(masked(evidence));
    questions.extend(tail(evidence));
    questions.extend(without_latencies(evidence));
    let origin = evidence.experiment.spec.workload().origin.as_deref().unwrap_or_default();
    let are_ours = origin.starts_with("results of iotax ") && !origin.contains(" and ");
    questions.push(if are_ours {
        "Not checked again: what iotax has checked while it measured. The report of each result has \
         its warnings."
            .to_owned()
    } else if evidence.experiment.spec.workload().is_network() {
        "Not checked, because such results do not tell: whether CPUs were busy with others or stolen, \
         whether the path was the same, and whether a burst ended on the way."
            .to_owned()
    } else {
        "Not checked, because such results do not tell: whether a cache answered, what the load \
         generator cost, whether CPUs were busy or stolen, whether the storage was the same, and \
         whether a burst ended on the way."
            .to_owned()
    });
    questions
}

fn without_answer(evidence: &Evidence<'_>, conclusion: &Conclusion) -> Option<String> {
    let comparison = &conclusion.comparison;
    let subject = conclusion.subject();
    let metric = capital(comparison.metric.name());
    if comparison.verdict == Verdict::InsufficientTailSamples {
        let needed = samples_needed(0.99);
        return Some(format!(
            "{metric} of {subject}: insufficient tail samples; a p99 needs {needed} {} per run.",
            comparison.metric.samples_name(evidence.experiment.spec.workload())
        ));
    }
    if comparison.verdict.is_decided() {
        return None;
    }
    if comparison.missing.is_some_and(|missing| missing.decides) {
        return Some(format!("{metric} of {subject}: {LOST}"));
    }
    let named = |name: &str| evidence.names.iter().position(|own| own == name);
    let arm = comparison.subject.arm().and_then(named).unwrap_or(0);
    let results = |arm: usize| {
        let blocks = evidence.usable(arm).map(|trial| trial.block);
        blocks.collect::<BTreeSet<_>>().len() as u64
    };
    let own = comparison.against.as_ref().and_then(|of| named(of.arm()?)).unwrap_or(0);
    let (base, with) = (results(own), results(arm));
    let Some((lo, hi)) = comparison.lo.zip(comparison.hi) else {
        return Some(format!(
            "{metric} of {subject}: {} of {} and {} of {subject} give no interval; it takes \
             {MIN_RESULTS} of each at least, and 5 for a narrow one.",
            count(base, "result"),
            evidence.names[own],
            with
        ));
    };
    let range = comparison.metric.range([lo, hi]);
    let why = conclusion.withheld.map_or_else(String::new, |why| format!(" ({why})"));
    Some(format!(
        "{metric} of {subject}: undecided{why}; from {base} and {with} results all that is \
         known of the effect is {range}. More results of each narrow it.",
    ))
}

fn masked(evidence: &Evidence<'_>) -> Option<String> {
    let equal: Vec<&Subject> = evidence
        .conclusions
        .iter()
        .filter(|c| c.comparison.metric == Metric::Throughput)
        .filter(|c| c.comparison.verdict == Verdict::Equivalent)
        .map(|c| &c.comparison.subject)
        .collect();
    (!equal.is_empty()).then(|| {
        format!(
            "Whether a cap (on IOPS or bandwidth, or the rate of the job) hides a difference of {} \
             cannot be told from equal throughput.",
            all_named(&equal)
        )
    })
}

fn tail(evidence: &Evidence<'_>) -> Option<String> {
    let workload = evidence.experiment.spec.workload();
    let compares = !evidence.conclusions.is_empty() && !workload.moves_bytes();
    let text = if is_held_to_a_rate(workload) {
        "Latencies of fio and DiskSpd begin when an I/O is submitted, not when the rate asked for \
         it: what waited for a free place in the queue looks faster than it was."
    } else {
        "Tails are described, not compared: a slower arm got less load. For a verdict on p99 run \
         all arms at one rate, 0.7 times the throughput of the slowest."
    };
    compares.then(|| text.to_owned())
}

/// Runs whose latencies are not known, or only their mean.
fn without_latencies(evidence: &Evidence<'_>) -> Option<String> {
    if evidence.experiment.spec.workload().moves_bytes() {
        return None;
    }
    let lacks = |trial: &TrialFacts| trial.primary().is_some_and(|job| job.p99_latency_ns == 0);
    let arms: Vec<&str> = (0..evidence.names.len())
        .filter(|arm| evidence.usable(*arm).any(lacks))
        .map(|arm| evidence.names[arm].as_str())
        .collect();
    (!arms.is_empty()).then(|| {
        format!(
            "Percentiles of latency are not in all results of {}, at least not for reads and \
             writes together; fio gives them with --output-format=json+, DiskSpd with -L.",
            list(&arms)
        )
    })
}
