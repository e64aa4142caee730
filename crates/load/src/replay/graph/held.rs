//! Nodes that are kept back until it is known what their threads do next.

use iotax_trace::Op;

use super::commits::{RELEASE_NS, SyncWait};
use super::{Begin, Node, Placed, Step, Track};

/// A node that is kept back until it is known what its thread does next.
#[derive(Clone, Copy)]
pub(super) struct Held {
    pub node: Node,
    /// The end in the recording.
    pub end_ns: u64,
    /// It is a wait for a sync by another thread.
    pub wait: Option<SyncWait>,
    /// A wait before it, which counts only if the node begins no sync.
    pub after: Option<Node>,
}

impl Held {
    /// Its nodes, in order.
    pub(super) fn placed(mut self, track: Track) -> impl Iterator<Item = Placed> {
        self.node = self.settled();
        // The turn to write and sync takes the place of the wait.
        if matches!(&self.node.step, Step::Io(io) if io.is_paired || io.op != Op::Write)
            && let Some(wait) = self.after.take()
        {
            self.node.add(&wait);
        }
        self.after.into_iter().chain([self.node]).map(move |node| Placed { track, node })
    }

    /// Its node: a wait that a sync covered is for any sync.
    const fn settled(&self) -> Node {
        match self.wait {
            Some(SyncWait { file, is_covered: true }) => {
                Node { step: Step::Commit(file), ..self.node }
            }
            _ => self.node,
        }
    }

    /// Whether this replaces a wait for a sync: the thread issues the next sync itself, or it was
    /// not covered and waits on.
    pub(super) fn continues(&mut self, before: &Self) -> bool {
        let Some(first) = before.wait else { return false };
        let soon =
            |node: &Node| matches!(node.begin, Begin::After { gap_ns } if gap_ns <= RELEASE_NS);
        if !matches!(before.node.begin, Begin::After { .. }) || !soon(&self.node) {
            return false;
        }
        match (&self.node.step, self.wait) {
            (Step::Receive { .. }, Some(wait)) if wait.file == first.file && !first.is_covered => {
                // It asked when its first wait began.
                self.node.begin = before.node.begin;
                self.node.burn_ns = self.node.burn_ns.saturating_add(before.node.burn_ns);
                true
            }
            (Step::Io(io), None) if io.file == first.file => {
                let is_one = matches!(io.op, Op::Write | Op::Fsync | Op::Fdatasync);
                self.after = is_one.then(|| before.settled());
                is_one
            }
            _ => false,
        }
    }
}

impl Node {
    /// Adds the time before a node that this one replaces.
    fn add(&mut self, replaced: &Self) {
        self.burn_ns = self.burn_ns.saturating_add(replaced.burn_ns);
        if let (Begin::After { gap_ns }, Begin::After { gap_ns: before_ns }) =
            (&mut self.begin, replaced.begin)
        {
            *gap_ns = gap_ns.saturating_add(before_ns);
        }
    }
}

/// Marks a write and the sync of the same file that follows it.
pub(super) fn pair(write: &mut Node, sync: &mut Node) {
    if let (Step::Io(write), Step::Io(sync)) = (&mut write.step, &mut sync.step)
        && write.file == sync.file
        && matches!(sync.op, Op::Fsync | Op::Fdatasync)
    {
        write.is_paired = true;
        sync.is_paired = true;
    }
}
