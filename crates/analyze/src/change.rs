//! An effect that changed in the middle of the run. Its interval would mix two effects, so both
//! parts are shown, and a verdict can only come from the blocks since.

use iotax_stats::sample::count;
use iotax_stats::sequential::{Decision, StopReason};
use iotax_stats::verdict::Verdict;

use crate::analysis::{EffectChange, Estimate};
use crate::block_differences::BlockDifferences;
use crate::method::Method;

/// A change of effect, and what the blocks since it may be used for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    pub effect: EffectChange,
    /// The largest look at the data before the change was seen. Up to it verdicts could have
    /// fallen on blocks before the change, so it must not be used again on those since.
    spent: usize,
    /// Whether the run has room for a look beyond it.
    has_room: bool,
}

/// Searches the differences of `row` for a change, and leaves it with the blocks since.
pub(crate) fn split(method: &Method, row: &mut BlockDifferences) -> Option<Change> {
    let is_searched = row.may_change && row.gate.is_none() && row.stalled.is_none();
    let level = method.regime_level(row.metric).filter(|_| is_searched)?;
    let sequential = method.sequential(row.metric);
    let found = method.monitor(&row.log_ratios, level)?;
    let tax = |d: &[f64]| sequential.conclude(d).cost.map(Estimate::from);
    let (before, since) = row.log_ratios.split_at(found.before);
    let effect = EffectChange {
        after_block: row.blocks[found.before - 1] + 1,
        blocks: [before.len(), since.len()].map(count),
        before: tax(before),
        since: tax(since),
        in_depth_check: false,
    };
    let design = method.design();
    let spent = design.look_before(found.seen_at);
    let left = design.last_look().saturating_sub(found.before);
    let has_room = design.look_after(spent).is_some_and(|look| look <= left);
    row.forget(found.before);
    Some(Change { effect, spent, has_room })
}

impl Change {
    pub(crate) fn spent(change: Option<&Self>) -> usize {
        change.map_or(0, |change| change.spent)
    }

    /// Turns what the blocks since would say alone into what may be said.
    pub(crate) fn restrict(&self, decision: &mut Decision) {
        let is_spent = decision.blocks <= self.spent;
        if is_spent || decision.verdict == Verdict::Undecided {
            decision.verdict = Verdict::EffectChanged;
        }
        if is_spent {
            decision.projection = None;
            decision.stop = (!self.has_room).then_some(StopReason::Futile);
        }
    }
}
