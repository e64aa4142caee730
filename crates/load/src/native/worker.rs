//! One thread of the load, from its setup to its record.

use std::thread;

use iotax_experiment::Engine as EngineKind;
use iotax_vdisk::Clock;
use rustix::io::Errno;

use super::drive::{Slots, Worker, drive};
use super::io_errors::IoErrors;
use super::latency_target::Search;
use super::placement;
use crate::engine::access::Accesses;
use crate::engine::engines::io_uring::{Made, Uring};
use crate::engine::engines::libaio::Libaio;
use crate::engine::engines::mmap::Mmap;
use crate::engine::engines::null::Null;
use crate::engine::engines::psync::Psync;
use crate::engine::engines::tcp_connect::TcpConnect;
use crate::engine::engines::tcp_rr::TcpRr;
use crate::engine::engines::tcp_stream::TcpStream;
use crate::engine::engines::udp_stream::{UdpStream, UdpStreamBack};
use crate::engine::engines::vdisk::Vdisk;
use crate::engine::gate::Ticket;
use crate::engine::stop::StopFlags;
use crate::engine::supplies::Priorities;
use crate::engine::thread::{POLL_INTERVAL, SEED_OF_DATA, SharedState, Thread, ThreadRecord};
use crate::engine::window::{Tally, Turn};
use crate::engine::{Deadline, Engine, Io, OfFlow, Op, Outcome, Submitted};
use crate::error::Error;
use crate::target::IoTarget;
use crate::verify::{Contents, Findings, ReadBack, WriteLog, WriteVerifier};
use crate::{layout, tree};

/// Performs `thread`. `None` if another thread failed before the start.
pub(super) fn perform(
    shared: &SharedState<'_>,
    thread: &Thread<'_>,
    ticket: Ticket<'_>,
) -> Result<Option<ThreadRecord>, Error> {
    // First of all, so that its memory is near them too.
    placement::bind(thread.job, &thread.target)?;
    placement::settle(thread.job)?;
    let clock = &shared.clock;
    match (thread.target, thread.engine) {
        (_, EngineKind::Null) => drive_with(shared, clock, thread, ticket, Null::of(thread)?),
        (_, EngineKind::Metadata) => tree::perform(shared, thread, ticket),
        (_, EngineKind::TcpStream) => {
            drive_with(shared, clock, thread, ticket, TcpStream::of(thread)?)
        }
        (_, EngineKind::TcpRr) => drive_with(shared, clock, thread, ticket, TcpRr::of(thread)?),
        (_, EngineKind::TcpConnect) => {
            drive_with(shared, clock, thread, ticket, TcpConnect::of(thread)?)
        }
        (_, EngineKind::UdpStream) if thread.job.reads() => {
            drive_with(shared, clock, thread, ticket, UdpStreamBack::of(thread)?)
        }
        (_, EngineKind::UdpStream) => {
            drive_with(shared, clock, thread, ticket, UdpStream::of(thread)?)
        }
        (_, EngineKind::Replay) => Err(Error::unsuitable(
            thread.job,
            "a recording replays its own threads; run it alone, without other jobs".to_owned(),
        )),
        (IoTarget::Peer(peer), engine) => Err(Error::unsuitable(
            thread.job,
            format!(
                "engine `{}` needs storage, but {peer} is a network path; choose a workload such \
                 as tcp-rr, or another target",
                engine.name()
            ),
        )),
        (IoTarget::Disk(disk), _) => {
            // Its completions count from instants on the disk's clock: time is told by that one.
            drive_with(shared, &**disk.clock(), thread, ticket, Vdisk::of(thread, disk)?)
        }
        (_, EngineKind::Psync) => drive_with(shared, clock, thread, ticket, Psync::of(thread)?),
        (_, EngineKind::Libaio) => drive_with(shared, clock, thread, ticket, Libaio::of(thread)?),
        (_, EngineKind::Mmap) => drive_with(shared, clock, thread, ticket, Mmap::of(thread)?),
        (_, EngineKind::IoUring) => {
            let (made, batch) = (Made::of(thread)?, thread.job.submit_batch());
            let priorities = Priorities::of(thread.job, thread.seed);
            if made.fixed {
                let engine = Uring::<true>::new(made, batch, priorities);
                drive_with(shared, clock, thread, ticket, engine)
            } else {
                let engine = Uring::<false>::new(made, batch, priorities);
                drive_with(shared, clock, thread, ticket, engine)
            }
        }
        (path, EngineKind::Vdisk) => Err(Error::unsuitable(
            thread.job,
            format!(
                "engine `vdisk` needs a virtual disk, but {path} is a path; name a stack such as \
                 `mem(size=64M)` as the target, or choose another engine"
            ),
        )),
    }
}

fn drive_with<E: Engine, C: Clock + ?Sized>(
    shared: &SharedState<'_>,
    clock: &C,
    thread: &Thread<'_>,
    ticket: Ticket<'_>,
    mut engine: E,
) -> Result<Option<ThreadRecord>, Error> {
    let through = shared.through(thread.job_index);
    if thread.job.pre_read {
        pre_read(&mut engine, clock, thread, shared.flags());
    }
    let Some(start_ns) = ticket.arrive() else { return Ok(None) };
    let window = shared.window(start_ns);
    let turn = Turn::of(thread.job, start_ns);
    let tally = Tally::new(thread.job, window, turn, shared.flags(), shared.request.live);
    let mut worker = worker(thread, turn.start_ns, tally);
    worker.flow = shared.flows.turn(thread.job.flow);
    if !wait_for(turn.start_ns, clock, shared.flags()) {
        // Everything is over before this job's turn.
        worker.tally.finish(clock.now_ns(), false);
    } else if worker.schedule.is_some() {
        drive::<_, _, true>(&mut engine, clock, &mut worker);
    } else {
        drive::<_, _, false>(&mut engine, clock, &mut worker);
    }
    // Whoever is through holds nobody up.
    worker.flow = None;
    if thread.job.end_fsync {
        for file in 0..thread.file_count() {
            end_fsync(&mut engine, clock, &mut worker, Io { file, ..Io::SYNC });
        }
    }
    let first_error = worker.io_errors.first.take();
    let mut record =
        ThreadRecord::of_tally(thread, &mut worker.tally, first_error, window, turn.start_ns);
    record.job.found_depth = worker.search.as_ref().map(Search::depth);
    drop(through);
    let untold = |source| Error::Peer { peer: thread.target.to_string(), source };
    let OfFlow { tcp, udp } = engine.of_flow(record.job.ios()).map_err(untold)?;
    (record.job.tcp, record.job.udp) = (tcp, udp);
    let (write_logs, findings) = worker.verifier.into_write_logs();
    if let Some(mut findings) = findings.filter(|_| !thread.leaves_verifying()) {
        verify(shared, clock, thread, &mut engine, &write_logs, &mut findings)?;
        record.job.verify_mismatches = Some(findings.mismatches);
        record.job.first_error = record.job.first_error.take().or(findings.first);
    }
    Ok(Some(record))
}

/// Sleeps until `start_ns`, exactly; false if everything is over before that.
fn wait_for<C: Clock + ?Sized>(start_ns: u64, clock: &C, flags: StopFlags<'_>) -> bool {
    let glance_ns = u64::from(POLL_INTERVAL.subsec_nanos());
    loop {
        let now_ns = clock.now_ns();
        if now_ns + glance_ns >= start_ns {
            clock.sleep_until(start_ns);
            return true;
        }
        clock.sleep_until(now_ns + glance_ns);
        if flags.raised() {
            return false;
        }
    }
}

/// One last sync, counted although it comes after the window.
fn end_fsync<E: Engine, C: Clock + ?Sized>(
    engine: &mut E,
    clock: &C,
    worker: &mut Worker<'_>,
    sync: Io,
) {
    let submitted_ns = clock.now_ns();
    let outcome = alone(engine, clock, sync);
    let done_ns = clock.now_ns();
    worker.count::<false>(sync, outcome, submitted_ns, submitted_ns, done_ns);
}

/// Reads back what the thread has written, once nobody writes any more.
fn verify<E: Engine, C: Clock + ?Sized>(
    shared: &SharedState<'_>,
    clock: &C,
    thread: &Thread<'_>,
    engine: &mut E,
    write_logs: &[WriteLog],
    findings: &mut Findings,
) -> Result<(), Error> {
    while !shared.running.jobs_are_through() && !shared.flags().abandoned() {
        thread::sleep(POLL_INTERVAL);
    }
    let (depth, block_bytes) = (thread.depth(), thread.job.max_block_bytes());
    for ((file, test_file), write_log) in (0..).zip(&thread.files).zip(write_logs) {
        if thread.job.verify_ends && findings.mismatches > 0 {
            break;
        }
        let path = &test_file.path;
        if let IoTarget::Path(_) = thread.target {
            // From the device, not from the page cache.
            let opened =
                test_file.options(0).read(true).open(path).map_err(Error::path("open", path))?;
            layout::drop_cached(&opened, path)?;
        }
        let target = test_file.shown();
        let ends = thread.job.verify_ends;
        let read_back = ReadBack { write_log, depth, block_bytes, file, target: &target, ends };
        read_back.perform(engine, clock, shared.flags(), findings);
    }
    Ok(())
}

// Everything that the loop of a thread needs, made before the start.

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

/// Reads what `thread` works on through `engine`, block by block, as it would itself. What cannot
/// be read will be told by the measurement itself.
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
