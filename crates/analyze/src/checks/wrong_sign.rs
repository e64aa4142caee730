use iotax_experiment::{Does, Layer, LayerInfo, Subject};
use iotax_stats::verdict::Verdict;

use crate::analysis::{Comparison, Doubt, DoubtKind};
use crate::conclude::Conclusion;
use crate::evidence::Evidence;
use crate::metrics::Metric;

/// An added layer that makes things faster is questioned, not celebrated.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    evidence
        .conclusions
        .iter()
        .map(|conclusion| &conclusion.comparison)
        .filter(|c| c.verdict == Verdict::Faster && c.metric.is_speed())
        .filter(|comparison| only_adds(evidence, comparison))
        .filter(|c| !repeats(evidence, c))
        .map(|comparison| {
            let Comparison { subject, metric, tax, blocks, .. } = comparison;
            let kind = DoubtKind::WrongSign { metric: *metric, tax: *tax };
            Doubt::about(subject.clone(), kind, *blocks)
        })
        .collect()
}

/// Whether it is the median, of what the primary metric says.
fn repeats(evidence: &Evidence<'_>, comparison: &Comparison) -> bool {
    let says = |c: &Conclusion| {
        c.comparison.subject == comparison.subject && c.comparison.verdict == Verdict::Faster
    };
    comparison.metric == Metric::P50 && evidence.primary().any(says)
}

/// Whether the comparison adds layers to the baseline, and nothing but layers that cost.
fn only_adds(evidence: &Evidence<'_>, comparison: &Comparison) -> bool {
    match &comparison.subject {
        Subject::Arm(name) => {
            let Some(arm) = evidence.names.iter().position(|n| n == name) else { return false };
            let (base, with) = (evidence.layers(0), evidence.layers(arm));
            let is_added =
                with.len() > base.len() && !base.is_empty() && is_subsequence(base, with);
            let caches = |layers: &[Layer]| {
                layers.iter().filter(|layer| layer.info().does == Does::Caches).count()
            };
            let is_cache = caches(with) > caches(base);
            is_added && !is_cache
        }
        Subject::Layer(layer) => {
            let word = layer.split('#').next().unwrap_or(layer);
            !LayerInfo::named(word).is_ok_and(|info| info.does == Does::Caches)
        }
        Subject::Interaction(_) | Subject::Total | Subject::Level(_) => false,
    }
}

fn is_subsequence(base: &[Layer], with: &[Layer]) -> bool {
    let mut rest = with.iter();
    base.iter().all(|layer| rest.any(|other| other == layer))
}
