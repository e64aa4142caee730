//! One run from start to end: threads up, common start, window, threads down, one record.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use iotax_experiment::{Engine, Job, Workload};
use iotax_record::{
    BusyOne, DirectionRecord, FarEndRecord, JobRecord, LatencyHistogram, LoadRecord,
    OperationRecord, PauseRecord, SystemCounters,
};
use iotax_vdisk::Clock as _;
use rustix::time::ClockId;

use super::memory;
use super::worker::perform;
use crate::busiest::{Ends, OfEnd};
use crate::counters::{Reading, clock_ns};
use crate::driver::{LayoutProgress, LoadDriver, Request};
use crate::engine::access::Seat;
use crate::engine::gate::Ticket;
use crate::engine::thread::{
    POLL_INTERVAL, SharedState, Thread, ThreadRecord, effective_depth, effective_engine, stands_in,
};
use crate::error::Error;
use crate::index::{self, Published};
use crate::layout::{PlacedParts, parts};
use crate::pause::Pulse;
use crate::peer::client::FarEnd;
use crate::target::IoTarget;
use crate::{busiest, layout, tree};

/// Between opening the gate and the first I/O: long enough for every thread to be woken.
const HEAD_START_NS: u64 = 1_000_000;

/// Drives I/O from this process: the engines `null`, `psync`, `mmap`, `io_uring`, `vdisk` and
/// `metadata`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Native;

impl LoadDriver for Native {
    fn prepare(
        &self,
        workload: &Workload,
        target: IoTarget<'_>,
        progress: &LayoutProgress<'_>,
        stop: &AtomicBool,
    ) -> Result<(), Error> {
        let parts = parts(workload, target)?;
        memory::refuse_beyond(parts.iter().map(|part| (&*part.workload, part.target)))?;
        // A far end that is not there, or refuses the token, is told before the first trial.
        for part in &parts {
            if let IoTarget::Peer(peer) = part.target {
                FarEnd::of(peer)?;
            }
        }
        parts.iter().try_for_each(|part| tree::prepare(&part.workload, part.target))?;
        parts
            .iter()
            .try_for_each(|part| layout::prepare(&part.workload, part.target, progress, stop))
    }

    fn run(&self, request: &Request<'_>) -> Result<LoadRecord, Error> {
        let whole = parts(request.workload, request.target)?;
        memory::refuse_beyond(whole.iter().map(|part| (&*part.workload, part.target)))?;
        let parts = PlacedParts::resolve(request.workload, request.target)?;
        let threads = threads(request, &parts)?;
        let record = run_threads(request, &parts, &threads);
        // Data of another kind is not marked as ours, and what is trimmed is not marked at all.
        let unmarks = |job: &Job| job.content.is_some() || job.trims.is_some();
        if request.workload.jobs.iter().any(unmarks) {
            parts.mark_again()?;
        }
        record
    }
}

/// Runs these threads, which are those of `request`'s jobs, and work in these places.
pub(crate) fn run_threads(
    request: &Request<'_>,
    parts: &PlacedParts<'_>,
    threads: &[Thread<'_>],
) -> Result<LoadRecord, Error> {
    parts.refuse_foreign_files()?;
    let published = match request.workload.index {
        Some(loads) => index::first_version(request, loads)?,
        None => Published::first(),
    };
    parts.make_ready(request.stop)?;
    let shared = SharedState::new(request, &threads_of_jobs(request.workload, threads));
    thread::scope(|scope| {
        let started = start_jobs(scope, &shared, threads)
            .and_then(|jobs| Ok((jobs, start_index(scope, &shared, &published)?)));
        let (jobs, index) = match started {
            Ok(handles) => handles,
            Err(error) => {
                // The thread that is missing never arrives: send those home that wait for it.
                drop(shared.gate.ticket());
                shared.gate.open(usize::MAX, || 0);
                return Err(error);
            }
        };
        let arrivals = jobs.len() + index.len();
        let mut far_end = far_end(request.target);
        let ends = match request.target {
            IoTarget::Peer(peer) => Some(Ends::of(peer)),
            _ => None,
        };
        let start = shared.gate.open(arrivals, || shared.clock.now_ns() + HEAD_START_NS);
        let system =
            start.map(|start_ns| watch(&shared, start_ns, far_end.as_mut(), ends.as_ref()));
        let names = threads.iter().map(|thread| thread.job.name.as_str());
        let (records, jobs_error) = collect(jobs, names);
        let (index, index_error) = collect(index, ["index"; 2].into_iter());
        if let Some(error) = jobs_error.or(index_error) {
            return Err(error);
        }
        let (start_ns, system) = start.zip(system).expect("no thread failed, so all started");
        let operations = index.into_iter().flatten().collect();
        Ok(merge(&shared, start_ns, threads, records, operations, system))
    })
}

type Handle<'scope, T> = ScopedJoinHandle<'scope, Result<Option<T>, Error>>;
type Started<'scope, T> = Result<Vec<Handle<'scope, T>>, Error>;

fn start_jobs<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    shared: &'env SharedState<'env>,
    threads: &'env [Thread<'env>],
) -> Started<'scope, ThreadRecord> {
    threads
        .iter()
        .map(|thread| {
            spawn(scope, shared, &thread.job.name, thread.name(), move |ticket| {
                perform(shared, thread, ticket)
            })
        })
        .collect()
}

fn start_index<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    shared: &'env SharedState<'env>,
    published: &'env Published,
) -> Started<'scope, Vec<OperationRecord>> {
    let Some(loads) = shared.request.workload.index else { return Ok(Vec::new()) };
    index::roles(shared.request.index_ends)
        .iter()
        .map(|&role| {
            spawn(scope, shared, "index", role.name().to_owned(), move |ticket| {
                index::perform(shared, role, loads, published, ticket)
            })
        })
        .collect()
}

fn spawn<'scope, 'env, T: Send + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    shared: &'env SharedState<'env>,
    job: &str,
    name: String,
    body: impl FnOnce(Ticket<'env>) -> Result<Option<T>, Error> + Send + 'scope,
) -> Result<Handle<'scope, T>, Error> {
    let ticket = shared.gate.ticket();
    thread::Builder::new()
        .name(name)
        .spawn_scoped(scope, move || body(ticket))
        .map_err(|source| Error::Spawn { job: job.to_owned(), source })
}

/// How many threads each job has, in their order.
fn threads_of_jobs(workload: &Workload, threads: &[Thread<'_>]) -> Vec<usize> {
    let of = |job| threads.iter().filter(|thread| thread.job_index == job).count();
    (0..workload.jobs.len()).map(of).collect()
}

fn threads<'a>(
    request: &'a Request<'a>,
    parts: &'a PlacedParts<'a>,
) -> Result<Vec<Thread<'a>>, Error> {
    let mut all: Vec<Thread<'_>> = Vec::new();
    let sharing = sharing(request);
    for (job_index, job) in request.workload.jobs.iter().enumerate() {
        let (target, places, places_of_job) = parts.of_job(job_index);
        let seat = Seat::default();
        for (index, place) in (0..).zip(places_of_job) {
            let number = u16::try_from(all.len()).map_err(|_| {
                Error::unsuitable(
                    job,
                    "the workload has more than 65535 threads; use \
                                                     fewer threads",
                )
            })?;
            all.push(Thread {
                job,
                job_index,
                index,
                seat: Seat { index, ..seat.clone() },
                target,
                engine: effective_engine(job, target),
                files: place.files.iter().map(|file| &places.files[*file]).collect(),
                span: place.span,
                number,
                seed: seed_of(request, number),
                sharing: Arc::clone(&sharing),
            });
        }
    }
    Ok(all)
}

/// The seeds of those threads that repeat data of each other.
fn sharing(request: &Request<'_>) -> Arc<[u64]> {
    let mut seeds = Vec::new();
    let mut number = 0_u16;
    for job in &request.workload.jobs {
        let shares = job.content.as_ref().is_some_and(|content| content.shared_set);
        for _ in 0..job.threads {
            seeds.extend(shares.then(|| seed_of(request, number)));
            number = number.wrapping_add(1);
        }
    }
    seeds.into()
}

/// The seed of a thread: odd multiples of the golden ratio scatter small numbers over all 64 bits.
pub(crate) fn seed_of(request: &Request<'_>, thread: u16) -> u64 {
    request.seed ^ (2 * u64::from(thread) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The far end of the load's network path, if it has one that answers: a connection of load tells
/// why it does not.
fn far_end(target: IoTarget<'_>) -> Option<FarEnd> {
    let IoTarget::Peer(peer) = target else { return None };
    FarEnd::of(peer).ok()
}

/// Reads the machine's counters at the edges of the window; ends early with the last thread.
fn watch(
    shared: &SharedState<'_>,
    start_ns: u64,
    mut far_end: Option<&mut FarEnd>,
    ends: Option<&Ends>,
) -> Watched {
    let window = shared.window(start_ns);
    let mut pulse = Pulse::start();
    wait(shared, window.open_ns, &mut pulse);
    let before = Reading::now();
    let far_before = far_end.as_mut().and_then(|far_end| far_end.now());
    let busy_before = ends.map(Ends::now);
    let live = shared.request.live;
    live.inspect(|live| live.window_opens());
    wait(shared, window.close_ns, &mut pulse);
    let system = Reading::now().since(&before);
    let far_after = far_end.and_then(FarEnd::now);
    let busy = ends.map(Ends::now).zip(busy_before);
    live.inspect(|live| live.window_closes());
    let (far_end, told) = match far_after.zip(far_before) {
        Some(((after, busiest), (before, _))) => (Some(after.since(&before)), Some(busiest)),
        None => (None, None),
    };
    let busiest = busy.map(|([near, far], [near_before, far_before])| {
        let seen = far.since(&far_before);
        (near.since(&near_before), [told.unwrap_or_default(), seen])
    });
    let paused = pulse.since(window_opened(shared, window.open_ns));
    Watched { system, far_end, busiest, paused }
}

/// When the window opened on the monotonic clock: whoever waits for it may be late.
fn window_opened(shared: &SharedState<'_>, open_ns: u64) -> u64 {
    let since_ns = shared.clock.now_ns().saturating_sub(open_ns);
    clock_ns(ClockId::Monotonic).saturating_sub(since_ns)
}

fn wait(shared: &SharedState<'_>, until_ns: u64, pulse: &mut Pulse) {
    loop {
        let left_ns = until_ns.saturating_sub(shared.clock.now_ns());
        if left_ns == 0 || shared.flags().raised() || shared.running.all_are_through() {
            return;
        }
        pulse.sleep(POLL_INTERVAL.min(Duration::from_nanos(left_ns)));
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

pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

// Puts the threads' counters together into one record.

/// What was counted at the edges of the window.
#[derive(Default)]
pub(crate) struct Watched {
    pub system: SystemCounters,
    pub far_end: Option<FarEndRecord>,
    /// On network paths: programs at the near end; the far end as it tells, and as it is seen.
    pub busiest: Option<(OfEnd, [OfEnd; 2])>,
    pub paused: Option<PauseRecord>,
}

/// One record of all jobs.
pub(crate) fn merge(
    shared: &SharedState<'_>,
    start_ns: u64,
    threads: &[Thread<'_>],
    records: Vec<ThreadRecord>,
    operations: Vec<OperationRecord>,
    watched: Watched,
) -> LoadRecord {
    let (request, window) = (shared.request, shared.window(start_ns));
    // The window ends early with the last job, unless there are index threads, which go on. A
    // thread that was never active, because all was over before its turn, does not count.
    let active = records.iter().map(|record| record.active).filter(|(from, to)| from < to);
    let end_ns = active.map(|(_, to)| to).max().unwrap_or(window.open_ns);
    let ended = request.stop.load(Ordering::Relaxed) || shared.running.has_ended();
    let end_ns = if operations.is_empty() || ended { end_ns } else { window.close_ns };
    let empty_of = |(at, job): (usize, &Job)| {
        let engine = threads.iter().find(|thread| thread.job_index == at).map(|own| own.engine);
        empty(job, engine.unwrap_or_else(|| effective_engine(job, request.target)))
    };
    let mut jobs: Vec<JobRecord> = request.workload.jobs.iter().enumerate().map(empty_of).collect();
    let mut spans = vec![(u64::MAX, 0); jobs.len()];
    let busiest = watched.busiest.map_or_else(Vec::new, |(near, far)| {
        let own = threads.iter().zip(&records).max_by_key(|(_, record)| record.cpu_ns);
        let own =
            own.map(|(thread, record)| (BusyOne::Thread { name: thread.name() }, record.cpu_ns));
        busiest::record(&[[own, None], near], &far)
    });
    for (thread, record) in threads.iter().zip(records) {
        let index = thread.job_index;
        spans[index].0 = record.active.0.min(spans[index].0);
        spans[index].1 = record.active.1.max(spans[index].1);
        add(&mut jobs[index], record.job);
    }
    for (job, (from_ns, to_ns)) in jobs.iter_mut().zip(spans) {
        job.active_ns = to_ns.saturating_sub(from_ns);
    }
    LoadRecord {
        driver: "native".to_owned(),
        window_ns: end_ns.clamp(window.open_ns, window.close_ns) - window.open_ns,
        jobs,
        operations,
        system: watched.system,
        far_end: watched.far_end,
        busiest,
        paused: watched.paused,
        replay: None,
        warnings: Vec::new(),
    }
}

fn empty(job: &Job, engine: Engine) -> JobRecord {
    let direction = || DirectionRecord {
        response: job.pace.offered_iops().map(|_| LatencyHistogram::new()),
        ..DirectionRecord::default()
    };
    JobRecord {
        name: job.name.clone(),
        engine: engine.name().to_owned(),
        instead_of: stands_in(job, engine).then(|| job.engine.name().to_owned()),
        threads: job.threads,
        queue_depth: effective_depth(job, engine),
        read: direction(),
        write: direction(),
        trim: job.trims.map(|_| direction()),
        offered_ios: job.pace.offered_iops().map(|_| 0),
        ..JobRecord::default()
    }
}

/// Adds what one thread of a job did.
pub(crate) fn add(job: &mut JobRecord, more: JobRecord) {
    add_direction(&mut job.read, &more.read);
    add_direction(&mut job.write, &more.write);
    if let (Some(sum), Some(more)) = (&mut job.trim, &more.trim) {
        add_direction(sum, more);
    }
    job.sync.merge(&more.sync);
    job.cpu_user_ns += more.cpu_user_ns;
    job.cpu_system_ns += more.cpu_system_ns;
    job.minor_faults += more.minor_faults;
    job.major_faults += more.major_faults;
    job.context_switches += more.context_switches;
    job.in_flight_io_ns += more.in_flight_io_ns;
    job.max_slip_ns = job.max_slip_ns.max(more.max_slip_ns);
    job.found_depth = job.found_depth.max(more.found_depth);
    job.offered_ios = job.offered_ios.zip(more.offered_ios).map(|(a, b)| a + b);
    for (sum, more) in [
        (&mut job.cpu_wait_ns, more.cpu_wait_ns),
        (&mut job.waiting_ns, more.waiting_ns),
        (&mut job.verify_mismatches, more.verify_mismatches),
    ] {
        *sum = more.map(|more| sum.unwrap_or(0) + more).or(*sum);
    }
    job.first_error = job.first_error.take().or(more.first_error);
    if let Some(more) = &more.tcp {
        job.tcp = Some(job.tcp.map_or(*more, |mut sum| {
            sum.add(more);
            sum
        }));
    }
    if let Some(more) = &more.udp {
        job.udp.get_or_insert_default().add(more);
    }
    more.operations.iter().for_each(|more| more.add_to(&mut job.operations));
}

fn add_direction(sum: &mut DirectionRecord, more: &DirectionRecord) {
    sum.ios += more.ios;
    sum.bytes += more.bytes;
    sum.errors += more.errors;
    sum.short_ios += more.short_ios;
    sum.service.merge(&more.service);
    if let (Some(sum), Some(more)) = (&mut sum.response, &more.response) {
        sum.merge(more);
    }
    add_seconds(&mut sum.per_second_ios, &more.per_second_ios, |a, b| *a = a.saturating_add(b));
    add_seconds(&mut sum.per_second_bytes, &more.per_second_bytes, |a, b| *a += b);
}

fn add_seconds<T: Copy + Default>(sum: &mut Vec<T>, more: &[T], add: fn(&mut T, T)) {
    sum.resize(sum.len().max(more.len()), T::default());
    sum.iter_mut().zip(more).for_each(|(a, b)| add(a, *b));
}
