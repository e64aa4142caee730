//! fio's result as the record of the run.

use std::time::{Duration, Instant};

use iotax_dialects::importers::Imported;
use iotax_record::{JobRecord, LoadRecord, SystemCounters};
use iotax_spec::Job;
use rustix::process::Pid;

use crate::counters::Reading;
use crate::driver::Request;

use super::job_file::into_window_ns;
use super::logs::{Logs, Times};

/// Lines of standard error that are kept.
const MOST_WARNINGS: usize = 20;

/// Counters of a window as long as fio's, from the end of the ramp on, or to its last look at fio if
/// that ends before. fio does not say when its own window opens, so its start (some 100 ms) makes
/// this one a little early; what it does after its time, above all to print its result, is not in.
pub(super) struct Watch {
    opens: Instant,
    closes: Instant,
    window: Option<(Reading, Reading)>,
}

impl Watch {
    /// From now on.
    pub(super) fn new(ramp_ns: u64, time_ns: u64) -> Self {
        let opens = Instant::now() + Duration::from_nanos(ramp_ns);
        Self { opens, closes: opens + Duration::from_nanos(time_ns), window: None }
    }

    /// Reads the counters of the machine and of fio's process.
    pub(super) fn glance(&mut self, pid: Pid) {
        let now = Instant::now();
        if now < self.opens || now > self.closes {
            return;
        }
        let now = Reading::of(pid);
        match &mut self.window {
            Some((_, last)) => last.update(now),
            None => self.window = Some((now.clone(), now)),
        }
    }

    fn counters(self) -> SystemCounters {
        self.window.map(|(first, last)| last.since(&first)).unwrap_or_default()
    }
}

/// `names`: under which name fio reports each job.
pub(super) fn of(
    request: &Request<'_>,
    names: &[Option<String>],
    found: Imported,
    errors: &str,
    watch: Watch,
) -> LoadRecord {
    let mut load = found.into_load();
    let mut reported = std::mem::take(&mut load.jobs);
    let jobs = request.workload.jobs.iter().zip(names);
    load.jobs = jobs
        .map(|(job, name)| {
            let at = reported.iter().position(|record| Some(&record.name) == name.as_ref());
            of_job(job, at.map(|at| reported.swap_remove(at)))
        })
        .collect();
    load.system = watch.counters();
    let lines = errors.lines().map(str::trim).filter(|line| !line.is_empty());
    load.warnings.extend(lines.take(MOST_WARNINGS).map(str::to_owned));
    load
}

/// Adds what fio has logged of each job from second to second.
pub(super) fn add_series(request: &Request<'_>, logs: &Logs, load: &mut LoadRecord) {
    let jobs = request.workload.jobs.iter().zip(&mut load.jobs);
    for (number, (job, JobRecord { read, write, .. })) in jobs.enumerate() {
        let late_ns = into_window_ns(request, job);
        logs.add_to([read, write], number, Times { late_ns, window_ns: request.time_ns });
    }
}

fn of_job(job: &Job, reported: Option<JobRecord>) -> JobRecord {
    let missing = reported.is_none();
    let mut record = reported.unwrap_or_default();
    record.name.clone_from(&job.name);
    record.threads = job.threads;
    if missing {
        job.engine.name().clone_into(&mut record.engine);
        record.queue_depth = job.queue_depth;
    }
    record.offered_ios = job.pace.offered_iops().map(|iops| offered(iops, record.active_ns));
    record
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn offered(iops: f64, active_ns: u64) -> u64 {
    (iops * active_ns as f64 / 1e9).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_NS: u64 = 3_600_000_000_000;

    fn counted(ramp_ns: u64, time_ns: u64) -> SystemCounters {
        let mut watch = Watch::new(ramp_ns, time_ns);
        while Instant::now() <= watch.opens && ramp_ns == 0 {}
        let own = rustix::process::getpid();
        watch.glance(own);
        // Something for the process to have used in between.
        std::hint::black_box((0..20_000_000_u64).sum::<u64>());
        watch.glance(own);
        watch.counters()
    }

    #[test]
    fn only_what_lies_in_the_window_is_counted() {
        assert!(counted(0, HOUR_NS).process_cpu_ns.is_some());
        assert_eq!(counted(HOUR_NS, HOUR_NS), SystemCounters::default(), "before it opens");
        assert_eq!(counted(0, 0), SystemCounters::default(), "after it has closed");
    }
}
