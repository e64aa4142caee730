//! How the figures came about, and what the words mean: for pages.

use iotax_analyze::{Analysis, Verdict};
use iotax_record::ExperimentHead;
use iotax_wording::{format, units};

use crate::document::{Item, Place, Section};

/// `MARGIN` stands for that of the experiment, `UNIT` for what load does one after the other.
const VERDICTS: [(Verdict, &str); 10] = [
    (Verdict::Slower, "The whole interval is on the side of a cost."),
    (Verdict::Faster, "The whole interval is on the side of a gain."),
    (
        Verdict::Equivalent,
        "The whole interval lies within the margin of MARGIN: too small a difference to matter, \
         even if its sign is known.",
    ),
    (Verdict::Undecided, "The interval holds both a cost and none. More blocks narrow it."),
    (Verdict::Masked, "Both sit on the same cap, so equal figures prove nothing."),
    (
        Verdict::EffectChanged,
        "The cost was another one after some block than before, so one interval for all blocks \
         would mean nothing.",
    ),
    (
        Verdict::NoInformation,
        "Neither completed anything in any block, so nothing tells which is slower.",
    ),
    (
        Verdict::NotIndependent,
        "Consecutive blocks depend on each other, so the interval is too narrow to trust.",
    ),
    (Verdict::InsufficientTailSamples, "Too few UNITs lie beyond the percentile to compare it."),
    (
        Verdict::Overloaded,
        "The offered rate was not reached, so response times measure the backlog.",
    ),
];

const UNDECIDED_RESULTS: &str = "The interval holds both a cost and none, or there is no interval.";

const OTHERS: [(&str, &str); 3] = [
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

/// The method, and the words.
pub(super) fn sections(experiment: &ExperimentHead, analysis: &Analysis) -> [Section; 2] {
    let is_of_results = experiment.spec.is_of_results();
    let method = if is_of_results {
        include_str!("method-of-results.txt")
    } else {
        include_str!("method-of-blocks.txt")
    };
    let unit = units::unit_of_load(analysis);
    let margin = format::percent(analysis.margin);
    let verdicts = VERDICTS.iter().map(|(verdict, meaning)| match verdict {
        Verdict::Undecided if is_of_results => (verdict.to_string(), UNDECIDED_RESULTS.to_owned()),
        _ => (verdict.to_string(), meaning.replace("MARGIN", &margin).replace("UNIT", unit)),
    });
    let others = OTHERS.map(|(word, meaning)| (word.to_owned(), meaning.to_owned()));
    let method = Section::new("Method", [Item::Paragraph(method.trim_end().replace("UNIT", unit))]);
    let words = Section::new("Words", [Item::facts(verdicts.chain(others))]);
    [method.at(Place::Page), words.at(Place::Page)]
}
