//! A difference from the baseline against a share.

use iotax_spec::Rule;
use iotax_stats::gate::{Outcome, blocks_needed};
use iotax_stats::rci::{Interval, Summary};
use iotax_stats::verdict::Verdict;

use super::context::{RuleContext, count, word};
use crate::analysis::{Estimate, Judgment};
use crate::conclude::Conclusion;
use crate::metrics::{Better, Role};

/// The rule about every arm or layer that it is about; of a peel the total, unless one is named.
pub(super) fn judge(context: &RuleContext<'_>, rule: &Rule, share: f64) -> Vec<Judgment> {
    let is_about = |conclusion: &&&Conclusion| {
        let subject = conclusion.subject();
        let is_default = conclusion.comparison.layer.is_none() || subject == "total";
        !conclusion.is_interaction
            && if rule.of.is_some() { rule.is_about(subject) } else { is_default }
    };
    let mut judged: Vec<Judgment> = Vec::new();
    for conclusion in context.conclusions.iter().filter(is_about) {
        let decides = conclusion.comparison.metric.role() == Role::Decides
            && conclusion.comparison.verdict != Verdict::InsufficientTailSamples;
        if decides && judged.iter().all(|done| done.of != conclusion.subject()) {
            judged.push(of_subject(context, rule, share, conclusion));
        }
    }
    judged
}

fn of_subject(
    context: &RuleContext<'_>,
    rule: &Rule,
    share: f64,
    conclusion: &Conclusion,
) -> Judgment {
    let c = &conclusion.comparison;
    let two_sided = || {
        let (lo, hi) = (c.lo?, c.hi?);
        Some(Interval { mean: c.tax.unwrap_or(lo.midpoint(hi)), lo, hi })
    };
    let bounds = conclusion.bounds.or_else(two_sided);
    let (outcome, why) = match (c.verdict, bounds) {
        (Verdict::Slower, None) if c.stalls.is_some() => (Outcome::Fail, None),
        (Verdict::Faster, None) if c.stalls.is_some() => (Outcome::Pass, None),
        (Verdict::Overloaded, _) => (Outcome::Undecided, Some("the offered rate was not reached")),
        (Verdict::NotIndependent, _) => {
            (Outcome::Undecided, Some("successive blocks depend on each other"))
        }
        (Verdict::EffectChanged, _) => {
            (Outcome::Undecided, Some("the effect changed during the run"))
        }
        (Verdict::NoInformation, _) => (Outcome::Undecided, Some("neither arm completes anything")),
        (_, None) => (Outcome::Undecided, None),
        (_, Some(bounds)) => (Outcome::of(&bounds, share), None),
    };
    let is_open = outcome == Outcome::Undecided && why.is_none();
    Judgment {
        rule: rule.clone(),
        of: conclusion.subject().to_owned(),
        outcome: word(outcome),
        metric: Some(c.metric),
        found: bounds.map(Estimate::from),
        trials: c.blocks,
        needed: needed(context, share, conclusion).filter(|_| is_open),
        why: why.map(str::to_owned),
    }
}

fn needed(context: &RuleContext<'_>, share: f64, conclusion: &Conclusion) -> Option<u32> {
    let (mean, sd) = (conclusion.decision.log_ratio?.mean, conclusion.spread?);
    let limit = match conclusion.comparison.metric.better() {
        Better::Higher => (-share).ln_1p(),
        Better::Lower => share.ln_1p(),
    };
    let summary = Summary { blocks: conclusion.decision.blocks, mean, sd };
    blocks_needed(&summary, mean - limit, context.method.rule_alpha).map(count)
}
