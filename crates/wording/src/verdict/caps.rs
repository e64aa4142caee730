//! Sentences about caps that arms share: what they hide, and how to measure below them.

use iotax_analyze::{Analysis, ArmDepths, Cap, DepthResponse, Verdict};
use iotax_record::ExperimentHead;

use super::comparison;
use crate::name::{self, printable};
use crate::{bandwidth, format, units};

/// What follows the verdict.
pub(super) fn sentences(experiment: &ExperimentHead, analysis: &Analysis) -> Vec<String> {
    let with = |verdict| {
        comparison::primary_of_each(analysis).into_iter().any(move |c| c.verdict == verdict)
    };
    let mut sentences: Vec<String> =
        analysis.below_cap.iter().filter_map(|(_, load)| below(load)).collect();
    if with(Verdict::Masked) && analysis.below_cap.is_empty() {
        sentences.push(format!(
            "To measure the difference that the cap hides, run: {}",
            with_below_cap(experiment)
        ));
    }
    if with(Verdict::Equivalent) {
        sentences.extend(no_cap(analysis));
    }
    sentences
}

/// `400 IOPS, 100 MiB/s`
pub(super) fn cap(cap: &Cap) -> String {
    format!("{}, {}", format::iops(cap.iops.value), bandwidth::measured_rate(cap.bytes_per_s))
}

/// The result of one load below the cap: every difference, or that there is none.
fn below(below_cap: &Analysis) -> Option<String> {
    let comparisons = below_cap.comparisons.iter();
    let shown = comparisons.filter(|c| !c.subject.is_interaction());
    let (mut differences, mut others) = (Vec::new(), Vec::new());
    for comparison in shown {
        match comparison::size(comparison) {
            Some(size) if comparison.verdict.is_signed() => {
                differences.push(format!("{} {size}", comparison::subject(comparison)));
            }
            _ => others.push(comparison),
        }
    }
    let load = load(below_cap);
    if !differences.is_empty() {
        return Some(format!("{load}: {}.", differences.join("; ")));
    }
    let first = others.first()?;
    if first.verdict == Verdict::Masked {
        return Some(format!("{load}: this load also reaches the cap."));
    }
    Some(format!(
        "{load}: no difference was found ({} of {}: {}).",
        name::metric(first.metric),
        comparison::subject(first),
        name::verdict(first.verdict)
    ))
}

/// `randread-4k below the cap (280 IOPS)`
fn load(below_cap: &Analysis) -> String {
    let name = printable(&below_cap.workload);
    match below_cap.arms.first().filter(|arm| arm.trials > 0) {
        Some(arm) => format!("{name} ({})", units::rate(arm)),
        None => name,
    }
}

/// The command that runs loads below the cap, without the results directory, which exists now.
fn with_below_cap(experiment: &ExperimentHead) -> String {
    let quoter = shlex::Quoter::new().allow_nul(true);
    let mut line = "iotax".to_owned();
    let mut typed = experiment.command.iter().skip(1);
    while let Some(word) = typed.next() {
        if word == "--out" || word == "-o" {
            typed.next();
        } else if !word.starts_with("--out=") && word != "--below-cap" {
            let shown = quoter.quote(word).expect("NUL is allowed");
            line.push_str(&format!(" {}", printable(&shown)));
        }
    }
    format!("{line} --below-cap")
}

/// For equal arms below every cap: no cap makes them equal.
fn no_cap(analysis: &Analysis) -> Option<String> {
    let is_equal = |arm: &str| {
        let mut equal = comparison::primary_of_each(analysis).into_iter();
        equal.any(|c| c.verdict == Verdict::Equivalent && c.subject.arm().is_none_or(|a| a == arm))
    };
    let scales = |arm: &&ArmDepths| {
        arm.response == DepthResponse::Scales
            && (arm.arm == analysis.baseline || is_equal(&arm.arm))
    };
    let arm = analysis.depths.iter().find(scales)?;
    let (lowest, highest) = (arm.levels.first()?, arm.levels.last()?);
    Some(format!(
        "No cap explains the equal results: as the queue depth grows from {} to {}, the throughput \
         of {} grows from {} to {}.",
        lowest.in_flight,
        highest.in_flight,
        printable(&arm.arm),
        format::iops(lowest.iops),
        format::iops(highest.iops)
    ))
}

/// What the throughput of an arm at other queue depths shows.
pub const fn response(response: DepthResponse) -> &'static str {
    match response {
        DepthResponse::Plateau => "a plateau",
        DepthResponse::LocalBottleneck => "a busy CPU",
        DepthResponse::Scales => "below every cap",
        DepthResponse::NotReached => "I/Os served one at a time",
        DepthResponse::Unclear => "unclear",
    }
}
