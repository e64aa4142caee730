use iotax_quantity::{Effect, count};

use crate::analysis::{Check, Comparison, Estimate, PlaceEffect, Warning, called, named};
use crate::evidence::Evidence;

/// A difference that depends on which trial came first in a block. Only in the primary metric, which
/// decides when a run stops.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let primary = evidence.conclusions.first().map(|conclusion| conclusion.comparison.metric);
    let comparisons = evidence.conclusions.iter().map(|conclusion| &conclusion.comparison);
    comparisons
        .filter(|comparison| Some(comparison.metric) == primary)
        .filter_map(|comparison| Some(warning(evidence, comparison, comparison.place.as_ref()?)))
        .collect()
}

fn warning(evidence: &Evidence<'_>, comparison: &Comparison, place: &PlaceEffect) -> Warning {
    let arm = named(&comparison.subject);
    let base = comparison.against.as_ref().map(called);
    let base = base.or_else(|| evidence.names.first().cloned());
    let base = base.unwrap_or_else(|| "the baseline".to_owned());
    let blocks = |at: usize| count(place.blocks[at].into(), "block");
    let rests = if place.taken_out {
        "the interval is that of the mean of both, without what the order does"
    } else {
        "there are too few blocks to tell what the order does from what the arm does"
    };
    Warning {
        check: Check::PlaceEffect,
        arm: Some(arm.clone()),
        message: format!(
            "{} depends on which trial comes first: {arm} is {} in the {} in which {base} came \
             first, and {} in the {} in which {arm} did; {rests}",
            comparison.metric.name(),
            in_short(comparison, place.base_first),
            blocks(0),
            in_short(comparison, place.arm_first),
            blocks(1),
        ),
        advice: "Something belongs to the order of trials, not to an arm: a cache that the first \
                 trial fills for the next, credits that one uses up, writes of the last trial that \
                 still go on. Begin each trial with a longer ramp (--ramp), or spend the credits \
                 first (--drain), and run again."
            .to_owned(),
        trials: place.blocks.iter().sum(),
    }
}

fn in_short(comparison: &Comparison, tax: f64) -> String {
    let part = Estimate { value: tax, lo: tax, hi: tax };
    let effect = comparison.effect_of(part).without_interval();
    effect.map_or_else(|| "as fast".to_owned(), Effect::in_short)
}
