//! How the figures came about, in the words of what was done: trials that were run, or results of
//! other tools that were read.

use iotax_analyze::Analysis;
use iotax_record::Experiment;

use crate::{format, words};

/// `10 blocks, 20 trials in 2 min 30 s`, `4 results of fio 3.33`.
pub(crate) fn counts(experiment: &Experiment, analysis: &Analysis) -> String {
    let ending = &analysis.ending;
    if !experiment.spec.is_of_results() {
        return format!(
            "{}, {} in {}",
            format::counted(ending.blocks, "block"),
            format::counted(ending.trials, "trial"),
            format::span(ending.wall_ns),
        );
    }
    let workload = &experiment.spec.workload;
    let origin = workload.origin.as_deref().and_then(|text| text.strip_prefix("results of "));
    let of = origin.map_or_else(String::new, |tools| format!(" of {}", words::printable(tools)));
    format!("{}{of}", format::counted(ending.trials, "result"))
}

/// Why it stopped; for results that nothing was run.
pub(crate) fn ending(experiment: &Experiment, analysis: &Analysis) -> String {
    if experiment.spec.is_of_results() {
        return "Nothing was run here: the figures are those of the files.".to_owned();
    }
    format!("Stopped: {}.", words::printable(&analysis.ending.reason))
}

/// What the intervals of a table of comparisons mean, and how far a difference counts as none.
pub(crate) fn intervals(experiment: &Experiment, analysis: &Analysis) -> String {
    let confidence = format::percent(1.0 - analysis.alpha);
    let margin = format::percent(analysis.margin);
    if !experiment.spec.is_of_results() {
        return format!(
            "Each interval alone holds with {confidence}, whenever the run stopped; n: blocks; \
             margin {margin}."
        );
    }
    let n = "n: results of the arm that has fewer";
    if analysis.comparisons.iter().any(|c| c.lo.is_some()) {
        format!(
            "Each interval alone holds with {confidence} if the results are independent of each \
             other; {n}; margin {margin}."
        )
    } else {
        format!("Without an interval; {n}.")
    }
}

/// What the latencies of a table are.
pub(crate) fn latencies(experiment: &Experiment) -> &'static str {
    if experiment.spec.is_of_results() {
        "Latency, all results of an arm together (descriptive)"
    } else {
        "Latency, pooled over trials (descriptive)"
    }
}
