//! What sentences, tables and drawings say of a comparison: what it is about, and what it found.

use iotax_analyze::{Analysis, Better, Comparison, Estimate, Metric, Verdict};

use crate::format::{self, ABSENT};
use crate::{stalls, words};

/// The first comparison of each arm (or layer): its primary metric.
pub(crate) fn primary_of_each(analysis: &Analysis) -> Vec<&Comparison> {
    let mut firsts: Vec<&Comparison> = Vec::new();
    for comparison in &analysis.comparisons {
        if !firsts.iter().any(|f| f.arm == comparison.arm && f.layer == comparison.layer) {
            firsts.push(comparison);
        }
    }
    firsts
}

/// Whether the row is a single layer of the peel, not an interaction or the total.
pub(crate) fn is_layer(comparison: &Comparison, analysis: &Analysis) -> bool {
    comparison.layer.as_deref().is_some_and(|name| {
        analysis
            .attribution
            .as_ref()
            .map_or(name != "total", |a| a.layers.iter().any(|layer| layer.layer == name))
    })
}

/// Whether the row is an interaction of two layers.
pub(crate) fn is_interaction(comparison: &Comparison, analysis: &Analysis) -> bool {
    analysis.attribution.as_ref().is_some_and(|a| {
        a.interactions.iter().any(|i| comparison.layer.as_deref() == Some(&pair_name(&i.layers)))
    })
}

/// The name of an interaction, as comparisons spell it.
pub(crate) fn pair_name(layers: &[String; 2]) -> String {
    format!("{} x {}", layers[0], layers[1])
}

/// The arm or layer a comparison is about, safe to print.
pub(crate) fn subject(comparison: &Comparison) -> String {
    let name = comparison.arm.as_ref().or(comparison.layer.as_ref());
    words::printable(name.map_or("?", String::as_str))
}

/// `23 % [21, 25] less throughput`, `30 % [25, 35] more p99 latency`.
pub(crate) fn size(comparison: &Comparison) -> Option<String> {
    let (value, lo, hi) = (comparison.tax?, comparison.lo?, comparison.hi?);
    Some(cost(Estimate { value, lo, hi }, comparison.metric))
}

/// The same of a cost in a metric.
pub(crate) fn cost(Estimate { value: tax, lo, hi }: Estimate, metric: Metric) -> String {
    let gain = tax < 0.0;
    let interval = if gain {
        format::percent_interval(-tax, -hi, -lo)
    } else {
        format::percent_interval(tax, lo, hi)
    };
    // A cost is less of throughput, but more of every time.
    let less = (metric.better() == Better::Higher) != gain;
    let direction = if less { "less" } else { "more" };
    format!("{interval} {direction} {}", metric.name())
}

/// `12 % [10, 14]`; `10 to 14 %` where one number would hide that it depends; `40 % [38, 42], then
/// 5 % [3, 7]` where it changed; `at least 17 x` where trials stalled; or a dash.
pub(crate) fn tax(comparison: &Comparison) -> String {
    if let (Verdict::EffectChanged, Some(change)) = (comparison.verdict, &comparison.change) {
        return format!("{}, then {}", part(change.before), part(change.since));
    }
    if let Some(size) = comparison.stalls.as_ref().and_then(stalls::size) {
        return size;
    }
    match (comparison.tax, comparison.lo, comparison.hi) {
        (Some(tax), Some(lo), Some(hi)) => format::percent_interval(tax, lo, hi),
        (Some(tax), ..) => format::percent(tax),
        (None, Some(lo), Some(hi)) => format::percent_range(lo, hi),
        _ => ABSENT.to_owned(),
    }
}

/// The tax of one part of the run.
pub(crate) fn part(tax: Option<Estimate>) -> String {
    tax.map_or_else(|| ABSENT.to_owned(), |e| format::percent_interval(e.value, e.lo, e.hi))
}

/// Why pairs of layers may cost another amount together than apart.
pub(crate) fn hypotheses(analysis: &Analysis) -> impl Iterator<Item = String> {
    let interactions = analysis.attribution.iter().flat_map(|found| &found.interactions);
    let interactions = interactions.filter(|pair| !pair.hypothesis.is_empty());
    interactions.map(|pair| format!("{}: {}", pair_name(&pair.layers), pair.hypothesis))
}
