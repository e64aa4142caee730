//! One run from start to end: threads up, common start, window, threads down, one record.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use iotax_record::LoadRecord;
use iotax_spec::Engine as EngineKind;
use iotax_vdisk::Clock;

use super::clock::TscClock;
use super::drive::drive;
use super::engines::Engine;
use super::engines::io_uring::Uring;
use super::gate::{Gate, Ticket};
use super::merge::{ThreadRecord, merge};
use super::setup::{Thread, effective_engine};
use super::window::{StopFlags, Tally, Window};
use crate::counters::Reading;
use crate::driver::{Request, Target};
use crate::error::Error;
use crate::layout;
use crate::places::{Kind, Places};

/// Between opening the gate and the first I/O: long enough for every thread to be woken.
const HEAD_START_NS: u64 = 1_000_000;
/// How often the conductor looks whether to end early.
const GLANCE: Duration = Duration::from_millis(10);

/// What all threads of a run share.
pub struct Stage<'a> {
    pub request: &'a Request<'a>,
    pub clock: TscClock,
    gate: Gate,
    /// A thread broke down: everybody goes home.
    broken: AtomicBool,
    /// Threads that are through.
    ended: AtomicUsize,
}

impl Stage<'_> {
    pub fn flags(&self) -> StopFlags<'_> {
        StopFlags { user: self.request.stop, broken: &self.broken }
    }

    pub fn window(&self, start_ns: u64) -> Window {
        let open_ns = start_ns + self.request.ramp_ns;
        Window { open_ns, close_ns: open_ns + self.request.time_ns }
    }
}

/// See [`LoadDriver::run`](crate::LoadDriver::run).
pub fn run(request: &Request<'_>) -> Result<LoadRecord, Error> {
    let places = Places::resolve(request.workload, request.target)?;
    invalidate(&places)?;
    let stage = Stage {
        request,
        clock: TscClock::anchored_now(),
        gate: Gate::new(),
        broken: AtomicBool::new(false),
        ended: AtomicUsize::new(0),
    };
    let threads = threads(request, &places);
    thread::scope(|scope| {
        let mut handles = Vec::new();
        for thread in &threads {
            let (stage, ticket) = (&stage, stage.gate.ticket());
            let spawned = thread::Builder::new()
                .name(format!("{}.{}", thread.job.name, thread.index))
                .spawn_scoped(scope, move || perform(stage, thread, ticket));
            match spawned {
                Ok(handle) => handles.push(handle),
                Err(source) => {
                    // The dropped ticket has closed the gate for all others.
                    stage.gate.open(usize::MAX, || 0);
                    return Err(Error::Spawn { job: thread.job.name.clone(), source });
                }
            }
        }
        let start = stage.gate.open(handles.len(), || stage.clock.now_ns() + HEAD_START_NS);
        let system = start.map(|start_ns| watch(&stage, start_ns, threads.len()));
        let records = collect(handles, &threads)?;
        let (start_ns, system) = start.zip(system).expect("no thread failed, so they started");
        Ok(merge(request, stage.window(start_ns), &threads, records, system))
    })
}

fn threads<'a>(request: &'a Request<'a>, places: &'a Places) -> Vec<Thread<'a>> {
    let jobs = request.workload.jobs.iter().zip(&places.places);
    let mut all = Vec::new();
    for (job, places_of_job) in jobs {
        for (index, place) in (0..).zip(places_of_job) {
            let number = all.len() as u64;
            all.push(Thread {
                job,
                index,
                engine: effective_engine(job, request.target),
                file: &places.files[place.file],
                span: place.span,
                // Odd multiples of the golden ratio scatter small numbers over all 64 bits.
                seed: request.seed ^ (2 * number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15),
            });
        }
    }
    all
}

fn invalidate(places: &Places) -> Result<(), Error> {
    if places.kind == Kind::Disk {
        return Ok(());
    }
    for file in places.files.iter().filter(|file| file.invalidate) {
        let opened = std::fs::File::open(&file.path).map_err(Error::path("open", &file.path))?;
        layout::drop_cached(&opened, &file.path)?;
    }
    Ok(())
}

/// One thread of the load, from its setup to its record.
fn perform(
    stage: &Stage<'_>,
    thread: &Thread<'_>,
    ticket: Ticket<'_>,
) -> Result<Option<ThreadRecord>, Error> {
    let guard = Ending(stage);
    let record = match (stage.request.target, thread.engine) {
        (_, EngineKind::Null) => play(stage, thread, ticket, thread.null()?),
        (Target::Disk(disk), _) => play(stage, thread, ticket, thread.vdisk(disk)?),
        (Target::Path(_), EngineKind::Psync) => play(stage, thread, ticket, thread.psync()?),
        (Target::Path(_), EngineKind::Mmap) => play(stage, thread, ticket, thread.mmap()?),
        (Target::Path(_), EngineKind::IoUring) => {
            let made = thread.io_uring()?;
            if made.fixed {
                play(stage, thread, ticket, Uring::<true>::new(made))
            } else {
                play(stage, thread, ticket, Uring::<false>::new(made))
            }
        }
        (Target::Path(path), EngineKind::Vdisk) => Err(Error::unsuitable(
            thread.job,
            format!(
                "engine `vdisk` needs a virtual disk, and {} is a path; name a stack such as \
                 `mem(size=64M)` as the target, or choose another engine",
                path.display()
            ),
        )),
    };
    drop(guard);
    record
}

/// Counts the thread as through, and calls everybody home if it panics.
struct Ending<'a>(&'a Stage<'a>);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

fn play<E: Engine>(
    stage: &Stage<'_>,
    thread: &Thread<'_>,
    ticket: Ticket<'_>,
    mut engine: E,
) -> Result<Option<ThreadRecord>, Error> {
    let Some(start_ns) = ticket.arrive() else { return Ok(None) };
    let window = stage.window(start_ns);
    let own_start_ns = start_ns + thread.job.start_delay_ns;
    let tally = Tally::new(thread.job, window, own_start_ns, stage.flags(), stage.request.live);
    let mut worker = thread.worker(own_start_ns, tally);
    stage.clock.sleep_until(own_start_ns);
    if worker.schedule.is_some() {
        drive::<_, _, true>(&mut engine, &stage.clock, &mut worker);
    } else {
        drive::<_, _, false>(&mut engine, &stage.clock, &mut worker);
    }
    Ok(Some(ThreadRecord::of(thread, worker, window, own_start_ns)))
}

/// Reads the machine's counters at the edges of the window; ends early with the last thread.
fn watch(stage: &Stage<'_>, start_ns: u64, threads: usize) -> iotax_record::SystemCounters {
    let window = stage.window(start_ns);
    wait(stage, window.open_ns, threads);
    let before = Reading::now();
    wait(stage, window.close_ns, threads);
    Reading::now().since(&before)
}

fn wait(stage: &Stage<'_>, until_ns: u64, threads: usize) {
    loop {
        let left_ns = until_ns.saturating_sub(stage.clock.now_ns());
        if left_ns == 0 || stage.flags().raised() || stage.ended.load(Ordering::Relaxed) == threads
        {
            return;
        }
        thread::sleep(GLANCE.min(Duration::from_nanos(left_ns)));
    }
}

type Handle<'scope> = ScopedJoinHandle<'scope, Result<Option<ThreadRecord>, Error>>;

fn collect(handles: Vec<Handle<'_>>, threads: &[Thread<'_>]) -> Result<Vec<ThreadRecord>, Error> {
    let mut first_error = None;
    let mut records = Vec::new();
    for (handle, thread) in handles.into_iter().zip(threads) {
        match handle.join() {
            Ok(Ok(record)) => records.extend(record),
            Ok(Err(error)) => first_error = first_error.or(Some(error)),
            Err(panic) => {
                let message = panic_message(&*panic);
                let job = thread.job.name.clone();
                first_error = first_error.or(Some(Error::Panicked { job, message }));
            }
        }
    }
    first_error.map_or(Ok(records), Err)
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
