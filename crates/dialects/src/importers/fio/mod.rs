//! fio's JSON and JSON+, of every version that has it: 2.0.10 of 2012 to this day.
//!
//! What changed on the way, from the history of fio's `stat.c`:
//!
//! | version | change |
//! |---|---|
//! | 2.0.10 | JSON: `slat`, `clat`, `lat` in usec; `io_bytes` in KiB; `iops` whole |
//! | 2.1.14 | `total_ios` |
//! | 2.2.5 | `timestamp` |
//! | 2.2.12 | JSON+: `bins` of `clat`, keyed by the **index** of the bucket |
//! | 2.3 | `job options`, `global options` |
//! | 2.20 | `bins` keyed by the bucket's middle, in usec |
//! | 2.21 | `io_kbytes`; `io_bytes` in bytes |
//! | 2.99 | `slat_ns`, `clat_ns`, `lat_ns` |
//! | 3.2 | `bw_bytes` |
//! | 3.4 | `sync`; no more `"0.00"` in unused places of `percentile` |
//! | 3.8 | `job_runtime` |
//! | 3.18 | `N` |
//! | 3.36 | `job_start` |
//! | 3.39 | `global options` of a client are a list, an object for each server |
//!
//! **Service time is fio's `clat`.** fio splits the life of an I/O in submission (`slat`), from its
//! submission to its end (`clat`), and the whole (`lat`). iotax's service time is completion minus
//! submission, which is `clat`. `lat` is used where nothing else has a distribution
//! (`lat_percentiles=1`), and a warning says so.

mod job;
mod merge;
mod raw;
#[cfg(test)]
mod tests;

use iotax_quantity::{set_time, time, whole};
use jiff::Timestamp;

use super::imported::{Error, Imported, Options, bytes, microseconds};
use raw::{Global, RawDirection, RawJob, RawRun, Root};

/// Text longer than this is not read: a thousand jobs with full bins are 60 MB.
const LONGEST_BYTES: usize = 64 << 20;

/// Reads what fio printed with `--output-format=json` or `json+`.
///
/// Lines before and after the JSON are kept as warnings. Of several JSON documents
/// (`--status-interval`) the last that is whole counts.
///
/// # Errors
/// One of [`Error`], with the line or the field that is wrong.
pub fn read_fio(text: &str) -> Result<Imported, Error> {
    if text.len() > LONGEST_BYTES {
        return Err(Error::TooLong { bytes: text.len(), limit: LONGEST_BYTES });
    }
    let found = raw::last(text)?;
    let root = raw::parse(&found)?;
    let version = version(&root, found.line)?;
    let started = started(&root);
    let Root { global, jobs, client_stats, iotax, .. } = root;
    let mut jobs = match (jobs, client_stats) {
        (Some(jobs), None) => jobs,
        (_, Some(stats)) => of_clients(stats),
        (None, None) => return Err(Error::NotFio { line: found.line, missing: "jobs" }),
    };
    if jobs.is_empty() {
        return Err(Error::NoJobs);
    }
    if let Some(run) = &iotax {
        name_as_recorded(&mut jobs, run);
    }
    let tool = match version.strip_prefix("iotax-") {
        Some(own) => format!("iotax {own}"),
        None => format!("fio {version}"),
    };
    let mut imported = Imported {
        tool,
        id: iotax.as_ref().and_then(RawRun::any_id),
        started,
        warnings: found.around,
        ..Imported::default()
    };
    let interim = if iotax.is_some() { None } else { warning(&jobs, &global) };
    merge::into(&mut imported, jobs, &global)?;
    imported.warnings.extend(interim);
    imported.window_ns = imported.jobs.iter().map(|job| job.active_ns).max().unwrap_or(0);
    Ok(imported)
}

/// `fio-3.33` and `fio 2.1.3` alike.
fn version(root: &Root, line: usize) -> Result<String, Error> {
    let missing = Error::NotFio { line, missing: "fio version" };
    let text = root.version.as_deref().ok_or(missing)?;
    let text = text.strip_prefix("fio").unwrap_or(text);
    Ok(text.trim_start_matches(['-', ' ']).chars().take(40).collect())
}

/// Results of `fio --client` have a sum over all clients as one more job.
fn of_clients(mut stats: Vec<RawJob>) -> Vec<RawJob> {
    if stats.len() > 1 {
        stats.retain(|job| job.jobname != "All clients");
    }
    stats
}

/// `job_start` where there is one (fio 3.36); else when the result was printed, less the time
/// since the start, which fio gives in whole seconds.
fn started(root: &Root) -> Option<String> {
    let jobs = root.jobs.as_ref().or(root.client_stats.as_ref())?;
    let first = jobs.iter().filter_map(|job| job.job_start.whole()).filter(|ms| *ms > 0).min();
    let ms = first.or_else(|| {
        let printed_ms =
            root.timestamp_ms.whole().or_else(|| root.timestamp.whole()?.checked_mul(1000))?;
        let elapsed_s = jobs.iter().filter_map(|job| job.elapsed.whole()).max()?;
        printed_ms.checked_sub(elapsed_s.checked_mul(1000)?)
    })?;
    let start = Timestamp::from_second(i64::try_from(ms / 1000).ok()?).ok()?;
    Some(start.to_string())
}

/// Names of the jobs in what `iotax run --format json` prints: those that they have in its record.
/// Jobs of several phases may have one name: they are no clones of each other. A phase of one job
/// gives it its own name, others keep theirs unless another phase has a job of that name.
fn name_as_recorded(jobs: &mut [RawJob], run: &RawRun) {
    let phases = if run.phases.is_empty() { std::slice::from_ref(run) } else { &run.phases };
    let count = |phase: &RawRun| 1 + phase.arms.first().map_or(0, |arm| arm.other_jobs.len());
    let of_phase: Vec<(&str, usize)> =
        phases.iter().map(|phase| (phase.workload.as_str(), count(phase))).collect();
    if of_phase.iter().map(|(_, count)| count).sum::<usize>() != jobs.len() {
        return; // It is none of ours, or of a version that says it otherwise.
    }
    let written: Vec<String> = jobs.iter().map(|job| job.jobname.clone()).collect();
    let mut jobs = jobs.iter_mut();
    for (workload, count) in of_phase {
        for job in jobs.by_ref().take(count) {
            let is_alone = written.iter().filter(|name| **name == job.jobname).count() == 1;
            if count == 1 && !workload.is_empty() {
                workload.clone_into(&mut job.jobname);
            } else if !is_alone {
                job.jobname = format!("{workload} {}", job.jobname);
            }
        }
    }
}

// A snapshot of a run that goes on: fio prints one each `--status-interval`, or when it gets SIGUSR1,
// and nothing in it says so.

/// A run that is shorter by less has kept its time.
const KEPT: f64 = 0.95;

/// What is said of a result in which a job has not yet done what its options ask for.
fn warning(jobs: &[RawJob], global: &Global) -> Option<String> {
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
