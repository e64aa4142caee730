//! Reads fio's JSON and JSON+, of all versions that have it: since 2.0.10 of 2012.
//!
//! Changes over time, from the history of fio's `stat.c`:
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
//! **Service time is fio's `clat`.** fio splits the life of an I/O into the submission (`slat`),
//! the time from submission to completion (`clat`), and the whole (`lat`). iotax's service time is
//! completion minus submission, which is `clat`. `lat` is used, with a warning, if only `lat` has a
//! distribution (`lat_percentiles=1`).

mod job;
mod raw;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};

use iotax_quantity::{set_time, time, whole};
use iotax_record::{DirectionRecord, JobRecord, LatencySummary};
use jiff::Timestamp;

use super::imported::{Error, Imported, MOST, Options, bytes, microseconds};
use raw::{Global, RawDirection, RawJob, RawRun, Root};

/// Longest text to read: a thousand jobs with full bins are 60 MB.
const LONGEST_BYTES: usize = 64 << 20;

/// Reads the output of fio with `--output-format=json` or `json+`.
///
/// Lines before and after the JSON are kept as warnings. If there are several JSON documents
/// (`--status-interval`), the last complete one counts.
///
/// # Errors
/// One of [`Error`], with the wrong line or field.
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
    add_all(&mut imported, jobs, &global)?;
    imported.warnings.extend(interim);
    imported.window_ns = imported.jobs.iter().map(|job| job.active_ns).max().unwrap_or(0);
    Ok(imported)
}

/// `fio-3.33` or `fio 2.1.3`.
fn version(root: &Root, line: usize) -> Result<String, Error> {
    let missing = Error::NotFio { line, missing: "fio version" };
    let text = root.version.as_deref().ok_or(missing)?;
    let text = text.strip_prefix("fio").unwrap_or(text);
    Ok(text.trim_start_matches(['-', ' ']).chars().take(40).collect())
}

/// Results of `fio --client` have the sum over all clients as an additional job.
fn of_clients(mut stats: Vec<RawJob>) -> Vec<RawJob> {
    if stats.len() > 1 {
        stats.retain(|job| job.jobname != "All clients");
    }
    stats
}

/// `job_start` if there is one (fio 3.36); otherwise the time when the result was printed minus the
/// elapsed time, which fio gives in whole seconds.
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

/// Sets the names of jobs in output of `iotax run --format json` to those in the record. Jobs of
/// different phases can have the same name without being clones. The only job of a phase gets the
/// name of the phase; other jobs keep theirs unless another phase has a job with the same name.
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

// Detects a snapshot of an unfinished run: fio prints one every `--status-interval`, or on SIGUSR1,
// without saying so.

/// A run that lasted at least this fraction of its time is complete.
const KEPT: f64 = 0.95;

/// A warning if a job has not yet done what its options ask for.
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
        "{found}: this is an interim snapshot (--status-interval), or fio ended early; use the \
         last result of a finished run"
    ))
}

fn directions(job: &RawJob) -> [&RawDirection; 4] {
    [&job.read, &job.write, &job.trim, &job.mixed]
}

fn ios(way: &RawDirection) -> u64 {
    way.total_ios.whole().or(way.io_bytes.whole()).unwrap_or(0)
}

/// A job without a time limit that has not moved all bytes of its size.
fn unmoved(job: &RawJob, options: &Options) -> Option<String> {
    // Orders and limits with which it moves less.
    let is_plain =
        ["number_ios", "zonemode", "zonerange", "file_service_type", "steadystate", "ss"]
            .iter()
            .all(|name| options.value(name).is_none());
    let is_plain = is_plain && options.value("rw").is_none_or(|order| !order.contains(':'));
    let (moved, asked) = left(job, options).filter(|_| is_plain)?;
    let shown = iotax_quantity::bytes;
    Some(format!("job {} transferred {} of {} (size)", job.jobname, shown(moved), shown(asked)))
}

/// Bytes that a job has moved, and the bytes of its size if those are more: a finished job may end
/// before its time. `None` for a size that is a percentage of a file.
fn left(job: &RawJob, options: &Options) -> Option<(f64, f64)> {
    let asked = ["io_size", "io_limit", "size"].into_iter().find_map(|name| options.value(name));
    let asked = bytes(asked?)? as f64;
    let moved: f64 = directions(job).iter().filter_map(|way| way.io_bytes.float()).sum();
    (moved < asked * KEPT).then_some((moved, asked))
}

// Clones of a job (`numjobs` without `group_reporting`) are one job with several threads.

/// Limit for the number of jobs; each may need some 800 KB of histograms.
const MOST_JOBS: usize = 512;
/// Limit for the number of warnings; each job may add some.
const MOST_WARNINGS: usize = 64;

/// Adds all of `raws` to `imported` and merges clones.
fn add_all(imported: &mut Imported, raws: Vec<RawJob>, global: &Global) -> Result<(), Error> {
    let copies = copies(&raws);
    let mut places: HashMap<(String, u32), usize> = HashMap::new();
    let mut names = HashSet::new();
    // I/Os that the jobs may have in flight, if all their clients give it.
    let mut slots: Vec<Option<u64>> = Vec::new();
    for raw in raws {
        let group = group(&raw)?;
        let cloned = copies[&key(&raw, group)] > 1;
        let options = global.with(&raw);
        // An entry without clones has all threads of the job (group_reporting).
        let threads = if cloned { 1 } else { number(&options, "numjobs") };
        let mut record = job::read_job(&raw, threads, &mut imported.warnings)?;
        options.value("ioengine").unwrap_or("psync").clone_into(&mut record.engine);
        record.queue_depth = depth(&options);
        let own = u64::from(record.threads) * u64::from(record.queue_depth);
        let own = Some(own).filter(|own| *own > 0);
        let place = (raw.jobname, group);
        if let Some(at) = places.get(&place) {
            let job = &mut imported.jobs[*at];
            add(job, record)?;
            slots[*at] = slots[*at].zip(own).map(|(all, own)| all + own);
            // If clients have different depths, their I/Os in flight are added up.
            job.queue_depth = slots[*at].map_or(0, |all| {
                u32::try_from(all.div_ceil(u64::from(job.threads.max(1)))).unwrap_or(u32::MAX)
            });
            continue;
        }
        slots.push(own);
        if imported.jobs.len() == MOST_JOBS {
            return Err(Error::TooManyJobs { limit: MOST_JOBS });
        }
        record.name = unique(&mut names, &place.0);
        places.insert(place, imported.jobs.len());
        imported.jobs.push(record);
        imported.options.push(options);
    }
    warn_of_lost_percentiles(imported);
    let mut seen = HashSet::new();
    imported.warnings.retain(|warning| seen.len() < MOST_WARNINGS && seen.insert(warning.clone()));
    Ok(())
}

/// A job's name, its group, and the host and port of its server.
type Key = (String, u32, String, Option<u64>);

fn key(raw: &RawJob, group: u32) -> Key {
    (raw.jobname.clone(), group, raw.hostname.clone(), raw.port.whole())
}

fn copies(raws: &[RawJob]) -> HashMap<Key, u32> {
    let mut copies = HashMap::new();
    for raw in raws {
        *copies.entry(key(raw, group(raw).unwrap_or(0))).or_insert(0) += 1;
    }
    copies
}

fn group(raw: &RawJob) -> Result<u32, Error> {
    let group = raw.groupid.count(&raw.jobname, "groupid")?.unwrap_or(0);
    u32::try_from(group).map_err(|_| raw.groupid.wrong(&raw.jobname, "groupid", "a small number"))
}

/// Engines that wait for each I/O: fio accepts an `iodepth` for them, but uses 1.
fn is_sync(engine: &str) -> bool {
    ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice"].contains(&engine)
}

/// Queue depth; 0 if unknown. If both options are missing, fio has used its defaults or the file
/// lacks options, so the depth is unknown.
fn depth(options: &Options) -> u32 {
    match (options.value("ioengine"), options.value("iodepth")) {
        (Some(engine), _) if is_sync(engine) => 1,
        (None, Some(_)) => 1,
        (_, Some(_)) => number(options, "iodepth"),
        (_, None) => 0,
    }
}

/// Between 1 and fio's maximum (65536 for `iodepth`; fewer for `numjobs`).
fn number(options: &Options, name: &str) -> u32 {
    options.value(name).and_then(|text| text.parse().ok()).unwrap_or(1).clamp(1, 65_536)
}

/// fio allows several jobs with one name; a record does not.
fn unique(names: &mut HashSet<String>, name: &str) -> String {
    let base = if name.is_empty() { "job" } else { name };
    let mut unique = base.to_owned();
    let mut n = 1;
    while !names.insert(unique.clone()) {
        n += 1;
        unique = format!("{base} #{n}");
    }
    unique
}

fn add(job: &mut JobRecord, clone: JobRecord) -> Result<(), Error> {
    let name = job.name.clone();
    let sum = |into: &mut u64, more: u64, field: &str| -> Result<(), Error> {
        *into = into.checked_add(more).filter(|sum| *sum <= MOST).ok_or_else(|| {
            let (job, field) = (name.clone(), format!("the sum of {field} over its clones"));
            Error::Number {
                job,
                field,
                value: "too large".to_owned(),
                expected: "at most 9 * 10^15",
            }
        })?;
        Ok(())
    };
    let trims = clone.trim.map(|more| (job.trim.get_or_insert_default(), more));
    let both = [(&mut job.read, clone.read), (&mut job.write, clone.write)];
    for (into, more) in both.into_iter().chain(trims) {
        let ios = into.ios;
        sum(&mut into.ios, more.ios, "total_ios")?;
        sum(&mut into.bytes, more.bytes, "io_bytes")?;
        sum(&mut into.errors, more.errors, "total_err")?;
        sum(&mut into.short_ios, more.short_ios, "short_ios")?;
        add_latencies(into, ios, more);
    }
    sum(&mut job.cpu_user_ns, clone.cpu_user_ns, "usr_cpu")?;
    sum(&mut job.cpu_system_ns, clone.cpu_system_ns, "sys_cpu")?;
    sum(&mut job.minor_faults, clone.minor_faults, "minf")?;
    sum(&mut job.major_faults, clone.major_faults, "majf")?;
    sum(&mut job.context_switches, clone.context_switches, "ctx")?;
    job.sync.merge(&clone.sync);
    job.sync_summary = match (job.sync_summary.take(), clone.sync_summary) {
        (Some((m, a)), Some((n, b))) => Some((m.saturating_add(n), summary(&a, m, &b, n))),
        (a, b) => a.or(b),
    };
    job.active_ns = job.active_ns.max(clone.active_ns);
    job.threads = job.threads.saturating_add(clone.threads);
    job.first_error = job.first_error.take().or(clone.first_error);
    Ok(())
}

/// `into` had `ios` I/Os before.
fn add_latencies(into: &mut DirectionRecord, ios: u64, more: DirectionRecord) {
    if more.ios == 0 {
        return;
    }
    into.summary = match (into.summary.take(), more.summary) {
        (Some(a), Some(b)) => Some(summary(&a, ios, &b, more.ios)),
        (a, b) => a.or(b),
    };
    let mut bins: BTreeMap<u64, u64> = into.fio_bins.iter().copied().collect();
    for (middle_ns, count) in more.fio_bins {
        let bin = bins.entry(middle_ns).or_default();
        *bin = bin.saturating_add(count);
    }
    into.fio_bins = bins.into_iter().collect();
    into.service.merge(&more.service);
}

/// Means and variances of two samples can be combined; percentiles cannot.
fn summary(a: &LatencySummary, a_ios: u64, b: &LatencySummary, b_ios: u64) -> LatencySummary {
    let (a_n, b_n) = (a_ios as f64, b_ios as f64);
    let mean = |x: f64, y: f64| (x * a_n + y * b_n) / (a_n + b_n);
    let square = |s: &LatencySummary| Some(s.stddev_ns? * s.stddev_ns? + s.mean_ns * s.mean_ns);
    let mean_ns = mean(a.mean_ns, b.mean_ns);
    let stddev_ns =
        square(a).zip(square(b)).map(|(x, y)| (mean(x, y) - mean_ns * mean_ns).max(0.0).sqrt());
    LatencySummary {
        mean_ns,
        stddev_ns,
        min_ns: a.min_ns.min(b.min_ns),
        max_ns: a.max_ns.max(b.max_ns),
        quantiles: Vec::new(),
        called: a.called,
    }
}

/// Warns that percentiles of single clones are lost if there are no bins to merge.
fn warn_of_lost_percentiles(imported: &mut Imported) {
    for job in &imported.jobs {
        let is_lost = |direction: &DirectionRecord| {
            direction.ios > 0
                && direction.fio_bins.is_empty()
                && direction.summary.as_ref().is_some_and(|s| s.quantiles.is_empty())
        };
        if job.threads > 1 && job.directions().any(is_lost) {
            imported.warnings.push(format!(
                "job {}: no percentiles, because the percentiles of its {} threads cannot be \
                 merged; use --output-format=json+ or group_reporting",
                job.name, job.threads
            ));
        }
    }
}

#[cfg(test)]
mod tests_of_merge {
    use super::depth;

    #[test]
    fn a_depth_that_is_not_told_is_not_known() {
        let of = |options: &[(&str, &str)]| {
            let owned = options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            depth(&owned.collect())
        };
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&[("ioengine", "libaio"), ("rw", "randread")]), 0);
        assert_eq!(of(&[("ioengine", "libaio"), ("iodepth", "32")]), 32);
        assert_eq!(of(&[("ioengine", "psync"), ("iodepth", "32")]), 1);
        assert_eq!(of(&[("iodepth", "32")]), 1, "fio's default engine waits for each");
    }
}
