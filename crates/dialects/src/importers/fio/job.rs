//! Converts one job of the result to a job of iotax.

use std::io;

use iotax_record::{DirectionRecord, FioLatency, JobRecord, LatencyHistogram, LatencySummary};

use super::raw::{RawDirection, RawJob, RawLatency};
use crate::importers::imported::{Error, MOST, Number, whole};

/// Limit for the length of a run: ten years, in milliseconds.
const LONGEST_MS: u64 = 10 * 366 * 86_400_000;

const MS_NS: u64 = 1_000_000;
/// In shorter runs, a millisecond is a tenth or more.
const SHORT_MS: u64 = 10;

/// Reads one entry of `jobs`; parts that have no place in a record go to `notes`. `threads` is the
/// number of threads that fio combined in it.
pub(super) fn read_job(
    raw: &RawJob,
    threads: u32,
    notes: &mut Vec<String>,
) -> Result<JobRecord, Error> {
    let name = &raw.jobname;
    let count =
        |number: Number, field: &str| number.count(name, field).map(Option::unwrap_or_default);
    let (read, write) = directions(raw, notes)?;
    let trim = direction(&raw.trim, name, "trim", notes)?;
    let parts = [&raw.read, &raw.write, &raw.trim, &raw.mixed];
    let active_ns = parts
        .into_iter()
        .zip(["read", "write", "trim", "mixed"])
        .map(|(direction, part)| active_ns(direction, name, part))
        .try_fold(0, |longest, ns| Ok(ns?.max(longest)))?;
    let total_ms = match count(raw.job_runtime, "job_runtime")? {
        0 => (active_ns / MS_NS).saturating_mul(u64::from(threads)),
        ms => ms,
    };
    let cpu_ns = |percent: Number, field: &str| -> Result<u64, Error> {
        let percent = percent.positive(name, field)?.unwrap_or(0.0);
        Ok(whole(percent / 100.0 * total_ms as f64 * 1e6).min(MOST))
    };
    let (sync, sync_summary) = sync(raw)?;
    let mut job = JobRecord {
        name: name.clone(),
        threads,
        active_ns,
        read,
        write,
        trim: Some(trim).filter(|trim| trim.ios > 0),
        sync,
        sync_summary,
        cpu_user_ns: cpu_ns(raw.usr_cpu, "usr_cpu")?,
        cpu_system_ns: cpu_ns(raw.sys_cpu, "sys_cpu")?,
        minor_faults: count(raw.minf, "minf")?,
        major_faults: count(raw.majf, "majf")?,
        context_switches: count(raw.ctx, "ctx")?,
        first_error: first_error(raw)?,
        ..JobRecord::default()
    };
    // fio counts errors of all directions together.
    let errors = count(raw.total_err, "total_err")?;
    let only_writes = job.read.ios == 0 && job.write.ios > 0;
    let of = match &mut job.trim {
        Some(trim) if job.read.ios + job.write.ios == 0 => trim,
        _ if only_writes => &mut job.write,
        _ => &mut job.read,
    };
    of.errors = errors;
    Ok(job)
}

/// How long a direction ran: in milliseconds, but more exactly for short runs, from the rate.
fn active_ns(raw: &RawDirection, job: &str, part: &str) -> Result<u64, Error> {
    let ms = runtime_ms(raw.runtime, job, part)?;
    let ios = raw.total_ios.count(job, format_args!("{part}.total_ios"))?.unwrap_or(0);
    let per_s = raw.iops.positive(job, format_args!("{part}.iops"))?.unwrap_or(0.0);
    if ms >= SHORT_MS || ios == 0 || per_s == 0.0 {
        return Ok(ms * MS_NS);
    }
    let ns = whole(ios as f64 / per_s * 1e9);
    Ok(if ns.abs_diff(ms * MS_NS) < MS_NS { ns } else { ms * MS_NS })
}

fn runtime_ms(number: Number, job: &str, part: &str) -> Result<u64, Error> {
    let field = format!("{part}.runtime");
    match number.count(job, &field)? {
        Some(ms) if ms > LONGEST_MS => Err(number.wrong(job, field, "less than ten years")),
        ms => Ok(ms.unwrap_or(0)),
    }
}

fn first_error(raw: &RawJob) -> Result<Option<String>, Error> {
    let code = raw.error.count(&raw.jobname, "error")?.unwrap_or(0);
    Ok((code > 0).then(|| match i32::try_from(code) {
        Ok(code) => format!("fio: {}", io::Error::from_raw_os_error(code)),
        Err(_) => format!("fio: error {code}"),
    }))
}

fn directions(
    raw: &RawJob,
    notes: &mut Vec<String>,
) -> Result<(DirectionRecord, DirectionRecord), Error> {
    let name = &raw.jobname;
    let read = direction(&raw.read, name, "read", notes)?;
    let write = direction(&raw.write, name, "write", notes)?;
    if read.ios > 0 || write.ios > 0 {
        return Ok((read, write));
    }
    let mixed = direction(&raw.mixed, name, "mixed", notes)?;
    if mixed.ios == 0 {
        return Ok((read, write));
    }
    notes.push(format!(
        "job {name}: fio combined reads and writes (unified_rw_reporting); all are shown as reads"
    ));
    Ok((mixed, write))
}

fn direction(
    raw: &RawDirection,
    job: &str,
    part: &str,
    notes: &mut Vec<String>,
) -> Result<DirectionRecord, Error> {
    let count = |number: Number, field: &str| number.count(job, format_args!("{part}.{field}"));
    let ios = if let Some(ios) = count(raw.total_ios, "total_ios")? {
        ios
    } else {
        // fio before 2.1.14 gives only the rate.
        let iops = raw.iops.positive(job, format_args!("{part}.iops"))?.unwrap_or(0.0);
        let ms = runtime_ms(raw.runtime, job, part)?;
        whole(iops * ms as f64 / 1e3).min(MOST)
    };
    let io_bytes = count(raw.io_bytes, "io_bytes")?.unwrap_or(0);
    // In KiB up to fio 2.20; 2.21 introduced io_kbytes.
    let is_kib = raw.io_kbytes == Number::Absent;
    let bytes = if is_kib { io_bytes.saturating_mul(1024) } else { io_bytes };
    let mut record = DirectionRecord {
        ios,
        bytes: Number::Whole(bytes).count(job, format_args!("{part}.io_bytes"))?.unwrap_or(0),
        short_ios: count(raw.short_ios, "short_ios")?.unwrap_or(0),
        service: LatencyHistogram::empty(),
        ..DirectionRecord::default()
    };
    if ios == 0 {
        return Ok(record);
    }
    let Some(chosen) = chosen(raw) else { return Ok(record) };
    let field = format!("{part}.{}.bins", chosen.name);
    record.fio_bins = read_bins(chosen.latency, chosen.unit_ns, job, &field)?;
    record.service = histogram(&record.fio_bins);
    record.summary = Some(summary(&chosen, job, part)?);
    if chosen.is_total {
        notes.push(format!(
            "job {job}: {part} latencies are fio's lat (which includes submission), because the \
             result has less clat data than lat data"
        ));
    }
    Ok(record)
}

/// The latencies that are used as service time.
struct Chosen<'a> {
    latency: &'a RawLatency,
    unit_ns: u64,
    name: &'static str,
    is_total: bool,
}

/// `clat`, unless only `lat` has a distribution.
fn chosen(raw: &RawDirection) -> Option<Chosen<'_>> {
    let all = [
        (&raw.clat_ns, 1, "clat_ns", false),
        (&raw.clat, 1000, "clat", false),
        (&raw.lat_ns, 1, "lat_ns", true),
        (&raw.lat, 1000, "lat", true),
    ];
    let there = || {
        all.iter().filter_map(|(latency, unit_ns, name, is_total)| {
            let latency = latency.as_ref().filter(|latency| is_measured(latency))?;
            Some(Chosen { latency, unit_ns: *unit_ns, name, is_total: *is_total })
        })
    };
    there()
        .find(|chosen| !chosen.latency.bins.0.is_empty())
        .or_else(|| there().find(|chosen| chosen.latency.has_percentiles()))
        .or_else(|| there().next())
}

/// With `disable_clat=1`, all of it is 0.
fn is_measured(latency: &RawLatency) -> bool {
    let is_told = !latency.bins.0.is_empty() || latency.has_percentiles();
    is_told || latency.max.float().is_some_and(|max| max > 0.0)
}

impl RawLatency {
    fn has_percentiles(&self) -> bool {
        self.percentile.0.iter().any(|(key, value)| is_real(key, *value))
    }
}

/// Versions before 3.4 pad the percentiles with `"0.00" : 0`.
fn is_real(key: &str, value: Number) -> bool {
    !(key == "0.00" && value == Number::Whole(0))
}

fn summary(chosen: &Chosen<'_>, job: &str, part: &str) -> Result<LatencySummary, Error> {
    let Chosen { latency, unit_ns, name, is_total } = chosen;
    let field = |member: &str| format!("{part}.{name}.{member}");
    let ns = |number: Number, member: &str| -> Result<Option<u64>, Error> {
        let units = number.count(job, field(member))?;
        Ok(units.map(|units| units.saturating_mul(*unit_ns)))
    };
    let float_ns = |number: Number, member: &str| -> Result<Option<f64>, Error> {
        Ok(number.positive(job, field(member))?.map(|units| units * *unit_ns as f64))
    };
    let mut quantiles = Vec::new();
    for (key, value) in latency.percentile.0.iter().filter(|(key, value)| is_real(key, *value)) {
        let percent = key.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
        let Some(percent): Option<f64> = percent else {
            let (job, value) = (job.to_owned(), format!("{key:?}"));
            let (field, expected) = (field("percentile"), "a percentage");
            return Err(Error::Number { job, field, value, expected });
        };
        let value = ns(*value, &format!("percentile.{key:?}"))?.unwrap_or(0);
        quantiles.push((percent / 100.0, value));
    }
    Ok(LatencySummary {
        mean_ns: float_ns(latency.mean, "mean")?.unwrap_or(0.0),
        stddev_ns: float_ns(latency.stddev, "stddev")?,
        min_ns: ns(latency.min, "min")?,
        max_ns: ns(latency.max, "max")?,
        quantiles,
        called: Some(if *is_total { FioLatency::Lat } else { FioLatency::Clat }),
    })
}

/// The latencies of syncs: their distribution, or else fio's summary. In fio 3.33 `total_ios` is 0;
/// use `N` instead.
fn sync(raw: &RawJob) -> Result<(LatencyHistogram, Option<(u64, LatencySummary)>), Error> {
    let name = &raw.jobname;
    let Some(latency) = &raw.sync.lat_ns else { return Ok((LatencyHistogram::empty(), None)) };
    let bins = read_bins(latency, 1, name, "sync.lat_ns.bins")?;
    let samples = latency.samples.count(name, "sync.lat_ns.N")?.unwrap_or(0);
    if !bins.is_empty() || samples == 0 {
        return Ok((histogram(&bins), None));
    }
    let chosen = Chosen { latency, unit_ns: 1, name: "lat_ns", is_total: true };
    Ok((histogram(&bins), Some((samples, summary(&chosen, name, "sync")?))))
}

/// Each bin counts at its middle, as in fio's own percentiles.
fn histogram(bins: &[(u64, u64)]) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::empty();
    for (middle_ns, count) in bins {
        histogram.record_many(*middle_ns, *count);
    }
    histogram
}

// The bins of JSON+: fio's histogram, and how different versions name its buckets.

/// Bits of precision in each power of two: `FIO_IO_U_PLAT_BITS` of all versions.
const BITS: u32 = 6;
/// An hour: fio's last bucket ends at 17 s.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Bins as middles in nanoseconds, ascending, with counts. `unit_ns` is fio's unit of measurement.
fn read_bins(
    latency: &RawLatency,
    unit_ns: u64,
    job: &str,
    field: &str,
) -> Result<Vec<(u64, u64)>, Error> {
    // fio 2.2.12 to 2.19 name buckets by index, and describe them in three members.
    let by_index = latency.bins.0.iter().any(|(key, _)| key.starts_with("FIO_IO_U_PLAT_"));
    let mut bins = Vec::with_capacity(latency.bins.0.len());
    for (key, count) in &latency.bins.0 {
        if key.starts_with("FIO_IO_U_PLAT_") {
            continue;
        }
        let middle_ns = key
            .parse()
            .ok()
            .and_then(|key| if by_index { middle(key) } else { Some(key) })
            .and_then(|units| units.checked_mul(unit_ns))
            .filter(|ns| *ns <= LONGEST_NS);
        let Some(middle_ns) = middle_ns else {
            let why = "a bucket of less than an hour";
            let (job, value) = (job.to_owned(), format!("{key:?}"));
            return Err(Error::Number { job, field: field.to_owned(), value, expected: why });
        };
        let count = count.count(job, format_args!("{field}.{key:?}"))?.unwrap_or(0);
        if count > 0 {
            bins.push((middle_ns, count));
        }
    }
    bins.sort_unstable();
    let total = bins.iter().try_fold(0u64, |sum, (_, n)| sum.checked_add(*n)).unwrap_or(u64::MAX);
    if total > MOST {
        let number = Number::Whole(total);
        return Err(number.wrong(job, field, "at most 9 * 10^15 in all"));
    }
    Ok(bins)
}

/// Middle of the bucket with this index, as in `plat_idx_to_val` in fio's `stat.c`.
fn middle(index: u64) -> Option<u64> {
    if index < 1 << (BITS + 1) {
        return Some(index);
    }
    let error_bits = u32::try_from((index >> BITS) - 1).ok().filter(|bits| *bits < 48)?;
    let base = 1u64 << (error_bits + BITS);
    let in_group = index % (1 << BITS);
    // (k + 0.5) * 2^e; e is at least 1 here, so this is a whole number.
    Some(base + (in_group << error_bits) + (1 << (error_bits - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_where_fio_has_them() {
        // From the table in fio's stat.h, and a key that fio 3.33 printed (44288).
        assert_eq!(middle(0), Some(0));
        assert_eq!(middle(127), Some(127));
        assert_eq!(middle(128), Some(129));
        assert_eq!(middle(191), Some(255));
        assert_eq!(middle(192), Some(258));
        assert!((0..29 * 64).any(|i| middle(i) == Some(44_288)));
        assert_eq!(middle(u64::MAX), None);
    }
}
