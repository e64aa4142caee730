//! The costs of layers in nanoseconds per I/O.

use iotax_stats::factorial::contrast;
use iotax_stats::sample::count;

use super::{Peel, times_per_io};
use crate::analysis::{Attribution, Estimate, Interaction, LayerCost};
use crate::compare;
use crate::conclude::Conclusion;
use crate::facts::TrialFacts;
use crate::method::Method;
use crate::metrics::Metric;

impl Peel<'_> {
    /// The attribution; `interactions` are the conclusions of [`Peel::interactions`].
    pub(crate) fn attribution(&self, method: &Method, interactions: &[Conclusion]) -> Attribution {
        let times: Vec<Vec<f64>> = self.blocks.iter().map(|(_, t)| times_per_io(t)).collect();
        let cost = |weights: &[f64]| {
            let per_block = times.iter().map(|t| contrast(t, weights));
            method.estimate(&per_block.filter(|cost| cost.is_finite()).collect::<Vec<_>>())
        };
        let looked = method.design().look_at_or_before(times.len()).unwrap_or(times.len());
        let bare: Vec<f64> =
            times[..looked].iter().map(|t| t[self.layout.bare]).filter(|t| t.is_finite()).collect();
        let layers = self.layout.layers.iter().enumerate().map(|(i, layer)| LayerCost {
            layer: layer.clone(),
            first_in_ns: cost(&self.layout.first_in[i]),
            shapley_ns: cost(&self.layout.average[i]).filter(|_| self.layout.is_full),
            last_in_ns: cost(&self.layout.last_in[i]),
            delta_p99_ns: self.delta_p99(method, self.layout.without[i]),
        });
        let pairs = self.layout.interactions.iter().enumerate().map(|(i, pair)| Interaction {
            layers: pair.layers.map(|layer| self.layout.layers[layer].clone()),
            cost_ns: cost(&pair.weights),
            verdict: interactions.get(i).map(|found| found.comparison.verdict),
        });
        Attribution {
            bare_ns: bare.iter().sum::<f64>() / bare.len().max(1) as f64,
            layers: layers.collect(),
            interactions: pairs.collect(),
            total_ns: cost(&self.layout.total),
            blocks: count(looked),
        }
    }

    /// p99 of the full stack minus that of the stack without one layer; `None` unless both have
    /// enough I/Os per trial and keep up with the offered rate.
    fn delta_p99(&self, method: &Method, without: usize) -> Option<Estimate> {
        let pairs: Vec<[&TrialFacts; 2]> =
            self.blocks.iter().map(|(_, t)| [t[self.layout.full], t[without]]).collect();
        let first = pairs.first().and_then(|[with, _]| with.primary());
        let waits_for_syncs = first.is_some_and(|job| job.waits_for_syncs);
        let metric = if waits_for_syncs { Metric::SyncP99 } else { Metric::P99 };
        if compare::gate(metric, &pairs).is_some() {
            return None;
        }
        let differences = pairs
            .iter()
            .filter_map(|[with, without]| Some(metric.of(with)? - metric.of(without)?))
            .collect::<Vec<_>>();
        method.estimate(&differences)
    }

    /// Layers whose cost depends on the others, in a design that cannot say on which.
    pub(crate) fn suspects(&self, method: &Method, metric: Metric) -> Vec<&str> {
        let count = if self.layout.is_full { 0 } else { self.layout.layers.len() };
        (0..count)
            .filter(|i| self.depends_on_order(method, metric, *i))
            .map(|i| self.layout.layers[i].as_str())
            .collect()
    }
}
