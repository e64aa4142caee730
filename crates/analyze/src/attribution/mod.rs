//! A peel: what each layer costs, and which pairs of layers cost more or less together.
//!
//! Costs are on the scale of time per I/O, where serial layers add. The tax of a layer is its
//! contrast on the scale of logarithms instead: there the taxes of all layers multiply to the
//! tax of the full stack, `1 - total = product of (1 - tax)`.

mod costs;
mod layout;

use crate::block_differences::BlockDifferences;
use crate::blocks::Blocks;
use crate::compare;
use crate::conclude::{Conclusion, conclude};
use crate::facts::TrialFacts;
use crate::method::Method;
use crate::metrics::Metric;
use crate::resolution;
use iotax_experiment::Subject;
use iotax_stats::factorial::contrast;
use iotax_stats::rci::Interval;
use iotax_stats::verdict::Verdict;
pub(crate) use layout::Layout;
use layout::{Pair, Weights};

/// The complete blocks of a peel: every contrast needs several arms, so a block in which one
/// failed does not count.
#[derive(Debug)]
pub(crate) struct Peel<'a> {
    layout: &'a Layout,
    blocks: Vec<(u32, Vec<&'a TrialFacts>)>,
}

impl<'a> Peel<'a> {
    pub(crate) fn new(layout: &'a Layout, blocks: &Blocks<'a>) -> Self {
        let complete = blocks.all.iter().filter_map(|block| {
            let trials: Option<Vec<_>> = block.trials.iter().copied().collect();
            Some((block.block, trials?))
        });
        Self { layout, blocks: complete.collect() }
    }

    /// One conclusion per layer, then the total.
    pub(crate) fn layers(&self, method: &Method, metric: Metric) -> Vec<Conclusion> {
        let mut layers = self.family(method, metric, &self.layout.average);
        if !self.layout.is_full {
            self.show_ranges(method, metric, &mut layers);
        }
        let mut total = BlockDifferences::new(Subject::Total, metric);
        let ends = [self.layout.bare, self.layout.full];
        let pairs = self.blocks.iter().map(|(block, trials)| (*block, ends.map(|arm| trials[arm])));
        total.fill(&pairs.collect::<Vec<_>>());
        total.gate = self.gate(metric);
        layers.extend(conclude(method, vec![total]));
        layers
    }

    /// One conclusion per pair of layers: the pair's throughput against what it would be if their
    /// costs added up. `metric`: the one that tells of time per I/O.
    pub(crate) fn interactions(&self, method: &Method, metric: Metric) -> Vec<Conclusion> {
        let rows = self.layout.interactions.iter().map(|pair| self.interaction(pair, metric));
        conclude(method, rows.collect())
    }

    fn interaction(&self, pair: &Pair, metric: Metric) -> BlockDifferences {
        let layers = pair.layers.map(|i| self.layout.layers[i].clone());
        let mut row = BlockDifferences::new(Subject::Interaction(layers), metric);
        (row.is_pair, row.may_change) = (false, false);
        for (block, trials) in &self.blocks {
            let times = times_per_io(trials);
            let together = times[pair.arms[2]];
            let excess = contrast(&times, &pair.weights);
            let slowdown = (together / (together - excess)).ln();
            let log_ratio = if metric.is_time() { slowdown } else { -slowdown };
            row.push_contrast(*block, log_ratio, excess);
        }
        row.gate = self.gate(metric);
        row
    }

    fn family(&self, method: &Method, metric: Metric, weights: &[Weights]) -> Vec<Conclusion> {
        let figures = self.figures(metric);
        let rows = self.layout.layers.iter().zip(weights).map(|(layer, weights)| {
            let mut row = BlockDifferences::new(Subject::Layer(layer.clone()), metric);
            row.is_pair = false;
            for ((block, _), values) in self.blocks.iter().zip(&figures) {
                let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
                let log_ratio = contrast(&logs, weights);
                row.push_contrast(*block, log_ratio, contrast(values, weights));
            }
            row.gate = self.gate(metric);
            let trials = self.blocks.iter().flat_map(|(_, trials)| trials.iter().copied());
            row.resolution = resolution::of_contrast(metric, trials.clone());
            row.are_of_all = !metric.is_speed() && metric.is_of_all(trials);
            row
        });
        conclude(method, rows.collect())
    }

    /// In a screening design one number would hide what was not measured: where last-in and
    /// first-in differ, the row gets their joint range and no estimate.
    fn show_ranges(&self, method: &Method, metric: Metric, layers: &mut [Conclusion]) {
        let first = self.family(method, metric, &self.layout.first_in);
        let last = self.family(method, metric, &self.layout.last_in);
        for (i, layer) in layers.iter_mut().enumerate() {
            if !self.depends_on_order(method, metric, i) {
                continue;
            }
            let (first, last) = (&first[i].decision, &last[i].decision);
            let (Some(a), Some(b)) = (first.cost, last.cost) else { continue };
            let range = Interval { mean: f64::NAN, lo: a.lo.min(b.lo), hi: a.hi.max(b.hi) };
            let comparison = &mut layer.comparison;
            if comparison.tax.take().is_some() {
                (comparison.lo, comparison.hi) = (Some(range.lo), Some(range.hi));
                comparison.verdict = Verdict::of(&range, method.margin);
                comparison.holds_after_holm &= comparison.verdict.is_decided();
                comparison.difference_ns = None;
            }
        }
    }

    fn depends_on_order(&self, method: &Method, metric: Metric, layer: usize) -> bool {
        let (first, last) = (&self.layout.first_in[layer], &self.layout.last_in[layer]);
        let costs = if metric.is_time() {
            self.figures(metric)
        } else {
            self.blocks.iter().map(|(_, trials)| times_per_io(trials)).collect()
        };
        let per_block: Vec<f64> = costs
            .iter()
            .map(|costs| contrast(costs, last) - contrast(costs, first))
            .filter(|difference| difference.is_finite())
            .collect();
        method.estimate(&per_block).is_some_and(|e| e.lo > 0.0 || e.hi < 0.0)
    }

    /// By block, one per arm; not a number where a trial has none.
    fn figures(&self, metric: Metric) -> Vec<Vec<f64>> {
        let arms = self.blocks.first().map_or(0, |(_, trials)| trials.len());
        let figures =
            metric.by_block(self.blocks.len(), arms, |block, arm| Some(self.blocks[block].1[arm]));
        let known = |row: Vec<Option<f64>>| {
            row.into_iter().map(|figure| figure.unwrap_or(f64::NAN)).collect()
        };
        figures.into_iter().map(known).collect()
    }

    fn gate(&self, metric: Metric) -> Option<Verdict> {
        let trials: Vec<&[&TrialFacts]> = self.blocks.iter().map(|(_, t)| t.as_slice()).collect();
        compare::gate(metric, &trials)
    }
}

/// Time per I/O of each arm in nanoseconds; not a number where a trial has none.
fn times_per_io(trials: &[&TrialFacts]) -> Vec<f64> {
    trials.iter().map(|trial| trial.time_per_io_ns().unwrap_or(f64::NAN)).collect()
}
