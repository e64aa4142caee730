//! Puts the threads' counters together into one record.

use std::sync::atomic::Ordering;

use iotax_experiment::{Engine, Job};
use iotax_record::{
    BusyOne, DirectionRecord, FarEndRecord, JobRecord, LatencyHistogram, LoadRecord,
    OperationRecord, PauseRecord, SystemCounters,
};

use crate::busiest::{self, OfEnd};
use crate::engine::shared_state::SharedState;
use crate::engine::thread::{Thread, effective_depth, effective_engine, stands_in};
use crate::engine::thread_record::ThreadRecord;

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
        let own = threads.iter().zip(&records).max_by_key(|(_, record)| record.usage.cpu_ns);
        let own = own
            .map(|(thread, record)| (BusyOne::Thread { name: thread.name() }, record.usage.cpu_ns));
        busiest::record(&[[own, None], near], &far)
    });
    for (thread, record) in threads.iter().zip(records) {
        let index = thread.job_index;
        spans[index].0 = record.active.0.min(spans[index].0);
        spans[index].1 = record.active.1.max(spans[index].1);
        add(&mut jobs[index], record);
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

fn add(job: &mut JobRecord, thread: ThreadRecord) {
    add_direction(&mut job.read, &thread.read);
    add_direction(&mut job.write, &thread.write);
    if let (Some(sum), Some(more)) = (&mut job.trim, &thread.trim) {
        add_direction(sum, more);
    }
    job.sync.merge(&thread.sync);
    job.cpu_user_ns += thread.usage.user_ns;
    job.cpu_system_ns += thread.usage.system_ns;
    job.minor_faults += thread.usage.minor_faults;
    job.major_faults += thread.usage.major_faults;
    job.context_switches += thread.usage.context_switches;
    if let Some(more) = thread.usage.cpu_wait_ns {
        *job.cpu_wait_ns.get_or_insert_default() += more;
    }
    job.in_flight_io_ns += thread.in_flight_io_ns;
    job.found_depth = job.found_depth.max(thread.found_depth);
    if thread.waiting_ns > 0 {
        *job.waiting_ns.get_or_insert_default() += thread.waiting_ns;
    }
    job.max_slip_ns = job.max_slip_ns.max(thread.max_slip_ns);
    job.offered_ios = job.offered_ios.zip(thread.offered_ios).map(|(a, b)| a + b);
    if let Some(more) = thread.verify_mismatches {
        job.verify_mismatches = Some(job.verify_mismatches.unwrap_or(0) + more);
    }
    job.first_error = job.first_error.take().or(thread.first_error);
    if let Some(more) = &thread.flow.tcp {
        job.tcp = Some(job.tcp.map_or(*more, |mut sum| {
            sum.add(more);
            sum
        }));
    }
    if let Some(more) = &thread.flow.udp {
        job.udp.get_or_insert_default().add(more);
    }
    thread.operations.iter().for_each(|more| more.add_to(&mut job.operations));
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
