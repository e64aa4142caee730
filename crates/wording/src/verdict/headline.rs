//! The verdict in a few words, for the title of a page.

use iotax_analyze::{Analysis, Comparison, Effect, FactorEffect, FactorEffects, On, Verdict};
use iotax_experiment::{Design, Subject};
use iotax_quantity::{count, percent};
use iotax_record::ExperimentHead;

use super::against::baseline_of;
use super::comparison::{by_size, primary_effects, primary_of_each, subject};
use super::{MAX_SENTENCES, stands_for};
use crate::effect::EffectWords as _;
use crate::name::printable;
use crate::{format, units};

/// `encrypted is 27 % slower than plain`. `None` if the verdict has no short form.
pub fn headline(experiment: &ExperimentHead, analysis: &Analysis) -> Option<String> {
    match experiment.spec.design {
        Design::Single => single(analysis),
        Design::Compare => match &analysis.matrix {
            Some(effects) => matrix(effects),
            None => compare(analysis),
        },
        Design::Fleet => None,
        Design::Peel { .. } => peel(analysis),
    }
}

/// `85,300 IOPS, p99 103 µs`
fn single(analysis: &Analysis) -> Option<String> {
    let arm = analysis.arms.first().filter(|arm| arm.trials > 0)?;
    if arm.together.is_some() || arm.network.is_some() {
        return None;
    }
    let p99_ns = match arm.leading_sync() {
        Some(sync) => sync.quantile_ns(0.99),
        None => iotax_analyze::latency_at(&arm.latency, 0.99),
    };
    let p99 = p99_ns.map_or_else(String::new, |ns| format!(", p99 {}", format::time(ns as f64)));
    Some(format!("{}{p99}", units::rate(arm)))
}

fn compare(analysis: &Analysis) -> Option<String> {
    let mut primary = primary_of_each(analysis);
    if primary.len() > MAX_SENTENCES {
        let slower = primary.iter().filter(|c| c.verdict == Verdict::Slower).count();
        let all = count(primary.len() as u64, "arm");
        let are = if slower == 1 { "is" } else { "are" };
        return Some(format!("{slower} of {all} {are} slower"));
    }
    primary.sort_by(|a, b| by_size(a, b));
    let first = stands_for(primary.first()?, analysis);
    let (name, baseline) = (subject(first), printable(&baseline_of(first, analysis)));
    match first.verdict {
        Verdict::Slower | Verdict::Faster => {
            Some(format!("{name} is {} than {baseline}", size(first)?))
        }
        Verdict::Equivalent => Some(format!("{name} and {baseline} are equivalent")),
        Verdict::Undecided => Some(format!("{name} compared with {baseline}: undecided")),
        Verdict::Masked
        | Verdict::EffectChanged
        | Verdict::NoInformation
        | Verdict::NotIndependent
        | Verdict::InsufficientTailSamples
        | Verdict::Overloaded => None,
    }
}

/// The level with the largest effect: `sec=krb5p is 2.8x slower than sec=sys`.
fn matrix(effects: &FactorEffects) -> Option<String> {
    let mut primary = primary_effects(effects);
    primary.sort_by(|a, b| by_size(&a.comparison, &b.comparison));
    let FactorEffect { setting, against, comparison: first, .. } = primary.first()?;
    let against = printable(&format!("{}={against}", setting.factor));
    let is_found = matches!(first.verdict, Verdict::Slower | Verdict::Faster);
    is_found.then_some(format!("{} is {} than {against}", subject(first), size(first)?))
}

fn peel(analysis: &Analysis) -> Option<String> {
    let primary = primary_of_each(analysis);
    let total = primary.into_iter().find(|c| c.subject == Subject::Total)?;
    let total = stands_for(total, analysis);
    match total.verdict {
        Verdict::Slower | Verdict::Faster => Some(format!("all layers together: {}", size(total)?)),
        Verdict::Equivalent => {
            Some(format!("all layers together cost less than {}", percent(analysis.margin)))
        }
        Verdict::Undecided
        | Verdict::Masked
        | Verdict::EffectChanged
        | Verdict::NoInformation
        | Verdict::NotIndependent
        | Verdict::InsufficientTailSamples
        | Verdict::Overloaded => None,
    }
}

/// `27 % slower`; `None` without a size.
fn size(comparison: &Comparison) -> Option<String> {
    let is_stalled = comparison.stalls.is_some();
    let effect = comparison.effect().filter(|effect| effect.on != On::Cost && !is_stalled)?;
    comparison.tax.and(Some(effect)).map(Effect::in_short)
}
