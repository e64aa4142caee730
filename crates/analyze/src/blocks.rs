//! Trials arranged in blocks, and the blocks that a change of regime leaves over.

use std::collections::BTreeMap;

use iotax_spec::Design;

use crate::analysis::Metric;
use crate::facts::TrialFacts;
use crate::stats::regime::{self, Shift, Slot};

/// The usable trials of one block, by arm.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    pub block: u32,
    pub trials: Vec<Option<&'a TrialFacts>>,
}

impl Block<'_> {
    /// Whether something can be learned from it: any trial of a plain run, the baseline and
    /// another arm of a comparison, all arms of a peel.
    pub fn is_comparable(&self, design: &Design) -> bool {
        let has = Option::is_some;
        match design {
            Design::Single => true,
            Design::Compare => {
                self.trials.first().is_some_and(has) && self.trials.iter().skip(1).any(has)
            }
            Design::Peel { .. } => self.trials.iter().all(has),
        }
    }
}

/// All blocks in order.
#[derive(Debug)]
pub(crate) struct Blocks<'a> {
    /// Those after the shift, if there was one.
    pub kept: Vec<Block<'a>>,
    /// Number of blocks dropped.
    pub dropped: usize,
    pub shift: Option<Shift>,
}

impl<'a> Blocks<'a> {
    /// Arranges the usable ones of `trials`, given in any order.
    pub fn new(trials: &'a [TrialFacts], arms: usize) -> Self {
        let usable = usable(trials);
        let shift = shift(&usable);
        Self::arranged(usable, arms, shift)
    }

    /// As [`Self::new`] for trials whose order is not known: no shift is looked for.
    pub fn unordered(trials: &'a [TrialFacts], arms: usize) -> Self {
        Self::arranged(usable(trials), arms, None)
    }

    fn arranged(usable: Vec<(&'a TrialFacts, usize)>, arms: usize, shift: Option<Shift>) -> Self {
        let mut blocks: BTreeMap<u32, Vec<Option<&TrialFacts>>> = BTreeMap::new();
        for (trial, arm) in usable {
            blocks.entry(trial.block).or_insert_with(|| vec![None; arms])[arm] = Some(trial);
        }
        let first_kept = shift.map_or(0, |shift| shift.first_kept_block);
        let (kept, dropped): (Vec<Block>, Vec<Block>) = blocks
            .into_iter()
            .map(|(block, trials)| Block { block, trials })
            .partition(|block| block.block as usize >= first_kept);
        Self { kept, dropped: dropped.len(), shift }
    }
}

/// In the order in which they ran, with their arms.
fn usable(trials: &[TrialFacts]) -> Vec<(&TrialFacts, usize)> {
    let mut usable: Vec<_> =
        trials.iter().filter(|t| t.usable).filter_map(|t| Some((t, t.arm?))).collect();
    usable.sort_by_key(|(trial, arm)| (trial.block, trial.slot, *arm));
    usable
}

/// The trials must be in the order in which they ran.
fn shift(trials: &[(&TrialFacts, usize)]) -> Option<Shift> {
    let slots: Vec<Slot> = trials
        .iter()
        .filter_map(|(trial, arm)| {
            let log_throughput = trial.value(Metric::Throughput)?.ln();
            Some(Slot { block: trial.block as usize, arm: *arm, log_throughput })
        })
        .collect();
    regime::common_shift(&slots)
}
