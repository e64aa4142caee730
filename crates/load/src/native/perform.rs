//! One thread of the load, from its setup to its record.

use std::thread;

use iotax_spec::Engine as EngineKind;
use iotax_vdisk::Clock;
use rustix::io::Errno;

use super::conduct::{GLANCE, Stage};
use super::drive::{Worker, drive};
use super::engines::io_uring::Uring;
use super::engines::{Deadline, Engine, Submitted};
use super::gate::Ticket;
use super::io::Io;
use super::merge::ThreadRecord;
use super::setup::Thread;
use super::window::Tally;
use crate::driver::Target;
use crate::error::Error;
use crate::layout;
use crate::verify::{Findings, Ledger, read_back};

/// Plays `thread` on `stage`. `None` if another thread failed before the start.
pub fn perform(
    stage: &Stage<'_>,
    thread: &Thread<'_>,
    ticket: Ticket<'_>,
) -> Result<Option<ThreadRecord>, Error> {
    match (stage.request.target, thread.engine) {
        (_, EngineKind::Null) => play((stage, &stage.clock), thread, ticket, thread.null()?),
        (Target::Disk(disk), _) => {
            // Its completions count from instants on the disk's clock: time is told by that one.
            play((stage, &**disk.clock()), thread, ticket, thread.vdisk(disk)?)
        }
        (Target::Path(_) | Target::Own(_), EngineKind::Psync) => {
            play((stage, &stage.clock), thread, ticket, thread.psync()?)
        }
        (Target::Path(_) | Target::Own(_), EngineKind::Mmap) => {
            play((stage, &stage.clock), thread, ticket, thread.mmap()?)
        }
        (Target::Path(_) | Target::Own(_), EngineKind::IoUring) => {
            let made = thread.io_uring()?;
            if made.fixed {
                play((stage, &stage.clock), thread, ticket, Uring::<true>::new(made))
            } else {
                play((stage, &stage.clock), thread, ticket, Uring::<false>::new(made))
            }
        }
        (Target::Path(path) | Target::Own(path), EngineKind::Vdisk) => Err(Error::unsuitable(
            thread.job,
            format!(
                "engine `vdisk` needs a virtual disk, and {} is a path; name a stack such as \
                 `mem(size=64M)` as the target, or choose another engine",
                path.display()
            ),
        )),
    }
}

fn play<E: Engine, C: Clock + ?Sized>(
    (stage, clock): (&Stage<'_>, &C),
    thread: &Thread<'_>,
    ticket: Ticket<'_>,
    mut engine: E,
) -> Result<Option<ThreadRecord>, Error> {
    let through = stage.through(&stage.jobs_through);
    let Some(start_ns) = ticket.arrive() else { return Ok(None) };
    let window = stage.window(start_ns);
    let own_start_ns = start_ns + thread.job.start_delay_ns;
    let tally = Tally::new(thread.job, window, own_start_ns, stage.flags(), stage.request.live);
    let mut worker = thread.worker(own_start_ns, tally);
    clock.sleep_until(own_start_ns);
    if worker.schedule.is_some() {
        drive::<_, _, true>(&mut engine, clock, &mut worker);
    } else {
        drive::<_, _, false>(&mut engine, clock, &mut worker);
    }
    if thread.job.end_fsync {
        end_fsync(&mut engine, clock, &mut worker);
    }
    let mut record = ThreadRecord::of(thread, &mut worker, window, own_start_ns);
    drop(through);
    if let Some(ledger) = worker.scribe.into_ledger() {
        record.found(verify((stage, clock), thread, &mut engine, &ledger)?);
    }
    Ok(Some(record))
}

/// One last sync, counted although it comes after the window.
fn end_fsync<E: Engine, C: Clock + ?Sized>(engine: &mut E, clock: &C, worker: &mut Worker<'_>) {
    let submitted_ns = clock.now_ns();
    let mut end = match engine.submit(0, Io::SYNC) {
        Submitted::Done(outcome) => Some(outcome),
        Submitted::InFlight => None,
        Submitted::Full => Some(Err(Errno::BUSY)),
    };
    while end.is_none() {
        let now_ns = clock.now_ns();
        engine.wait(Deadline { now_ns, until_ns: now_ns + 100_000_000, precise: false });
        engine.reap(clock.now_ns(), |_, outcome| end = Some(outcome));
    }
    let outcome = end.expect("the loop above has ended");
    let done_ns = clock.now_ns();
    worker.count::<false>(Io::SYNC, outcome, submitted_ns, submitted_ns, done_ns);
}

/// Reads back what the thread has written, once nobody writes any more.
fn verify<E: Engine, C: Clock + ?Sized>(
    (stage, clock): (&Stage<'_>, &C),
    thread: &Thread<'_>,
    engine: &mut E,
    ledger: &Ledger,
) -> Result<Findings, Error> {
    while !stage.jobs_are_through() && !stage.flags().raised() {
        thread::sleep(GLANCE);
    }
    if let Target::Path(_) = stage.request.target {
        // From the device, not from the page cache.
        let path = &thread.file.path;
        let file = std::fs::File::open(path).map_err(Error::path("open", path))?;
        layout::drop_cached(&file, path)?;
    }
    let size = (thread.depth(), thread.job.block_sizes.max_bytes());
    let target = thread.file.path.display().to_string();
    Ok(read_back(engine, clock, ledger, size, &target, stage.flags()))
}
