//! The blocks of one comparison, as figures to conclude from.

use iotax_experiment::Subject;
use iotax_stats::sequential::Series;
use iotax_stats::verdict::Verdict;

use crate::blocks::Blocks;
use crate::compare;
use crate::facts::TrialFacts;
use crate::method::FIRST_LOOK;
use crate::metrics::{Metric, Trait};
use crate::resolution;
use crate::slice_figures::looked_at;
use crate::stalled::{self, StalledBlocks};

/// The data of one comparison: one value per complete block, in block order.
#[derive(Debug, Clone)]
pub(crate) struct BlockDifferences {
    pub subject: Subject,
    pub metric: Metric,
    pub blocks: Vec<u32>,
    /// `ln(with / without)`, or a contrast of logarithms that means the same.
    pub log_ratios: Vec<f64>,
    /// Logarithms of the baseline's figures; empty where there is no single one.
    pub log_base: Vec<f64>,
    /// Whether the baseline's trial came before the arm's; empty where that is not known, or where
    /// more than two trials make a difference.
    pub base_first: Vec<bool>,
    /// Standard deviation of a block difference that the single trials bear at best.
    pub resolution: f64,
    /// With minus without, for times; empty for throughput.
    pub differences_ns: Vec<f64>,
    /// A word that overrules the interval.
    pub gate: Option<Verdict>,
    /// Whether base and arm are real arms, whose own figures can be shown.
    pub is_pair: bool,
    /// Whether each figure is what a slice adds to that of all of them.
    pub are_of_all: bool,
    /// Whether it is searched for a change of its effect.
    pub may_change: bool,
    /// The blocks by what they completed, if some trial of them completed nothing.
    pub stalled: Option<StalledBlocks>,
}

impl BlockDifferences {
    pub(crate) fn new(subject: Subject, metric: Metric) -> Self {
        Self {
            subject,
            metric,
            blocks: Vec::new(),
            log_ratios: Vec::new(),
            log_base: Vec::new(),
            base_first: Vec::new(),
            resolution: 0.0,
            differences_ns: Vec::new(),
            gate: None,
            is_pair: true,
            are_of_all: false,
            may_change: true,
            stalled: None,
        }
    }

    /// Takes in the blocks that have a trial of the baseline and of the arm: those where both have
    /// the figure, and those where some completed nothing.
    pub(crate) fn fill(&mut self, pairs: &[(u32, [&TrialFacts; 2])]) {
        let mut known = Vec::new();
        let is_stalled = self.metric.has(Trait::Stalls);
        let are_few = is_stalled && stalled::are_few(pairs);
        // A median has no part of what did not end, and a rate is that of all slices together.
        let join = are_few && self.metric != Metric::P50 && self.metric.parts().is_none();
        let joined = if join { stalled::joined(pairs) } else { Vec::new() };
        let joined: Vec<(u32, [&TrialFacts; 2])> =
            joined.iter().map(|(block, pair)| (*block, pair.each_ref())).collect();
        let pairs = if join { joined.as_slice() } else { pairs };
        let all = pairs;
        self.are_of_all = self.metric.is_of_all(pairs.iter().flat_map(|(_, pair)| *pair));
        let pairs = if self.are_of_all { &pairs[..looked_at(pairs.len())] } else { pairs };
        let both: Vec<[&TrialFacts; 2]> = pairs.iter().map(|(_, pair)| *pair).collect();
        for ((block, pair), figures) in pairs.iter().zip(self.metric.of_pairs(&both)) {
            if let Some([x, y]) = figures {
                self.push(*block, x, y);
                known.push(*pair);
            }
        }
        self.in_order(known.iter().map(|[base, with]| Some(base.place? < with.place?)));
        self.resolution = resolution::of(self.metric, &known);
        self.gate = compare::gate(self.metric, &known);
        self.stalled = if is_stalled && !are_few { StalledBlocks::of(all) } else { None };
    }

    /// Says of each block whether the baseline came first, if that is known of all.
    pub(crate) fn in_order(&mut self, base_first: impl Iterator<Item = Option<bool>>) {
        self.base_first = base_first.collect::<Option<Vec<bool>>>().unwrap_or_default();
    }

    /// The number of blocks before which nothing is concluded: by then each order was there twice,
    /// so that a trial's place in its block cannot pass for a difference.
    pub(crate) fn first_look(&self) -> usize {
        let both_twice = |n: usize| {
            let base = self.base_first[..n].iter().filter(|first| **first).count();
            base >= 2 && n - base >= 2
        };
        let blocks = self.base_first.len();
        if blocks == 0 {
            return FIRST_LOOK;
        }
        (FIRST_LOOK..=blocks).find(|n| both_twice(*n)).unwrap_or(usize::MAX)
    }

    /// Its differences, as far as they may be looked at.
    pub(crate) fn series(&self) -> Series<'_> {
        Series {
            d: &self.log_ratios,
            first_look: self.first_look(),
            least_sd: self.resolution,
            is_trimmed: self.metric.has(Trait::Trimmed),
            are_of_all: self.are_of_all,
        }
    }

    /// Adds a block with the baseline's and the arm's positive figures.
    pub(crate) fn push(&mut self, block: u32, base: f64, with: f64) {
        self.blocks.push(block);
        self.log_ratios.push((with / base).ln());
        self.log_base.push(base.ln());
        if self.metric.is_time() {
            self.differences_ns.push(with - base);
        }
    }

    /// Leaves out the first `count` blocks.
    pub(crate) fn forget(&mut self, count: usize) {
        self.blocks.drain(..count);
        self.log_ratios.drain(..count);
        // Some rows have no figures of these kinds.
        self.log_base.drain(..count.min(self.log_base.len()));
        self.base_first.drain(..count.min(self.base_first.len()));
        self.differences_ns.drain(..count.min(self.differences_ns.len()));
    }

    /// Adds a block of a contrast, unless it is not a number there.
    pub(crate) fn push_contrast(&mut self, block: u32, log_ratio: f64, difference_ns: f64) {
        if !log_ratio.is_finite() {
            return;
        }
        self.blocks.push(block);
        self.log_ratios.push(log_ratio);
        if self.metric.is_time() {
            self.differences_ns.push(difference_ns);
        }
    }
}

/// One row per arm but the first, for `metric`. Only blocks in which both the baseline and the
/// arm have the figure count.
pub(crate) fn of_arms(
    blocks: &Blocks<'_>,
    names: &[String],
    metric: Metric,
) -> Vec<BlockDifferences> {
    (1..names.len())
        .map(|arm| {
            let mut row = BlockDifferences::new(Subject::Arm(names[arm].clone()), metric);
            let pairs = blocks.all.iter().filter_map(|block| block.pair(arm));
            row.fill(&pairs.collect::<Vec<_>>());
            row
        })
        .collect()
}
