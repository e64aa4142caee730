//! Checks of what was written, between the writes (fio: `verify_backlog`).

use crate::engine::io::{Io, Op};

/// After every N writes, N reads check the same places in the same order.
pub(super) struct Backlog {
    written: Box<[Io]>,
    len: usize,
    /// Of these, those that are checked; all are when none is to be checked.
    checked: usize,
}

impl Backlog {
    /// For this many writes.
    pub(super) fn new(every: u32) -> Self {
        let written = vec![Io::SYNC; every as usize].into_boxed_slice();
        Self { written, len: 0, checked: 0 }
    }

    /// The check that comes next, if it is time for one.
    #[inline]
    pub(super) fn due(&mut self) -> Option<Io> {
        if self.len < self.written.len() {
            return None;
        }
        let io = self.written[self.checked];
        self.checked += 1;
        if self.checked == self.len {
            (self.len, self.checked) = (0, 0);
        }
        Some(Io { op: Op::Read, check: true, ..io })
    }

    /// Remembers an I/O that was drawn.
    #[inline]
    pub(super) fn drawn(&mut self, io: Io) {
        if io.op == Op::Write {
            self.written[self.len] = io;
            self.len += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a queue: each full lot of writes is checked, in its order, before anything else.
        #[test]
        fn writes_are_checked_once_and_in_order(
            every in 1..9_u32, kinds in prop::collection::vec(0..3_u8, 1..200)
        ) {
            let mut backlog = Backlog::new(every);
            let mut queue = VecDeque::new();
            for (nth, kind) in (0..).zip(kinds) {
                prop_assert_eq!(backlog.due(), None);
                let op = [Op::Write, Op::Read, Op::Trim][usize::from(kind)];
                let io = Io { offset: nth * 4096, bytes: 4096, op, ..Io::SYNC };
                backlog.drawn(io);
                if op == Op::Write {
                    queue.push_back(Io { op: Op::Read, check: true, ..io });
                }
                if queue.len() == every as usize {
                    for check in queue.drain(..) {
                        prop_assert_eq!(backlog.due(), Some(check));
                    }
                }
            }
        }
    }
}
