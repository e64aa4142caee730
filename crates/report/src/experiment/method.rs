//! How the figures came about, and what the words mean: for pages.

use iotax_analyze::{Analysis, Verdict};
use iotax_record::Experiment;

use crate::document::{Item, Place, Section};
use crate::{format, words};

const OF_BLOCKS: &str = "\
    A block is one trial of the baseline and of every arm still open, in a fresh random order, so \
    that drift hits all alike (Abedi and Brecht, ICPE 2017). What is compared is the logarithm of \
    the ratio within each block. The intervals are repeated confidence intervals (Jennison and \
    Turnbull, Group Sequential Methods, chapter 9): they may be looked at after agreed numbers of \
    blocks and still hold. Where several arms are compared, “differs” is corrected by Holm's \
    procedure. Layers are compared in time per I/O, where serial layers add; the Shapley value is a \
    layer's mean cost over all orders of adding them. Latency in an open loop counts from the \
    intended start of each I/O. Pooled percentiles are descriptive: I/Os of one trial are not \
    independent of each other. Rates of arms are means over the trials used; spread: coefficient \
    of variation of the trials' throughput.";

const OF_RESULTS: &str = "\
    The results of an arm are taken for independent samples: nothing pairs one of them with one of \
    another arm. What is compared is the mean of logarithms; the interval is that of Student's t \
    with the freedom of the smaller sample, which covers at least as often as it says whatever the \
    spreads (Mickey and Brown, Annals of Mathematical Statistics 37, 1966). Where several arms are \
    compared, “differs” is corrected by Holm's procedure.";

/// The method, and the words.
pub(super) fn sections(experiment: &Experiment, analysis: &Analysis) -> [Section; 2] {
    let is_of_results = experiment.spec.is_of_results();
    let method = if is_of_results { OF_RESULTS } else { OF_BLOCKS };
    let method = Section::new("Method", [Item::Paragraph(method.to_owned())]);
    let words = legend(&format::percent(analysis.margin), is_of_results);
    let words = Section::new("Words", [Item::facts(words)]);
    [method.at(Place::Page), words.at(Place::Page)]
}

fn legend(margin: &str, is_of_results: bool) -> Vec<(String, String)> {
    let verdicts = [
        Verdict::Slower,
        Verdict::Faster,
        Verdict::Equivalent,
        Verdict::Undecided,
        Verdict::Masked,
        Verdict::EffectChanged,
        Verdict::NoInformation,
        Verdict::NotIndependent,
        Verdict::InsufficientTailSamples,
        Verdict::Overloaded,
    ];
    let verdicts = verdicts.into_iter().map(|verdict| {
        let meaning = if is_of_results && verdict == Verdict::Undecided {
            "The interval holds both a cost and none, or there is no interval.".to_owned()
        } else {
            words::verdict_meaning(verdict, margin)
        };
        (verdict.to_string(), meaning)
    });
    let others = [
        (
            "tax",
            "What a layer or an arm costs. Of throughput: 1 − with / without. Of a time: with / \
             without − 1.",
        ),
        (
            "burst, sustained",
            "Blocks before or after throughput dropped for good, as when burst credits run out.",
        ),
    ];
    verdicts.chain(others.map(|(word, meaning)| (word.to_owned(), meaning.to_owned()))).collect()
}
