//! Keeps the nodes in order, and each pause until it is known what else ends it.

use std::collections::VecDeque;

use super::{Begin, Mark, Node, Placed, Step};

/// How long the first node is kept back, in recorded time.
const KEPT_NS: u64 = 100_000_000;
/// Nodes that wait behind one that is kept back.
const MOST_BEHIND: usize = 1 << 14;

#[derive(Default)]
pub(super) struct Outbox {
    slots: VecDeque<Slot>,
    /// Slots that are no longer there.
    taken: usize,
}

struct Slot {
    placed: Placed,
    /// Until when it is kept back.
    until_ns: u64,
    /// A signal that ends the pause before the node.
    signal: Option<Mark>,
}

/// A node that is kept back because its thread pauses before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept(usize);

impl Outbox {
    pub(super) fn extend(&mut self, all: impl IntoIterator<Item = Placed>) {
        let slot = |placed| Slot { placed, until_ns: 0, signal: None };
        self.slots.extend(all.into_iter().map(slot));
    }

    /// The last node is kept back.
    pub(super) fn keep_last(&mut self, now_ns: u64) -> Option<Kept> {
        self.slots.back_mut()?.until_ns = now_ns.saturating_add(KEPT_NS);
        Some(Kept(self.taken + self.slots.len() - 1))
    }

    /// The next wait of its track is this step, if it is a wait. So the signal also ends the pause.
    pub(super) fn settle(&mut self, Kept(at): Kept, next: &Step) {
        let slot = at.checked_sub(self.taken).and_then(|at| self.slots.get_mut(at));
        let Some(slot) = slot else { return };
        slot.until_ns = 0;
        if let &Step::Receive { from, count, at_most_ns: None } = next {
            slot.signal = Some(Mark { track: from, count });
        }
    }

    /// The next node, unless it is kept back at this time.
    pub(super) fn pop(&mut self, now_ns: u64) -> Option<Placed> {
        let is_full = self.slots.len() > MOST_BEHIND;
        let first = self.slots.front_mut()?;
        if first.until_ns > now_ns && !is_full {
            return None;
        }
        if let (Some(signal), Begin::After { gap_ns }) =
            (first.signal.take(), first.placed.node.begin)
        {
            let burn_ns = first.placed.node.burn_ns;
            let computed_ns = u64::from(burn_ns);
            let Mark { track: from, count } = signal;
            let at_most_ns = Some(gap_ns.saturating_sub(computed_ns));
            let begin = Begin::After { gap_ns: computed_ns };
            let node = Node { begin, burn_ns, step: Step::Receive { from, count, at_most_ns } };
            first.placed.node.begin = Begin::After { gap_ns: 0 };
            first.placed.node.burn_ns = 0;
            return Some(Placed { node, ..first.placed });
        }
        self.taken += 1;
        self.slots.pop_front().map(|slot| slot.placed)
    }
}
