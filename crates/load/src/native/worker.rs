//! One thread of the load, from its setup to its record.

use std::thread;

use iotax_experiment::Engine as EngineKind;
use iotax_vdisk::Clock;

use super::affinity;
use super::drive::{Worker, drive};
use super::latency_target::Search;
use super::placement;
use super::setup;
use super::setup::{alone, pre_read};
use crate::engine::Engine;
use crate::engine::engines::io_uring::{Made, Uring};
use crate::engine::engines::libaio::Libaio;
use crate::engine::engines::mmap::Mmap;
use crate::engine::engines::null::Null;
use crate::engine::engines::psync::Psync;
use crate::engine::engines::tcp_connect::TcpConnect;
use crate::engine::engines::tcp_rr::TcpRr;
use crate::engine::engines::tcp_stream::TcpStream;
use crate::engine::engines::udp_stream::UdpStream;
use crate::engine::engines::udp_stream_back::UdpStreamBack;
use crate::engine::engines::vdisk::Vdisk;
use crate::engine::gate::Ticket;
use crate::engine::io::Io;
use crate::engine::priorities::Priorities;
use crate::engine::shared_state::{POLL_INTERVAL, SharedState};
use crate::engine::stop::StopFlags;
use crate::engine::thread::Thread;
use crate::engine::thread_record::ThreadRecord;
use crate::engine::window::{Tally, Turn};
use crate::error::Error;
use crate::layout;
use crate::target::IoTarget;
use crate::tree;
use crate::verify::{Findings, ReadBack, WriteLog};

/// Performs `thread`. `None` if another thread failed before the start.
pub(super) fn perform(
    shared: &SharedState<'_>,
    thread: &Thread<'_>,
    ticket: Ticket<'_>,
) -> Result<Option<ThreadRecord>, Error> {
    // First of all, so that its memory is near them too.
    affinity::bind(thread.job, &thread.target)?;
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
        (IoTarget::Peer(peer), engine) => Err(Error::unsuitable(
            thread.job,
            format!(
                "engine `{}` drives I/O at storage, and {peer} is a network path; choose a workload \
                 such as tcp-rr, or another target",
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
                "engine `vdisk` needs a virtual disk, and {path} is a path; name a stack such as \
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
    let mut worker = setup::worker(thread, turn.start_ns, tally);
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
    record.found_depth = worker.search.as_ref().map(Search::depth);
    drop(through);
    let untold = |source| Error::Peer { peer: thread.target.to_string(), source };
    record.flow = engine.of_flow(record.ios()).map_err(untold)?;
    let (write_logs, findings) = worker.verifier.into_write_logs();
    if let Some(mut findings) = findings.filter(|_| !thread.leaves_verifying()) {
        verify(shared, clock, thread, &mut engine, &write_logs, &mut findings)?;
        record.verify_mismatches = Some(findings.mismatches);
        record.first_error = record.first_error.take().or(findings.first);
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
