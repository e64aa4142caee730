//! fio's result as the record of the run.

use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::PathBuf;

use iotax_dialects::fio_write::Section;
use iotax_dialects::importers::Imported;
use iotax_experiment::Job;
use iotax_record::{DirectionRecord, JobRecord, LoadRecord};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount,
    fsopen,
};

use super::into_window_ns;
use crate::counters::Watch;
use crate::driver::{Request, offered_ios};

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

// What fio logs of each thread while it runs: the series of every second.
//
// fio chooses the names of its logs itself, so they need a directory; but a killed run must leave
// nothing behind. So the directory is a file system in memory that is not mounted anywhere. It
// exists while this process holds it, and fio reaches it through `/proc`. That needs root; without
// root only the series is missing.

/// Two lines per interval, direction and thread: half an hour of a hundred threads.
const MOST_BYTES: &str = "64m";

/// The logs of one run.
pub(super) struct Logs {
    directory: OwnedFd,
}

impl Logs {
    /// A place for logs; `None` without the permission for it.
    pub(super) fn new() -> Option<Self> {
        let make = || {
            let memory = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
            fsconfig_set_string(&memory, "mode", "0700")?;
            fsconfig_set_string(&memory, "size", MOST_BYTES)?;
            fsconfig_create(&memory)?;
            let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
            fsmount(&memory, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
        };
        make().ok().map(|directory: OwnedFd| Self { directory })
    }

    /// As other processes of this user reach it.
    fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.directory.as_raw_fd()).into()
    }

    /// Makes fio log a job, in a file for each thread.
    pub(super) fn ask(&self, section: &mut Section, job: usize) {
        let name = self.path().join(job.to_string()).display().to_string();
        section.set("write_iops_log", name.clone());
        section.set("write_bw_log", name);
        section.set("log_avg_msec", INTERVAL_MS.to_string());
        section.set("per_job_logs", "1");
    }

    /// Adds the series of a job to its reads, writes and trims. The job began `late_ns` after the
    /// window, which is so long.
    pub(super) fn add_to<'a>(
        &self,
        directions: impl Iterator<Item = &'a mut DirectionRecord>,
        job: usize,
        times: Times,
    ) {
        let (ios, kib) = (self.samples(job, "iops"), self.samples(job, "bw"));
        for (direction, record) in (0..).zip(directions) {
            let mut amounts = Amounts::new(times.late_ns, times.window_ns);
            for thread in &ios {
                amounts.add_ios(thread, direction);
            }
            let per_second = amounts.per_second().into_iter();
            record.per_second_ios =
                per_second.map(|ios| u32::try_from(ios).unwrap_or(u32::MAX)).collect();
            let mut amounts = Amounts::new(times.late_ns, times.window_ns);
            for thread in &kib {
                amounts.add_kib(thread, direction);
            }
            record.per_second_bytes = amounts.per_second();
        }
    }

    /// What was logged of each thread of a job, under the names that fio makes.
    fn samples(&self, job: usize, kind: &str) -> Vec<Vec<Sample>> {
        let entries = fs::read_dir(self.path()).into_iter().flatten().flatten();
        let begin = format!("{job}_{kind}.");
        let is_wanted = |entry: &fs::DirEntry| {
            entry.file_name().to_str().is_some_and(|name| name.starts_with(&begin))
        };
        let texts = entries.filter(is_wanted).filter_map(|entry| fs::read(entry.path()).ok());
        texts.map(|text| Sample::all(&String::from_utf8_lossy(&text))).collect()
    }
}

/// Where the seconds of a job lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// The job's own window opens so long after the trial's.
    pub late_ns: u64,
    /// The trial's.
    pub window_ns: u64,
}

// fio's log lines as the amounts of whole seconds.
//
// fio writes the rate of every interval: `1013, 14190, 0, 4096, 0` is milliseconds since the end of
// the job's ramp, the rate (I/Os or KiB per second, rounded down), and the direction. An interval
// without I/O has no line. Times drift, because an interval takes a little longer than intended, so
// amounts are spread over the seconds that they belong to.

/// How often fio writes a line. What has happened since the last one is in none: 250 ms at most.
const INTERVAL_MS: u64 = 250;

/// A line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sample {
    pub at_ms: u64,
    pub rate: u64,
    /// 0 for reads, 1 for writes, 2 for trims.
    pub direction: u8,
}

impl Sample {
    /// All lines of a log; the last may be cut off, and is left out then.
    pub(super) fn all(text: &str) -> Vec<Self> {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().filter_map(Self::of).collect()
    }

    fn of(line: &str) -> Option<Self> {
        let mut fields = line.split(',').map(str::trim);
        let at_ms = fields.next()?.parse().ok()?;
        let rate = fields.next()?.parse().ok()?;
        let direction = fields.next()?.parse().ok()?;
        Some(Self { at_ms, rate, direction })
    }
}

/// What was done in each second of a window.
struct Amounts {
    seconds: Vec<f64>,
    late_ms: u64,
    /// Up to here there are lines.
    known_ms: u64,
}

impl Amounts {
    /// Of a window that opens `late_ns` before the job's own.
    pub(super) fn new(late_ns: u64, window_ns: u64) -> Self {
        let seconds = usize::try_from(window_ns / 1_000_000_000).unwrap_or(0);
        Self { seconds: vec![0.0; seconds], late_ms: late_ns / 1_000_000, known_ms: 0 }
    }

    /// Adds a thread's log of I/Os. Their number in an interval is whole, and fio rounds the rate
    /// down: of all numbers that give this rate it is the smallest.
    fn add_ios(&mut self, samples: &[Sample], direction: u8) {
        self.add(samples, direction, |rate, ms| (rate * ms as f64 / 1e3 - 1e-9).ceil());
    }

    /// Adds a thread's log of KiB, as bytes.
    fn add_kib(&mut self, samples: &[Sample], direction: u8) {
        self.add(samples, direction, |rate, ms| 1024.0 * rate * ms as f64 / 1e3);
    }

    fn add(&mut self, samples: &[Sample], direction: u8, amount: impl Fn(f64, u64) -> f64) {
        // Lines of all directions are written at the same time.
        let mut last_ms = 0;
        let mut before_ms = 0;
        for sample in samples {
            if sample.at_ms > last_ms {
                (before_ms, last_ms) = (last_ms, sample.at_ms);
            }
            self.known_ms = self.known_ms.max(self.late_ms.saturating_add(last_ms));
            // After a longer time there was an interval without I/O, which has no line.
            let took_ms = Some(last_ms - before_ms).filter(|ms| *ms <= 2 * INTERVAL_MS);
            let took_ms = took_ms.unwrap_or(INTERVAL_MS);
            if sample.direction == direction && took_ms > 0 {
                self.spread(last_ms, took_ms, amount(sample.rate as f64, took_ms));
            }
        }
    }

    /// An amount of the time that ended so many milliseconds after the job's ramp.
    fn spread(&mut self, end_ms: u64, took_ms: u64, amount: f64) {
        let end_ms = self.late_ms.saturating_add(end_ms);
        let mut from_ms = end_ms.saturating_sub(took_ms);
        while from_ms < end_ms {
            let until_ms = end_ms.min((from_ms / 1000 + 1).saturating_mul(1000));
            let second = usize::try_from(from_ms / 1000).unwrap_or(usize::MAX);
            if let Some(sum) = self.seconds.get_mut(second) {
                *sum += amount * (until_ms - from_ms) as f64 / took_ms as f64;
            }
            from_ms = until_ms;
        }
    }

    /// The whole seconds. The lines of the last one may end before it does, and stand for all of
    /// it then; it is left out if they end in its first half.
    pub(super) fn per_second(mut self) -> Vec<u64> {
        let whole = usize::try_from(self.known_ms / 1000).unwrap_or(usize::MAX);
        let rest_ms = self.known_ms % 1000;
        if let Some(last) = self.seconds.get_mut(whole) {
            *last *= 1000.0 / rest_ms.max(1) as f64;
            self.seconds.truncate(whole + usize::from(rest_ms >= 500));
        }
        self.seconds.into_iter().map(rounded).collect()
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn rounded(amount: f64) -> u64 {
    amount.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn samples(rows: &[(u64, u64, u8)]) -> Vec<Sample> {
        rows.iter().map(|&(at_ms, rate, direction)| Sample { at_ms, rate, direction }).collect()
    }

    fn ios(rows: &[(u64, u64, u8)], direction: u8, late_ns: u64, seconds: u64) -> Vec<u64> {
        let mut amounts = Amounts::new(late_ns, seconds * SECOND_NS);
        amounts.add_ios(&samples(rows), direction);
        amounts.per_second()
    }

    #[test]
    fn lines_of_fio_are_read_and_a_cut_one_is_not() {
        let text = "275, 11189, 0, 0, 0\n275, 12, 1, 4096, 0\nnonsense\n530, 113";
        assert_eq!(Sample::all(text), samples(&[(275, 11189, 0), (275, 12, 1)]));
        assert_eq!(Sample::all("1, 2"), []);
    }

    #[test]
    fn steady_rates_are_the_same_in_every_second_though_intervals_drift() {
        let rows: Vec<(u64, u64, u8)> = (1..=19).map(|n| (n * 260, 1000, 0)).collect();
        // 19 intervals end at 4.94 s: the fifth second is known but for 60 ms.
        assert_eq!(ios(&rows, 0, 0, 5), [1000; 5]);
        assert_eq!(ios(&rows, 1, 0, 5), [0; 5]);
        assert_eq!(ios(&rows[..16], 0, 0, 5), [1000; 4], "4.16 s: too little of the fifth");
    }

    #[test]
    fn an_interval_without_io_is_none_of_the_next_ones() {
        // As fio 3.33 wrote them for one I/O each 700 ms.
        let rows = [(250, 4, 0), (769, 3, 0), (1556, 3, 0), (2325, 3, 0), (2900, 0, 1)];
        assert_eq!(ios(&rows, 0, 0, 3), [2, 1, 1]);
    }

    #[test]
    fn a_direction_has_its_interval_from_the_lines_of_the_other() {
        let rows = [(250, 8, 0), (500, 8, 0), (750, 8, 0), (750, 4, 1), (1000, 8, 0)];
        assert_eq!(ios(&rows, 1, 0, 1), [1]);
        assert_eq!(ios(&rows, 0, 0, 1), [8]);
    }

    #[test]
    fn a_late_job_has_empty_seconds_first_and_threads_are_added() {
        let rows: Vec<(u64, u64, u8)> = (1..=4).map(|n| (n * 250, 100, 0)).collect();
        assert_eq!(ios(&rows, 0, 2 * SECOND_NS, 3), [0, 0, 100]);
        let mut amounts = Amounts::new(0, SECOND_NS);
        for _ in 0..3 {
            amounts.add_kib(&samples(&rows), 0);
        }
        assert_eq!(amounts.per_second(), [3 * 100 * 1024]);
    }

    #[test]
    fn without_lines_there_is_no_series() {
        assert_eq!(ios(&[], 0, 0, 3), [0; 0]);
        let absurd = [(u64::MAX, u64::MAX, 0), (0, u64::MAX, 0)];
        assert_eq!(ios(&absurd, 0, u64::MAX, 2), [0, 0]);
    }
}
