//! Everything that the loop of a thread needs, made before the start.

use iotax_vdisk::Clock;
use rustix::io::Errno;

use super::drive::{Slots, Worker};
use super::io_errors::IoErrors;
use super::latency_target::Search;
use crate::engine::access::Accesses;
use crate::engine::io::{Io, Op, Outcome};
use crate::engine::stop::StopFlags;
use crate::engine::thread::{SEED_OF_DATA, Thread};
use crate::engine::window::Tally;
use crate::engine::{Deadline, Engine, Submitted};
use crate::verify::{Contents, WriteLog, WriteVerifier};

/// Everything but the engine. `tally` is made when the start is known.
pub(super) fn worker<'t>(thread: &Thread<'_>, start_ns: u64, tally: Tally<'t>) -> Worker<'t> {
    Worker {
        accesses: Accesses::of_thread(thread.job, thread.span, thread.seed, &thread.seat),
        // A peer that sends paces itself.
        schedule: thread.schedule(start_ns).filter(|_| !thread.takes_datagrams()),
        tally,
        verifier: verifier(thread, start_ns),
        verify_ends: thread.job.verify_ends,
        io_errors: IoErrors::new(thread.names()),
        slots: Slots::new(thread.depth()),
        span: thread.span,
        think_ns: thread.job.think.map_or(0, |think| think.time_ns),
        resume_ns: 0,
        search: thread.job.latency_target.map(|of| Search::new(of, thread.depth(), start_ns)),
        flow: None,
    }
}

fn verifier(thread: &Thread<'_>, start_ns: u64) -> WriteVerifier {
    let seed = thread.seed ^ SEED_OF_DATA;
    let contents = thread.job.content.as_ref().map(|content| {
        let sizes = thread.job.write_block_sizes.as_ref().unwrap_or(&thread.job.block_sizes);
        let writes = thread.job.size_bytes / u64::from(sizes.min_bytes().max(1));
        Contents::new(content, thread.seed, &thread.sharing, writes)
    });
    let verifier = if thread.job.verify_apart && thread.job.reads() {
        WriteVerifier::reading(thread.job.granule_bytes())
    } else if thread.marks_writes() {
        let granule = thread.job.granule_bytes();
        // The start tells this run from earlier ones with the same seed, and the number added
        // to it one file from another.
        let runs = (start_ns..).take(thread.files.len());
        let write_log = |run| WriteLog::new(run, thread.number, thread.span, granule);
        WriteVerifier::verifying(seed, runs.map(write_log).collect())
    } else {
        WriteVerifier::new(seed)
    };
    verifier.with(contents)
}

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
            let read = Io { offset, bytes, file, op: Op::Read, check: false };
            let _ = alone(engine, clock, read);
        }
    }
}

/// Does one I/O while no other is under way.
pub(super) fn alone<E: Engine, C: Clock + ?Sized>(engine: &mut E, clock: &C, io: Io) -> Outcome {
    let mut end = match engine.submit(0, io) {
        Submitted::Done(outcome) => Some(outcome),
        Submitted::InFlight => None,
        Submitted::Full => Some(Err(Errno::BUSY)),
    };
    loop {
        if let Some(outcome) = end {
            return outcome;
        }
        let now_ns = clock.now_ns();
        engine.wait(Deadline { now_ns, until_ns: now_ns + 100_000_000, precise: false });
        engine.reap(clock.now_ns(), |_, outcome| end = Some(outcome));
    }
}
