//! A snapshot of a run that goes on: fio prints one each `--status-interval`, or when it gets SIGUSR1,
//! and nothing in it says so.

use iotax_quantity::{set_time, time, whole};

use super::raw::{Global, RawDirection, RawJob};
use crate::importers::options::{Options, bytes, microseconds};

/// A run that is shorter by less has kept its time.
const KEPT: f64 = 0.95;

/// What is said of a result in which a job has not yet done what its options ask for.
pub(super) fn warning(jobs: &[RawJob], global: &Global) -> Option<String> {
    let is_started = |job: &RawJob| directions(job).iter().any(|way| ios(way) > 0);
    if !jobs.iter().any(is_started) {
        return None;
    }
    let found = jobs.iter().find_map(|job| {
        if job.error.whole().is_some_and(|error| error > 0) {
            return None;
        }
        let name = &job.jobname;
        if !is_started(job) {
            return Some(format!("job {name} has done no I/O yet"));
        }
        let options = global.with(job);
        let Some(asked) = options.value("runtime").or(options.value("timeout")) else {
            return unmoved(job, &options);
        };
        let asked_s = microseconds(asked).filter(|us| *us > 0)? as f64 / 1e6;
        let ways_ms = directions(job).into_iter().filter_map(|way| way.runtime.float());
        let ran_s = ways_ms.fold(0.0, f64::max) / 1e3;
        let is_short = ran_s < asked_s * KEPT && left(job, &options).is_some();
        is_short.then(|| {
            let (ran, asked) = (time(ran_s * 1e9), set_time(whole(asked_s * 1e9)));
            format!("job {name} ran for {ran} of {asked} (runtime)")
        })
    })?;
    Some(format!(
        "{found}: this is an interim snapshot of --status-interval, or fio ended early; of a run that \
         is over, the last result counts"
    ))
}

fn directions(job: &RawJob) -> [&RawDirection; 4] {
    [&job.read, &job.write, &job.trim, &job.mixed]
}

fn ios(way: &RawDirection) -> u64 {
    way.total_ios.whole().or(way.io_bytes.whole()).unwrap_or(0)
}

/// A job without a time that has not moved all that its size asks for.
fn unmoved(job: &RawJob, options: &Options) -> Option<String> {
    // Orders and bounds with which it moves less.
    let is_plain =
        ["number_ios", "zonemode", "zonerange", "file_service_type", "steadystate", "ss"]
            .iter()
            .all(|name| options.value(name).is_none());
    let is_plain = is_plain && options.value("rw").is_none_or(|order| !order.contains(':'));
    let (moved, asked) = left(job, options).filter(|_| is_plain)?;
    let shown = iotax_quantity::bytes;
    Some(format!("job {} moved {} of {} (size)", job.jobname, shown(moved), shown(asked)))
}

/// Bytes that a job has moved, and those that its size asks for, if these are more: a job that is
/// through is over before its time. A size that is a share of a file is not known.
fn left(job: &RawJob, options: &Options) -> Option<(f64, f64)> {
    let asked = ["io_size", "io_limit", "size"].into_iter().find_map(|name| options.value(name));
    let asked = bytes(asked?)? as f64;
    let moved: f64 = directions(job).iter().filter_map(|way| way.io_bytes.float()).sum();
    (moved < asked * KEPT).then_some((moved, asked))
}
