//! Events for tests.

use crate::event::{Call, Event, Op, Thread};
use crate::head::{Head, Source};

/// An operation of thread 0 on file 0 that completes in full.
pub(super) fn io(op: Op, offset: u64, length: u64) -> Event {
    let result = if op.moves_data() { length.cast_signed() } else { 0 };
    Event { file: 0, offset, length, result, ..Event::new(op) }
}

/// `by` wakes `waits`.
pub(super) fn wake(by: Thread, waits: Thread, waited_ns: u64, end_ns: u64) -> Event {
    Event {
        thread: by,
        detail: u64::from(waits),
        end_ns,
        latency_ns: waited_ns,
        ..io(Op::Wake, Call::pair(Call::Futex as u64, Call::Futex as u64), 0)
    }
}

pub(super) fn head() -> Head {
    Head::new("iotax 0.1.0", Source::Bpf)
}
