//! A snapshot of a run that goes on: fio prints one each `--status-interval`, or when it gets SIGUSR1,
//! and nothing in it says so.

use iotax_quantity::{set_time, time, whole};

use super::merge::value;
use super::raw::{Global, RawDirection, RawJob};

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
        let options: Vec<_> = global.of(job).iter().chain(&job.options.0).cloned().collect();
        let Some(asked) = value(&options, "runtime").or(value(&options, "timeout")) else {
            return unmoved(job, &options);
        };
        let asked_s = seconds(asked)?;
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
fn unmoved(job: &RawJob, options: &[(String, String)]) -> Option<String> {
    // Orders and bounds with which it moves less.
    let is_plain =
        ["number_ios", "zonemode", "zonerange", "file_service_type", "steadystate", "ss"]
            .iter()
            .all(|name| value(options, name).is_none());
    let is_plain = is_plain && value(options, "rw").is_none_or(|order| !order.contains(':'));
    let (moved, asked) = left(job, options).filter(|_| is_plain)?;
    let shown = iotax_quantity::bytes;
    Some(format!("job {} moved {} of {} (size)", job.jobname, shown(moved), shown(asked)))
}

/// Bytes that a job has moved, and those that its size asks for, if these are more: a job that is
/// through is over before its time. A size that is a share of a file is not known.
fn left(job: &RawJob, options: &[(String, String)]) -> Option<(f64, f64)> {
    let asked = value(options, "io_size").or(value(options, "io_limit")).or(value(options, "size"));
    let asked = bytes(asked?)?;
    let moved: f64 = directions(job).iter().filter_map(|way| way.io_bytes.float()).sum();
    (moved < asked * KEPT).then_some((moved, asked))
}

/// As fio reads a time: in seconds where it has no unit.
fn seconds(text: &str) -> Option<f64> {
    let (number, unit) = split(text)?;
    let unit_s = match unit.as_str() {
        "" | "s" => 1.0,
        "us" => 1e-6,
        "ms" => 1e-3,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    Some(number * unit_s).filter(|s| *s > 0.0)
}

/// As fio reads a size, with powers of 1024.
fn bytes(text: &str) -> Option<f64> {
    let (number, unit) = split(text)?;
    let power = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    Some(number * 1024_f64.powi(power))
}

fn split(text: &str) -> Option<(f64, String)> {
    let text = text.trim();
    let at = text.find(|c: char| c.is_ascii_alphabetic() || c == '%').unwrap_or(text.len());
    Some((text[..at].trim().parse().ok()?, text[at..].to_ascii_lowercase()))
}
