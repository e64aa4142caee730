//! Clones of a job (`numjobs` without `group_reporting`) are one job with several threads.

use std::collections::{BTreeMap, HashMap, HashSet};

use iotax_record::{DirectionRecord, JobRecord, LatencySummary};

use super::job;
use super::raw::{Global, RawJob};
use crate::importers::error::Error;
use crate::importers::imported::Imported;
use crate::importers::number::MOST;
use crate::importers::options::Options;

/// Names of jobs that are told apart; each may cost some 800 KB of histograms.
pub(super) const MOST_JOBS: usize = 512;
/// Warnings that are kept: each job may bring some.
const MOST_WARNINGS: usize = 64;

/// Adds all of `raws` to `imported`, clones merged.
pub(super) fn into(
    imported: &mut Imported,
    raws: Vec<RawJob>,
    global: &Global,
) -> Result<(), Error> {
    let copies = copies(&raws);
    let mut places: HashMap<(String, u32), usize> = HashMap::new();
    let mut names = HashSet::new();
    // I/Os that the jobs may have in flight, where all their clients say it.
    let mut slots: Vec<Option<u64>> = Vec::new();
    for raw in raws {
        let group = group(&raw)?;
        let cloned = copies[&key(&raw, group)] > 1;
        let options = global.with(&raw);
        // Without clones beside it, an entry has all threads of the job (group_reporting).
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
            // Clients of different depths: what they have in flight together counts.
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
        imported.groups.push(group);
        imported.options.push(options);
    }
    warn_of_lost_percentiles(imported);
    let mut seen = HashSet::new();
    imported.warnings.retain(|warning| seen.len() < MOST_WARNINGS && seen.insert(warning.clone()));
    Ok(())
}

/// A job's name, its group, and the server that it ran on: its host and port.
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

/// Engines that wait for each I/O: fio takes an `iodepth` for them, and uses 1.
fn is_sync(engine: &str) -> bool {
    ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice"].contains(&engine)
}

/// Queue depth; 0 where the result does not say. Without both options fio has used its defaults, or
/// the file lacks options: nobody knows.
fn depth(options: &Options) -> u32 {
    match (options.value("ioengine"), options.value("iodepth")) {
        (Some(engine), _) if is_sync(engine) => 1,
        (None, Some(_)) => 1,
        (_, Some(_)) => number(options, "iodepth"),
        (_, None) => 0,
    }
}

/// Between 1 and what fio takes at most (65536 for `iodepth`; fewer for `numjobs`).
fn number(options: &Options, name: &str) -> u32 {
    options.value(name).and_then(|text| text.parse().ok()).unwrap_or(1).clamp(1, 65_536)
}

/// fio allows jobs of one name; a record does not.
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

/// Means and variances of two samples are those of both together; percentiles are not.
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

/// Percentiles that fio gave for each clone alone are gone where there are no bins to merge.
fn warn_of_lost_percentiles(imported: &mut Imported) {
    for job in &imported.jobs {
        let is_lost = |direction: &DirectionRecord| {
            direction.ios > 0
                && direction.fio_bins.is_empty()
                && direction.summary.as_ref().is_some_and(|s| s.quantiles.is_empty())
        };
        if job.threads > 1 && job.directions().any(is_lost) {
            imported.warnings.push(format!(
                "job {}: no percentiles: those of its {} threads cannot be put together; use \
                 --output-format=json+ or group_reporting",
                job.name, job.threads
            ));
        }
    }
}

#[cfg(test)]
mod tests {
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
