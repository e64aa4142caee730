//! Words for a comparison in sentences, tables and drawings: its subject, its effect and its
//! verdict.

use std::cmp::Ordering;

use iotax_analyze::{
    Analysis, Comparison, Effect, Estimate, FactorEffect, FactorEffects, Interaction, Metric,
    Verdict, log_factor,
};
use iotax_experiment::{Subject, Workload};

use super::stalls;
use crate::effect::EffectWords as _;
use crate::format::ABSENT;
use crate::name::{self, printable};
use crate::trial;

/// The first comparison of each arm (or layer): its primary metric.
pub fn primary_of_each(analysis: &Analysis) -> Vec<&Comparison> {
    let mut firsts: Vec<&Comparison> = Vec::new();
    for comparison in &analysis.comparisons {
        if !firsts.iter().any(|first| first.subject == comparison.subject) {
            firsts.push(comparison);
        }
    }
    firsts
}

/// The effects of a matrix in the primary metric.
pub fn primary_effects(matrix: &FactorEffects) -> Vec<&FactorEffect> {
    let mut first: Vec<&FactorEffect> = Vec::new();
    for effect in &matrix.effects {
        if first.iter().all(|known| known.setting != effect.setting) {
            first.push(effect);
        }
    }
    first
}

/// Decided before undecided, then by size, the largest first. Stalled arms come first of all,
/// because the size of their effect is unknown.
pub fn by_size(a: &Comparison, b: &Comparison) -> Ordering {
    let is_open = |c: &Comparison| !matches!(c.verdict, Verdict::Slower | Verdict::Faster);
    let size =
        |c: &Comparison| c.tax.map_or(f64::INFINITY, |tax| log_factor(c.metric.on(), tax).abs());
    is_open(a).cmp(&is_open(b)).then(size(b).total_cmp(&size(a)))
}

/// The arm or layer a comparison is about, safe to print.
pub fn subject(comparison: &Comparison) -> String {
    printable(&name::subject(&comparison.subject))
}

/// `c-azure / aks`: the same for a table row, with the baseline if each arm has its own.
pub fn row_name(comparison: &Comparison) -> String {
    let name = subject(comparison);
    match &comparison.against {
        Some(against) => format!("{name} / {}", printable(&name::against(against))),
        None => name,
    }
}

/// The effect, if it has an estimate and an interval.
pub fn known(comparison: &Comparison) -> Option<Effect> {
    comparison.tax.and(comparison.lo).and_then(|_| comparison.effect())
}

/// `23 % slower [21, 25] in throughput`, `20 % more [15, 25] CPU per I/O`.
pub fn size(comparison: &Comparison) -> Option<String> {
    Some(known(comparison)?.size(name::metric(comparison.metric)))
}

/// `12 % slower [10, 14]`; `10 to 14 % slower` if there is only a range; `40 % slower, then 5 %
/// slower` if it changed; `at least 17x` if trials stalled; or a dash.
pub fn effect(comparison: &Comparison) -> String {
    if let (Verdict::EffectChanged, Some(change)) = (comparison.verdict, &comparison.change) {
        let part = |tax: Option<Estimate>| {
            let effect = tax.and_then(|tax| comparison.effect_of(tax).without_interval());
            effect.map_or_else(|| ABSENT.to_owned(), Effect::in_words)
        };
        return format!("{}, then {}", part(change.before), part(change.since));
    }
    if let Some(size) = comparison.stalls.as_ref().and_then(stalls::size) {
        return size;
    }
    comparison.effect().map_or_else(|| ABSENT.to_owned(), Effect::in_words)
}

/// `23 % slower`: the same without its interval; or a dash.
pub fn short_effect(comparison: &Comparison) -> String {
    comparison.effect().map_or_else(|| ABSENT.to_owned(), Effect::in_short)
}

/// `slower`, `slower (stalls: 7 of 7 vs 0 of 7)`.
pub fn verdict(comparison: &Comparison) -> String {
    name::verdict(comparison.verdict).to_owned() + &stalled(comparison)
}

/// The same with the part of the run that it covers: `slower, sustained`.
pub fn verdict_and_regime(comparison: &Comparison) -> String {
    verdict(comparison) + &regime(comparison)
}

/// The effect, and the verdict unless that is `slower` or `faster`: `12 % slower [10, 14]`, `2.5x
/// slower [1.2x faster, 7.5x slower], undecided`.
pub fn effect_and_verdict(comparison: &Comparison) -> String {
    let verdict = if comparison.verdict.is_signed() {
        stalled(comparison)
    } else {
        format!(", {}", verdict(comparison))
    };
    effect(comparison) + &verdict + &regime(comparison)
}

fn stalled(comparison: &Comparison) -> String {
    let stalls = comparison.stalls.as_ref();
    stalls.map_or_else(String::new, |stalls| stalls::counts(comparison.verdict, stalls))
}

fn regime(comparison: &Comparison) -> String {
    let regime = comparison.regime.map(trial::regime);
    regime.map_or_else(String::new, |regime| format!(", {regime}"))
}

/// The effect in one part of the run, in a sentence.
pub fn part(comparison: &Comparison, tax: Option<Estimate>) -> String {
    let tax = tax.map(|tax| comparison.effect_of(tax).in_words());
    tax.unwrap_or_else(|| "an effect of unknown size".to_owned())
}

/// `−23 %`, `+4 %`, `2.4x`, `67x less`: how a figure changed. Factors replace percents near 100 %.
pub fn change(ratio: f64) -> String {
    let change = ratio - 1.0;
    if ratio >= 2.0 {
        return iotax_quantity::times(ratio);
    }
    if ratio > 0.0 && ratio <= 0.1 {
        return format!("{} less", iotax_quantity::times(1.0 / ratio));
    }
    let size = iotax_quantity::percent(change.abs());
    match size.as_str() {
        "0 %" => size,
        _ if change < 0.0 => format!("−{size}"),
        _ => format!("+{size}"),
    }
}

/// Why pairs of layers may cost more, or less, together than apart.
pub fn hypotheses(analysis: &Analysis, workload: &Workload) -> impl Iterator<Item = String> {
    let interactions = analysis.attribution.iter().flat_map(|found| &found.interactions);
    interactions.map(move |pair| {
        let layers = Subject::Interaction(pair.layers.clone());
        format!("{}: {}", name::subject(&layers), hypothesis(pair, workload))
    })
}

/// A probable reason for an interaction, marked as a guess because throughput alone cannot prove
/// it.
pub fn hypothesis(interaction: &Interaction, workload: &Workload) -> String {
    let probably = match interaction.verdict {
        Some(Verdict::Slower) => {
            return format!(
                "they cost more together than apart. Likely reason (not proven): both need the \
                 same CPU, or both hit the same limit (as with double encryption); check {}",
                name::metric(Metric::cpu(workload))
            );
        }
        Some(Verdict::Faster) => {
            "they cost less together than apart. Likely reason (not proven): the bottleneck moved, \
             so one layer works while the other waits"
        }
        Some(Verdict::Equivalent) => {
            "no relevant interaction: they work one after the other, so their costs add up"
        }
        Some(Verdict::NotIndependent) => "undecided: successive blocks are correlated",
        Some(
            Verdict::Undecided
            | Verdict::Masked
            | Verdict::EffectChanged
            | Verdict::NoInformation
            | Verdict::InsufficientTailSamples
            | Verdict::Overloaded,
        )
        | None => "undecided: the interval is too wide",
    };
    probably.to_owned()
}
