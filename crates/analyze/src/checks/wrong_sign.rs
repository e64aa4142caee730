use iotax_experiment::{Does, Layer, LayerInfo, Subject};
use iotax_quantity::Effect;
use iotax_stats::verdict::Verdict;

use crate::analysis::{Check, Comparison, Warning, named};
use crate::evidence::Evidence;

/// An added layer that makes things faster is questioned, not celebrated.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    evidence
        .conclusions
        .iter()
        .map(|conclusion| &conclusion.comparison)
        .filter(|c| c.verdict == Verdict::Faster && c.metric.is_speed())
        .filter_map(|c| Some((c, adds(evidence, c)?)))
        .map(|(comparison, what)| Warning {
            check: Check::WrongSign,
            arm: Some(named(&comparison.subject)),
            message: format!("{what} only adds work, yet it is {} with it", faster(comparison)),
            advice: "Do not take this as a gain before it is explained. Usual reasons: direct I/O \
                     became buffered I/O, a cache answered, small I/Os were merged, or the arms \
                     lie on different storage. The device's own counters (iostat) show which."
                .to_owned(),
            trials: comparison.blocks,
        })
        .collect()
}

/// `7 % faster in throughput`, `2.2x faster in throughput`
fn faster(comparison: &Comparison) -> String {
    let how = comparison.effect().map_or_else(|| "faster".to_owned(), Effect::in_short);
    format!("{how} in {}", comparison.metric.name())
}

/// What the comparison adds to the baseline, if that is layers and nothing but layers that cost.
fn adds(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<String> {
    match &comparison.subject {
        Subject::Arm(name) => {
            let arm = evidence.names.iter().position(|n| n == name)?;
            let (base, with) = (evidence.layers(0), evidence.layers(arm));
            let is_added =
                with.len() > base.len() && !base.is_empty() && is_subsequence(base, with);
            let caches = |layers: &[Layer]| {
                layers.iter().filter(|layer| layer.info().does == Does::Caches).count()
            };
            let is_cache = caches(with) > caches(base);
            (is_added && !is_cache).then(|| format!("arm {name}"))
        }
        Subject::Layer(layer) => {
            let word = layer.split('#').next().unwrap_or(layer);
            let is_cache = LayerInfo::named(word).is_ok_and(|info| info.does == Does::Caches);
            (!is_cache).then(|| format!("layer {layer}"))
        }
        Subject::Interaction(_) | Subject::Total | Subject::Level(_) => None,
    }
}

fn is_subsequence(base: &[Layer], with: &[Layer]) -> bool {
    let mut rest = with.iter();
    base.iter().all(|layer| rest.any(|other| other == layer))
}
