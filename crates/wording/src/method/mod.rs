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
        Verdict::Slower => "Every value in the interval is a cost.",
        Verdict::Faster => "Every value in the interval is a gain.",
        Verdict::Equivalent => {
            return format!(
                "The whole interval is within the margin of {}: the difference is too small to \
                 matter, even if its direction is known.",
                percent(analysis.margin)
            );
        }
        Verdict::Undecided if experiment.spec.is_of_results() => {
            "The interval includes zero and extends beyond the margin, or there is no interval."
        }
        Verdict::Undecided => {
            "The interval includes zero and extends beyond the margin. More blocks would narrow \
             the interval."
        }
        Verdict::Masked => "Both sides reach the same cap, so equal figures prove nothing.",
        Verdict::EffectChanged => {
            "The cost changed during the run, so a single interval for all blocks would mean \
             nothing."
        }
        Verdict::NoInformation => {
            "Neither side completed anything in any block, so the data do not show which side is \
             slower."
        }
        Verdict::NotIndependent => {
            "Successive blocks are correlated, so the interval is too narrow to trust."
        }
        Verdict::InsufficientTailSamples => {
            let unit = units::unit_of_load(analysis);
            return format!("Too few {unit}s exceed this percentile to allow a comparison.");
        }
        Verdict::Overloaded => {
            "The offered rate was not reached, so response times reflect the backlog."
        }
    };
    text.to_owned()
}

/// Other terms of a report, and their meanings.
pub const WORDS: [(&str, &str); 3] = [
    (
        "tax",
        "The cost of a layer or an arm, computed from the values with and without it. For \
         throughput: 1 − (with / without). For durations: (with / without) − 1.",
    ),
    (
        "2x slower, 2x faster",
        "Taxes of a factor of two or more are shown as factors. Half the throughput and twice the \
         time both count as 2x slower. In JSON, all taxes are fractions.",
    ),
    (
        "burst, sustained",
        "The blocks before (burst) and after (sustained) a lasting drop in throughput, for example \
         because burst credits ran out.",
    ),
];
