//! The operations that took longest.

use super::summary::LongOperation;
use crate::event::{Event, NO_FILE};

const REPORTED: usize = 10;

#[derive(Default)]
pub(super) struct Longest {
    /// The longest first; of equal ones, the earlier first.
    operations: Vec<LongOperation>,
}

impl Longest {
    pub(super) fn add(&mut self, event: &Event) {
        let latency_ns = event.latency_ns;
        let at = self.operations.partition_point(|other| other.latency_ns >= latency_ns);
        if at == REPORTED {
            return;
        }
        self.operations.truncate(REPORTED - 1);
        let operation = LongOperation {
            op: event.op,
            thread: event.thread,
            file: (event.file != NO_FILE).then_some(event.file),
            start_ns: event.start_ns(),
            latency_ns,
        };
        self.operations.insert(at, operation);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.operations.len()
    }

    pub(super) fn finish(self) -> Vec<LongOperation> {
        self.operations
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::event::Op;
    use crate::profile::testing::io;

    proptest! {
        #[test]
        fn the_longest_are_those_of_a_stable_sort(
            latencies in prop::collection::vec(0_u64..40, 0..60)
        ) {
            let mut longest = Longest::default();
            let mut all = Vec::new();
            for (number, latency_ns) in (0_u32..).zip(latencies) {
                let end_ns = 1_000 + u64::from(number);
                longest.add(&Event { thread: number, end_ns, latency_ns, ..io(Op::Read, 0, 1) });
                all.push((latency_ns, number));
            }
            all.sort_by_key(|(latency_ns, _)| std::cmp::Reverse(*latency_ns));
            all.truncate(REPORTED);
            let found: Vec<_> =
                longest.finish().iter().map(|one| (one.latency_ns, one.thread)).collect();
            prop_assert_eq!(found, all);
        }
    }
}
