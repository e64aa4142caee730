//! A difference from the baseline against a share.

use iotax_experiment::rule::Slowdown;
use iotax_experiment::{Rule, Subject};
use iotax_stats::gate::{Outcome, blocks_needed};
use iotax_stats::rci::{Interval, Summary};
use iotax_stats::sample::count;
use iotax_stats::verdict::Verdict;

use super::{RuleContext, word};
use crate::analysis::{Estimate, Judgment, RuleOpen};
use crate::conclude::Conclusion;
use crate::metrics::{Better, Metric, Role};

/// The rule about every arm or layer that it is about; of a peel the total, unless one is named.
pub(super) fn judge(context: &RuleContext<'_>, rule: &Rule, slowdown: Slowdown) -> Vec<Judgment> {
    let named = context.spec.subject_of(rule);
    let is_about = |conclusion: &&&Conclusion| match (&named, &conclusion.comparison.subject) {
        (Some(named), subject) => named == subject,
        (None, Subject::Arm(_) | Subject::Total) => true,
        (None, Subject::Layer(_) | Subject::Interaction(_) | Subject::Level(_)) => false,
    };
    let mut judged: Vec<Judgment> = Vec::new();
    for conclusion in context.conclusions.iter().filter(is_about) {
        let metric = conclusion.comparison.metric;
        let is_meant =
            if slowdown.typical { metric == Metric::P50 } else { metric.role() == Role::Decides };
        if !is_meant {
            continue;
        }
        let judgment = of_subject(context, rule, slowdown.share, conclusion);
        match judged.iter_mut().find(|done| done.of == judgment.of) {
            None => judged.push(judgment),
            // The next metric decides where the first has too few samples in its tail.
            Some(done) if done.has_no_tail() => *done = judgment,
            Some(_) => {}
        }
    }
    if judged.is_empty() {
        // A rule that nothing was held against is not kept.
        let open = Some(RuleOpen::NothingCompared);
        judged.push(Judgment { open, ..Judgment::undecided(rule, named) });
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
    let bounds = conclusion.bounds.map(|bounds| bounds.cost);
    let (outcome, open) = match (c.verdict, bounds) {
        (Verdict::Slower, None) if c.stalls.is_some() => (Outcome::Fail, None),
        (Verdict::Faster, None) if c.stalls.is_some() => (Outcome::Pass, None),
        (
            verdict @ (Verdict::Overloaded
            | Verdict::NotIndependent
            | Verdict::EffectChanged
            | Verdict::NoInformation
            | Verdict::Masked
            | Verdict::InsufficientTailSamples),
            _,
        ) => (Outcome::Undecided, Some(RuleOpen::Gate(verdict))),
        (_, None) => (Outcome::Undecided, None),
        (_, Some(bounds)) => (Outcome::of(&bounds, share), None),
    };
    let is_open = outcome == Outcome::Undecided && open.is_none();
    // What is missing may hide a slow arm, and makes none look slow.
    let lacks = c.missing.filter(|missing| {
        let wide = bounds.map(|cost| missing.widen(cost, c.metric.better()));
        let stands = wide.is_none_or(|cost| Outcome::of(&cost, share) == Outcome::Pass);
        outcome == Outcome::Pass && (missing.are_too_many() || !stands)
    });
    let (outcome, open) = match lacks {
        Some(_) => (Outcome::Undecided, Some(RuleOpen::Lost)),
        None => (outcome, open),
    };
    Judgment {
        outcome: word(outcome),
        metric: Some(c.metric),
        found: bounds.map(Estimate::from),
        trials: c.blocks,
        needed: needed(context, share, conclusion).filter(|_| is_open),
        detectable: detectable(context, share, conclusion)
            .filter(|_| outcome != Outcome::Fail && open.is_none()),
        missing: c.missing,
        open,
        ..Judgment::undecided(rule, Some(c.subject.clone()))
    }
}

impl Judgment {
    fn has_no_tail(&self) -> bool {
        self.open == Some(RuleOpen::Gate(Verdict::InsufficientTailSamples))
    }
}

fn needed(context: &RuleContext<'_>, share: f64, conclusion: &Conclusion) -> Option<u32> {
    let (mean, sd) = (conclusion.decision.log_ratio?.mean, conclusion.spread?);
    let limit = log_limit(conclusion.comparison.metric, share);
    let blocks = conclusion.decision.blocks;
    let summary = Summary { blocks, mean, sd, freedom: blocks.saturating_sub(1) };
    blocks_needed(&summary, mean - limit, context.method.rule_alpha).map(count)
}

/// The smallest cost that would have broken the rule.
fn detectable(context: &RuleContext<'_>, share: f64, conclusion: &Conclusion) -> Option<f64> {
    let (metric, beyond) = (conclusion.comparison.metric, conclusion.bounds?.reach.beyond());
    let log_ratio = log_limit(metric, share)
        + match metric.better() {
            Better::Higher => -beyond,
            Better::Lower => beyond,
        };
    Some(context.method.cost(metric, Interval::around(log_ratio, 0.0)).mean)
}

/// The log ratio beyond which a rule about this share is broken.
fn log_limit(metric: Metric, share: f64) -> f64 {
    match metric.better() {
        Better::Higher => (-share).ln_1p(),
        Better::Lower => share.ln_1p(),
    }
}
