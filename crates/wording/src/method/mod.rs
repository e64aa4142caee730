//! How the figures came about, and what the words mean.

use iotax_analyze::{Analysis, Verdict};
use iotax_quantity::percent;
use iotax_record::ExperimentHead;

use crate::units;

/// Of a search for caps.
pub const OF_SEARCH: &str = include_str!("of-search.txt");

/// Of trials that were run, or of results of other tools that were read.
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
                "The whole interval lies within the margin of {}: too small a difference to \
                 matter, even if its sign is known.",
                percent(analysis.margin)
            );
        }
        Verdict::Undecided if experiment.spec.is_of_results() => {
            "The interval holds both a cost and none, or there is no interval."
        }
        Verdict::Undecided => "The interval holds both a cost and none. More blocks narrow it.",
        Verdict::Masked => "Both sit on the same cap, so equal figures prove nothing.",
        Verdict::EffectChanged => {
            "The cost was another one after some block than before, so one interval for all \
             blocks would mean nothing."
        }
        Verdict::NoInformation => {
            "Neither completed anything in any block, so nothing tells which is slower."
        }
        Verdict::NotIndependent => {
            "Consecutive blocks depend on each other, so the interval is too narrow to trust."
        }
        Verdict::InsufficientTailSamples => {
            let unit = units::unit_of_load(analysis);
            return format!("Too few {unit}s lie beyond the percentile to compare it.");
        }
        Verdict::Overloaded => {
            "The offered rate was not reached, so response times measure the backlog."
        }
    };
    text.to_owned()
}

/// Other words of a report, and what they mean.
pub const WORDS: [(&str, &str); 3] = [
    (
        "tax",
        "What a layer or an arm costs. Of throughput: 1 − with / without. Of a time: with / \
         without − 1.",
    ),
    (
        "2x slower, 2x faster",
        "A factor: a tax from twice as slow, or as fast, on. Half of the throughput is 2x slower, and \
         so is twice the time. JSON has all taxes as fractions.",
    ),
    (
        "burst, sustained",
        "Blocks before or after throughput dropped for good, as when burst credits run out.",
    ),
];
