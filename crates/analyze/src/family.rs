//! All measures of an experiment as one family.
//!
//! The primary measure of each comparison has the whole error rate to itself: it is what was asked,
//! and it decides when a run ends. Each of the others would have as much again; so they share one
//! more among them all, by Holm's procedure. And since they are looked at when it suits the primary
//! one, maybe after few blocks, their differences have to hold if the blocks depend on each other,
//! too.

use iotax_stats::holm;
use iotax_stats::verdict::Verdict;

use crate::analysis::Withheld;
use crate::conclude::Conclusion;
use crate::metrics::Role;

/// Takes back what the others say of a difference, as far as their family does not support it.
/// `by_metric`: the conclusions in each metric, always on the same subjects.
pub(crate) fn correct(alpha: f64, by_metric: &mut [Vec<Conclusion>]) {
    let subjects = by_metric.iter().map(Vec::len).min().unwrap_or(0);
    let primary: Vec<usize> = (0..subjects).map(|subject| primary(by_metric, subject)).collect();
    let mut others: Vec<&mut Conclusion> = (0..)
        .zip(by_metric.iter_mut())
        .flat_map(|(metric, conclusions)| {
            conclusions.iter_mut().zip(&primary).map(move |both| (metric, both))
        })
        .filter(|(metric, (_, primary))| metric != *primary)
        .map(|(_, (conclusion, _))| conclusion)
        .collect();
    let p: Vec<f64> = others.iter().map(|c| c.p_if_dependent).collect();
    for (conclusion, adjusted) in others.iter_mut().zip(holm::adjusted(&p)) {
        let comparison = &mut conclusion.comparison;
        if adjusted > alpha && comparison.verdict.is_signed() && comparison.stalls.is_none() {
            comparison.verdict = Verdict::Undecided;
            comparison.holds_after_holm = false;
            comparison.blocks_needed = None;
            conclusion.withheld = Some(Withheld::AfterHolm);
        }
    }
}

/// The metric that decides on a subject: the first of those that do, unless it cannot.
fn primary(by_metric: &[Vec<Conclusion>], subject: usize) -> usize {
    let decides = |conclusions: &Vec<Conclusion>| {
        let comparison = &conclusions[subject].comparison;
        comparison.metric.role() == Role::Decides
            && comparison.verdict != Verdict::InsufficientTailSamples
    };
    by_metric.iter().position(decides).unwrap_or(0)
}
