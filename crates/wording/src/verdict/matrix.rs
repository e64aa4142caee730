//! Sentences about a matrix: what each level costs, and which factors change that.

use iotax_analyze::{
    Analysis, Comparison, Effect, Estimate, FactorEffect, FactorEffects, FactorInteraction,
    Verdict, log_factor,
};
use iotax_experiment::Workload;
use iotax_quantity::count;

use super::comparison::{by_size, primary_effects};
use super::typical;
use crate::effect::EffectWords as _;
use crate::name::{self, printable};

/// With more effects than this, only those with a difference get a sentence.
const MAX_SENTENCES: usize = 6;
/// At most this many costs that depend on another factor get a sentence.
const MAX_INTERACTIONS: usize = 3;

/// `sec=krb5p is 2.4x slower [2.1, 2.8] than sec=sys in throughput.`
pub(super) fn sentences(
    matrix: &FactorEffects,
    analysis: &Analysis,
    workload: &Workload,
) -> Vec<String> {
    let primary = primary_effects(matrix);
    let is_found = |effect: &&FactorEffect| {
        matches!(effect.comparison.verdict, Verdict::Slower | Verdict::Faster)
    };
    let mut shown: Vec<&FactorEffect> = if primary.len() > MAX_SENTENCES {
        primary.iter().copied().filter(is_found).collect()
    } else {
        primary.clone()
    };
    shown.sort_by(|a, b| by_size(&a.comparison, &b.comparison));
    let mut sentences: Vec<String> = shown
        .iter()
        .take(MAX_SENTENCES)
        .map(|effect| {
            let typical = matrix.effects.iter().map(|effect| &effect.comparison);
            of_effect(effect, typical::of(&effect.comparison, typical), analysis, workload)
        })
        .collect();
    let rest = primary.len() - sentences.len();
    if rest > 0 {
        let levels = count(rest as u64, "more level");
        sentences.push(format!("For {levels}, see the section \"Effects\"."));
    }
    let mut found: Vec<&FactorInteraction> = matrix.interactions.iter().collect();
    found.sort_by(|a, b| difference(b).total_cmp(&difference(a)));
    sentences.extend(found.iter().take(MAX_INTERACTIONS).map(|found| of_interaction(found)));
    if let Some(rest @ 1..) = found.len().checked_sub(MAX_INTERACTIONS) {
        let costs = count(rest as u64, "more cost");
        let verb = if rest == 1 { "depends" } else { "depend" };
        sentences.push(format!("{costs} {verb} on another factor; see the section \"By factor\"."));
    }
    if !matrix.unpaired.is_empty() {
        let only = if matrix.unpaired.len() == 1 { "this level" } else { "one of these levels" };
        let levels = matrix.unpaired.iter().map(|own| format!("{}={}", own.factor, own.level));
        let levels = printable(&levels.collect::<Vec<_>>().join(", "));
        sentences.push(format!(
            "No effect was computed for {levels}: no two arms differ only in {only}."
        ));
    }
    sentences
}

fn of_effect(
    effect: &FactorEffect,
    typical: Option<&Comparison>,
    analysis: &Analysis,
    workload: &Workload,
) -> String {
    let against = printable(&format!("{}={}", effect.setting.factor, effect.against));
    let mut text = typical::sentence(&effect.comparison, typical, &against, analysis, workload);
    if effect.stalled_pairs > 0 {
        let pairs = count(effect.stalled_pairs, "pair");
        text.push_str(&format!(" Not included: {pairs} with a stalled arm."));
    }
    text
}

/// How much a cost differs from that at the first level, as a factor.
fn difference(found: &FactorInteraction) -> f64 {
    let log = |cost: Estimate| log_factor(found.metric.on(), cost.value);
    (log(found.at) - log(found.at_first)).abs()
}

/// `The cost of sec=krb5p depends on nconnect: 60 % slower [55, 64] in throughput at nconnect=4 and
/// 30 % slower [25, 35] in throughput at nconnect=1.`
fn of_interaction(found: &FactorInteraction) -> String {
    let FactorInteraction { setting, with, metric, .. } = found;
    let size = |cost: Estimate| {
        Effect::of(metric.on(), cost.value, [cost.lo, cost.hi]).size(name::metric(*metric))
    };
    printable(&format!(
        "The cost of {}={} depends on {}: {} at {}={} and {} at {}={}.",
        setting.factor,
        setting.level,
        with.factor,
        size(found.at),
        with.factor,
        with.level,
        size(found.at_first),
        with.factor,
        found.first,
    ))
}
