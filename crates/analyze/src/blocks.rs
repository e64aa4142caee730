//! Trials arranged in blocks.

use std::collections::BTreeMap;

use iotax_experiment::Design;
use iotax_stats::sample::mean;

use crate::facts::TrialFacts;
use crate::metrics::Metric;

/// The usable trials of one block, by arm.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    pub block: u32,
    pub trials: Vec<Option<&'a TrialFacts>>,
}

impl<'a> Block<'a> {
    /// The trials of the baseline and of `arm`, if it has both.
    pub(crate) fn pair(&self, arm: usize) -> Option<(u32, [&'a TrialFacts; 2])> {
        Some((self.block, [self.trials[0]?, self.trials[arm]?]))
    }

    /// Whether something can be learned from it: any trial of a plain run, the baseline and
    /// another arm of a comparison, two nodes of a fleet, all arms of a peel.
    pub(crate) fn is_comparable(&self, design: &Design) -> bool {
        let has = Option::is_some;
        match design {
            Design::Single => true,
            Design::Compare => {
                self.trials.first().is_some_and(has) && self.trials.iter().skip(1).any(has)
            }
            Design::Fleet => self.trials.iter().flatten().nth(1).is_some(),
            Design::Peel { .. } => self.trials.iter().all(has),
        }
    }
}

/// All blocks in order.
#[derive(Debug)]
pub(crate) struct Blocks<'a> {
    pub all: Vec<Block<'a>>,
}

impl<'a> Blocks<'a> {
    /// Arranges the usable ones of `trials`, given in any order, that are compared.
    pub(crate) fn new(
        trials: &'a [TrialFacts],
        arms: usize,
        is_compared: impl Fn(&TrialFacts) -> bool,
    ) -> Self {
        let mut usable: Vec<_> = trials
            .iter()
            .filter(|t| t.usable && is_compared(t))
            .filter_map(|t| Some((t, t.arm?)))
            .collect();
        usable.sort_by_key(|(trial, arm)| (trial.block, trial.slot, *arm));
        let mut blocks: BTreeMap<u32, Vec<Option<&TrialFacts>>> = BTreeMap::new();
        for (trial, arm) in usable {
            blocks.entry(trial.block).or_insert_with(|| vec![None; arms])[arm] = Some(trial);
        }
        Self { all: blocks.into_iter().map(|(block, trials)| Block { block, trials }).collect() }
    }

    /// What all arms share, block by block: the mean logarithm of a figure, each arm's own mean
    /// over the run taken out, so that an arm that ended early or missed a block moves nothing.
    /// With the numbers of the blocks.
    pub(crate) fn levels(&self, metric: Metric) -> (Vec<u32>, Vec<f64>) {
        let arms = self.all.first().map_or(0, |block| block.trials.len());
        let log =
            |block: &Block<'_>, arm: usize| Some(metric.of(block.trials[arm].as_ref()?)?.ln());
        let own: Vec<f64> = (0..arms)
            .map(|arm| mean(&self.all.iter().filter_map(|b| log(b, arm)).collect::<Vec<f64>>()))
            .collect();
        let of_block = |block: &Block<'_>| {
            let logs = (0..arms).filter_map(|arm| Some(log(block, arm)? - own[arm]));
            let logs: Vec<f64> = logs.collect();
            (!logs.is_empty()).then(|| (block.block, mean(&logs)))
        };
        self.all.iter().filter_map(of_block).unzip()
    }
}
