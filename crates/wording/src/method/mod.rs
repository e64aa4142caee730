//! How the figures were computed, and what the terms mean.

use iotax_analyze::{Analysis, Verdict};
use iotax_quantity::percent;
use iotax_record::ExperimentHead;

use crate::units;

/// The method of a search for caps.
pub const OF_SEARCH: &str = include_str!("of-search.txt");

/// The method of a comparison of trials or saved results.
pub fn method(experiment: &ExperimentHead, analysis: &Analysis) -> String {
    let text = if experiment.spec.is_of_results() {
        include_str!("of-results.txt")
    } else {
        include_str!("of-blocks.txt")
    };
    text.trim_end().replace("UNIT", units::unit_of_load(analysis))
}

/// What a verdict means.
pub fn meaning(verdict: Verdict, experiment: &ExperimentHead, analysis: &Analysis) -> String {
    let text = match verdict {
        Verdict::Slower => "The whole interval is on the side of a cost.",
        Verdict::Faster => "The whole interval is on the side of a gain.",
        Verdict::Equivalent => {
            return format!(
                "The whole interval is within the margin of {}: the difference is too small to \
                 matter, even if its sign is known.",
                percent(analysis.margin)
            );
        }
        Verdict::Undecided if experiment.spec.is_of_results() => {
            "The interval includes both a cost and no cost, or there is no interval."
        }
        Verdict::Undecided => {
            "The interval includes both a cost and no cost. More blocks narrow it."
        }
        Verdict::Masked => "Both are at the same cap, so equal figures prove nothing.",
        Verdict::EffectChanged => {
            "The cost changed after some block, so one interval for all blocks would mean nothing."
        }
        Verdict::NoInformation => {
            "Neither completed anything in any block, so nothing shows which is slower."
        }
        Verdict::NotIndependent => {
            "Consecutive blocks depend on each other, so the interval is too narrow to trust."
        }
        Verdict::InsufficientTailSamples => {
            let unit = units::unit_of_load(analysis);
            return format!("Too few {unit}s are beyond the percentile to compare it.");
        }
        Verdict::Overloaded => {
            "The offered rate was not reached, so response times measure the backlog."
        }
    };
    text.to_owned()
}

/// Other terms of a report, and their meanings.
pub const WORDS: [(&str, &str); 3] = [
    (
        "tax",
        "The cost of a layer or an arm. For throughput: 1 − with / without. For a time: with / \
         without − 1.",
    ),
    (
        "2x slower, 2x faster",
        "Taxes of a factor of two or more are shown as a factor. Half the throughput is 2x slower, \
         and so is twice the time. JSON has all taxes as fractions.",
    ),
    (
        "burst, sustained",
        "Blocks before or after throughput dropped for good, for example because burst credits ran \
         out.",
    ),
];
