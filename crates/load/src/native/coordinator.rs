//! One run from start to end: threads up, common start, window, threads down, one record.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use iotax_record::{LoadRecord, OperationRecord, SystemCounters};
use iotax_vdisk::{Clock as _, VirtualDisk};

use super::clock::TscClock;
use super::gate::{Gate, Ticket};
use super::index_threads::{self, Role};
use super::merge::merge;
use super::setup::{Thread, effective_engine};
use super::window::{StopFlags, Window};
use super::worker::perform;
use crate::counters::Reading;
use crate::driver::{Request, Target};
use crate::error::Error;
use crate::file_assignment::Places;
use crate::index::Published;
use crate::layout;

/// Between opening the gate and the first I/O: long enough for every thread to be woken.
const HEAD_START_NS: u64 = 1_000_000;
/// How often the conductor looks whether to end early.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// What all threads of a run share.
pub(crate) struct Stage<'a> {
    pub request: &'a Request<'a>,
    pub clock: TscClock,
    gate: Gate,
    /// A thread broke down: everybody goes home.
    broken: AtomicBool,
    /// A job that ends all others is through.
    ended: AtomicBool,
    /// Threads of each job that may still issue I/O.
    jobs_running: Vec<AtomicUsize>,
    /// Threads of the index that are not through.
    index_running: AtomicUsize,
}

impl Stage<'_> {
    pub(crate) fn flags(&self) -> StopFlags<'_> {
        StopFlags { user: self.request.stop, broken: &self.broken, ended: &self.ended }
    }

    pub(crate) fn window(&self, start_ns: u64) -> Window {
        let open_ns = start_ns + self.request.ramp_ns;
        Window { open_ns, close_ns: open_ns + self.request.time_ns }
    }

    /// Counts a thread of a job as through when dropped.
    pub(crate) fn through(&self, job: usize) -> Through<'_> {
        let ends_all = self.request.workload.jobs[job].ends_all;
        Through {
            running: &self.jobs_running[job],
            ended: ends_all.then_some(&self.ended),
            broken: &self.broken,
        }
    }

    /// Counts a thread of the index as through when dropped.
    pub(crate) fn index_through(&self) -> Through<'_> {
        Through { running: &self.index_running, ended: None, broken: &self.broken }
    }

    pub(crate) fn jobs_are_through(&self) -> bool {
        self.jobs_running.iter().all(|running| running.load(Ordering::Acquire) == 0)
    }

    /// Whether a job has ended everything before its time.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    fn all_are_through(&self) -> bool {
        self.jobs_are_through() && self.index_running.load(Ordering::Acquire) == 0
    }
}

/// See [`Stage::through`]. If its thread panics, everybody is called home; so they are if it is
/// the last one of a job that ends all others.
pub(crate) struct Through<'a> {
    running: &'a AtomicUsize,
    ended: Option<&'a AtomicBool>,
    broken: &'a AtomicBool,
}

impl Drop for Through<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.broken.store(true, Ordering::Relaxed);
        }
        let was_last = self.running.fetch_sub(1, Ordering::Release) == 1;
        if was_last && let Some(ended) = self.ended {
            ended.store(true, Ordering::Relaxed);
        }
    }
}

/// See [`LoadDriver::run`](crate::LoadDriver::run).
pub(crate) fn run(request: &Request<'_>) -> Result<LoadRecord, Error> {
    let places = Places::resolve(request.workload, request.target)?;
    let threads = threads(request, &places)?;
    run_threads(request, &places, &threads)
}

/// Runs these threads, which are those of `request`'s jobs, and work in these places.
pub(crate) fn run_threads(
    request: &Request<'_>,
    places: &Places,
    threads: &[Thread<'_>],
) -> Result<LoadRecord, Error> {
    layout::refuse_foreign_files(request.workload, request.target, places)?;
    if let Some(loads) = request.workload.index {
        index_threads::first_version(request.target, loads, request.seed)?;
    }
    invalidate(request.target, places)?;
    let published = Published::first();
    let stage = Stage {
        request,
        clock: TscClock::anchored_now(),
        gate: Gate::new(),
        broken: AtomicBool::new(false),
        ended: AtomicBool::new(false),
        jobs_running: places.by_job.iter().map(|job| AtomicUsize::new(job.len())).collect(),
        index_running: AtomicUsize::new(if request.workload.index.is_some() { 2 } else { 0 }),
    };
    thread::scope(|scope| {
        let started = start_jobs(scope, &stage, threads)
            .and_then(|jobs| Ok((jobs, start_index(scope, &stage, &published)?)));
        let (jobs, index) = match started {
            Ok(handles) => handles,
            Err(error) => {
                // The thread that is missing never arrives: send those home that wait for it.
                drop(stage.gate.ticket());
                stage.gate.open(usize::MAX, || 0);
                return Err(error);
            }
        };
        let arrivals = jobs.len() + index.len();
        let start = stage.gate.open(arrivals, || stage.clock.now_ns() + HEAD_START_NS);
        let system = start.map(|start_ns| watch(&stage, start_ns));
        let names = threads.iter().map(|thread| thread.job.name.as_str());
        let (records, jobs_error) = collect(jobs, names);
        let (index, index_error) = collect(index, ["index"; 2].into_iter());
        if let Some(error) = jobs_error.or(index_error) {
            return Err(error);
        }
        let (start_ns, system) = start.zip(system).expect("no thread failed, so they started");
        let operations = index.into_iter().flatten().collect();
        Ok(merge(&stage, start_ns, threads, records, operations, system))
    })
}

type Handle<'scope, T> = ScopedJoinHandle<'scope, Result<Option<T>, Error>>;
type Started<'scope, T> = Result<Vec<Handle<'scope, T>>, Error>;

fn start_jobs<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    stage: &'env Stage<'env>,
    threads: &'env [Thread<'env>],
) -> Started<'scope, super::merge::ThreadRecord> {
    threads
        .iter()
        .map(|thread| {
            let name = format!("{}.{}", thread.job.name, thread.index);
            spawn(scope, stage, &thread.job.name, name, move |ticket| {
                perform(stage, thread, ticket)
            })
        })
        .collect()
}

fn start_index<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    stage: &'env Stage<'env>,
    published: &'env Published,
) -> Started<'scope, Vec<OperationRecord>> {
    let Some(loads) = stage.request.workload.index else { return Ok(Vec::new()) };
    [Role::Driver, Role::Searcher]
        .into_iter()
        .map(|role| {
            spawn(scope, stage, "index", role.name().to_owned(), move |ticket| {
                index_threads::perform(stage, role, loads, published, ticket)
            })
        })
        .collect()
}

fn spawn<'scope, 'env, T: Send + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    stage: &'env Stage<'env>,
    job: &str,
    name: String,
    body: impl FnOnce(Ticket<'env>) -> Result<Option<T>, Error> + Send + 'scope,
) -> Result<Handle<'scope, T>, Error> {
    let ticket = stage.gate.ticket();
    thread::Builder::new()
        .name(name)
        .spawn_scoped(scope, move || body(ticket))
        .map_err(|source| Error::Spawn { job: job.to_owned(), source })
}

fn threads<'a>(request: &'a Request<'a>, places: &'a Places) -> Result<Vec<Thread<'a>>, Error> {
    let jobs = request.workload.jobs.iter().zip(&places.by_job);
    let mut all = Vec::new();
    for (job_index, (job, places_of_job)) in jobs.enumerate() {
        for (index, place) in (0..).zip(places_of_job) {
            let number = u16::try_from(all.len()).map_err(|_| {
                Error::unsuitable(job, "more than 65535 threads; ask for fewer".to_owned())
            })?;
            all.push(Thread {
                job,
                job_index,
                index,
                engine: effective_engine(job, request.target),
                files: place.files.iter().map(|file| &places.files[*file]).collect(),
                span: place.span,
                number,
                seed: seed_of(request, number),
            });
        }
    }
    Ok(all)
}

/// The seed of a thread: odd multiples of the golden ratio scatter small numbers over all 64 bits.
pub(crate) fn seed_of(request: &Request<'_>, thread: u16) -> u64 {
    request.seed ^ (2 * u64::from(thread) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Cold caches for the jobs that want them.
pub(crate) fn invalidate(target: Target<'_>, places: &Places) -> Result<(), Error> {
    if let Target::Disk(disk) = target {
        let wanted = places.files.iter().any(|file| file.invalidate);
        return if wanted { disk.drop_caches().map_err(cold(disk)) } else { Ok(()) };
    }
    for file in places.files.iter().filter(|file| file.invalidate) {
        let opened = file.options(0).read(true).open(&file.path);
        let opened = opened.map_err(Error::path("open", &file.path))?;
        layout::drop_cached(&opened, &file.path)?;
    }
    Ok(())
}

fn cold(disk: &VirtualDisk) -> impl FnOnce(iotax_vdisk::Error) -> Error {
    let disk = disk.to_string();
    |source| Error::Disk { job: "invalidate".to_owned(), disk, source }
}

/// Reads the machine's counters at the edges of the window; ends early with the last thread.
fn watch(stage: &Stage<'_>, start_ns: u64) -> SystemCounters {
    let window = stage.window(start_ns);
    wait(stage, window.open_ns);
    let before = Reading::now();
    let live = stage.request.live;
    live.inspect(|live| live.window_opens());
    wait(stage, window.close_ns);
    let system = Reading::now().since(&before);
    live.inspect(|live| live.window_closes());
    system
}

fn wait(stage: &Stage<'_>, until_ns: u64) {
    loop {
        let left_ns = until_ns.saturating_sub(stage.clock.now_ns());
        if left_ns == 0 || stage.flags().raised() || stage.all_are_through() {
            return;
        }
        thread::sleep(POLL_INTERVAL.min(Duration::from_nanos(left_ns)));
    }
}

/// All records in order, and the first error.
fn collect<'a, T>(
    handles: Vec<Handle<'_, T>>,
    names: impl Iterator<Item = &'a str>,
) -> (Vec<T>, Option<Error>) {
    let mut first_error = None;
    let mut records = Vec::new();
    for (handle, name) in handles.into_iter().zip(names) {
        match handle.join() {
            Ok(Ok(record)) => records.extend(record),
            Ok(Err(error)) => first_error = first_error.or(Some(error)),
            Err(panic) => {
                let message = panic_message(&*panic);
                let job = name.to_owned();
                first_error = first_error.or(Some(Error::Panicked { job, message }));
            }
        }
    }
    (records, first_error)
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
