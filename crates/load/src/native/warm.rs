//! Before the start: the cache that a job wants warm.

use iotax_vdisk::Clock;

use crate::engine::io::{Io, Op};
use crate::engine::stop::StopFlags;
use crate::engine::thread::Thread;
use crate::engine::{Deadline, Engine, Submitted};

/// Reads what `thread` works on through `engine`, block by block, as it would itself. What cannot be
/// read will be told by the measurement itself.
pub(super) fn pre_read<E: Engine, C: Clock + ?Sized>(
    engine: &mut E,
    clock: &C,
    thread: &Thread<'_>,
    flags: StopFlags<'_>,
) {
    let (span, block_bytes) = (thread.span, thread.job.max_block_bytes());
    let blocks = span.bytes / u64::from(block_bytes);
    let rest = u32::try_from(span.bytes % u64::from(block_bytes)).expect("less than a block");
    for file in 0..thread.file_count() {
        for block in 0..=blocks {
            let bytes = if block < blocks { block_bytes } else { rest };
            if flags.raised() || bytes == 0 {
                break;
            }
            let offset = span.start + block * u64::from(block_bytes);
            read(engine, clock, Io { offset, bytes, file, op: Op::Read, check: false });
        }
    }
}

fn read<E: Engine, C: Clock + ?Sized>(engine: &mut E, clock: &C, io: Io) {
    let mut through = engine.submit(0, io) != Submitted::InFlight;
    while !through {
        let now_ns = clock.now_ns();
        engine.wait(Deadline { now_ns, until_ns: now_ns + 100_000_000, precise: false });
        engine.reap(clock.now_ns(), |_, _| through = true);
    }
}
