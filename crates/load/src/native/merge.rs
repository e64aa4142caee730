//! Puts the threads' counters together into one record.

use std::sync::atomic::Ordering;

use iotax_record::{
    DirectionRecord, IndexRecord, JobRecord, LatencyHistogram, LoadRecord, SystemCounters,
};
use iotax_spec::{Engine, Job};

use super::drive::Worker;
use super::setup::{Thread, effective_depth, effective_engine};
use super::usage::Usage;
use super::window::{Counts, Window};
use crate::driver::Request;
use crate::verify::Findings;

/// What one thread did.
pub struct ThreadRecord {
    read: DirectionRecord,
    write: DirectionRecord,
    sync: LatencyHistogram,
    usage: Usage,
    active: (u64, u64),
    in_flight_io_ns: u64,
    max_slip_ns: u64,
    offered_ios: Option<u64>,
    first_error: Option<String>,
    verify_mismatches: Option<u64>,
}

impl ThreadRecord {
    /// The facts of a worker that is through.
    pub fn of(thread: &Thread<'_>, worker: &mut Worker<'_>, window: Window, start_ns: u64) -> Self {
        let active = worker.tally.active;
        // Counted on a second copy of the schedule: the arrivals that the loop never got to are
        // offered too.
        let offered_ios = thread.schedule(start_ns).map(|mut schedule| {
            let before = schedule.count_before(window.open_ns);
            schedule.count_before(active.1.max(window.open_ns)) - before
        });
        let [read, write, sync] = worker.tally.counts.each_mut().map(Counts::take);
        Self {
            read,
            write,
            sync: sync.service,
            usage: worker.tally.usage,
            active,
            in_flight_io_ns: worker.tally.in_flight_io_ns,
            max_slip_ns: worker.tally.max_slip_ns,
            offered_ios,
            first_error: worker.trouble.first.take(),
            verify_mismatches: None,
        }
    }

    /// Adds what reading back has shown.
    pub fn found(&mut self, findings: Findings) {
        self.verify_mismatches = Some(findings.mismatches);
        self.first_error = self.first_error.take().or(findings.first);
    }
}

/// One record of all jobs.
pub fn merge(
    request: &Request<'_>,
    window: Window,
    threads: &[Thread<'_>],
    records: Vec<ThreadRecord>,
    index: Option<IndexRecord>,
    system: SystemCounters,
) -> LoadRecord {
    // The window ends early with the last job, unless there are index threads, which go on.
    let end_ns = records.iter().map(|record| record.active.1).max();
    let end_ns = end_ns.filter(|_| index.is_none() || request.stop.load(Ordering::Relaxed));
    let end_ns = end_ns.unwrap_or(window.close_ns);
    let empty_of = |job| empty(job, effective_engine(job, request.target));
    let mut jobs: Vec<JobRecord> = request.workload.jobs.iter().map(empty_of).collect();
    let mut spans = vec![(u64::MAX, 0); jobs.len()];
    for (thread, record) in threads.iter().zip(records) {
        let index = request
            .workload
            .jobs
            .iter()
            .position(|job| std::ptr::eq(job, thread.job))
            .expect("threads borrow their job from the workload");
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
        index,
        system,
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
        threads: job.threads,
        queue_depth: effective_depth(job, engine),
        read: direction(),
        write: direction(),
        offered_ios: job.pace.offered_iops().map(|_| 0),
        ..JobRecord::default()
    }
}

fn add(job: &mut JobRecord, thread: ThreadRecord) {
    add_direction(&mut job.read, &thread.read);
    add_direction(&mut job.write, &thread.write);
    job.sync.merge(&thread.sync);
    job.cpu_user_ns += thread.usage.user_ns;
    job.cpu_system_ns += thread.usage.system_ns;
    job.minor_faults += thread.usage.minor_faults;
    job.major_faults += thread.usage.major_faults;
    job.context_switches += thread.usage.context_switches;
    job.in_flight_io_ns += thread.in_flight_io_ns;
    job.max_slip_ns = job.max_slip_ns.max(thread.max_slip_ns);
    job.offered_ios = job.offered_ios.zip(thread.offered_ios).map(|(a, b)| a + b);
    if let Some(more) = thread.verify_mismatches {
        job.verify_mismatches = Some(job.verify_mismatches.unwrap_or(0) + more);
    }
    job.first_error = job.first_error.take().or(thread.first_error);
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
