//! fio's result as the record of the run.

use iotax_dialects::importers::Imported;
use iotax_experiment::Job;
use iotax_record::{JobRecord, LoadRecord};

use crate::driver::{Request, offered_ios};
use crate::watch::Watch;

use super::job_file::into_window_ns;
use super::logs::{Logs, Times};

/// Lines of standard error that are kept.
const MOST_WARNINGS: usize = 20;

/// `names`: under which name fio reports each job.
pub(super) fn of(
    request: &Request<'_>,
    names: &[Option<String>],
    found: Imported,
    errors: &str,
    mut watch: Watch,
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
    load.paused = watch.paused();
    load.system = watch.counters();
    let lines = errors.lines().map(str::trim).filter(|line| !line.is_empty());
    load.warnings.extend(lines.take(MOST_WARNINGS).map(str::to_owned));
    load
}

/// Adds what fio has logged of each job from second to second.
pub(super) fn add_series(request: &Request<'_>, logs: &Logs, load: &mut LoadRecord) {
    let jobs = request.workload.jobs.iter().zip(&mut load.jobs);
    for (number, (job, JobRecord { read, write, trim, .. })) in jobs.enumerate() {
        let late_ns = into_window_ns(request, job);
        let directions = [read, write].into_iter().chain(trim);
        logs.add_to(directions, number, Times { late_ns, window_ns: request.time_ns });
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
    record.offered_ios = offered_ios(job, record.active_ns);
    record
}
