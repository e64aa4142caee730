//! Writes a workload as options of fio, so that fio can do the same I/O.
//!
//! Only the load is written here. The caller adds the place (`directory`, or `filename` for a file
//! or device), the times (`runtime`, `ramp_time`) and the seed, because they differ between trials.
//!
//! Sizes have the plain letters `k`, `M`, `G`: fio 3.33 reads `10M`, `10MB` and `10Mi` all as 10 x
//! 2^20, and only `10MiB` as 10^7 (its default is `kb_base=1024`).

mod job;
#[cfg(test)]
mod tests;

use std::fmt::{Display, Write as _};

use iotax_experiment::units::{format_bytes, format_duration};
use iotax_experiment::{BlockSizes, Engine, Job, Pattern, RunLength, Workload};

use job::{has_words, offered_by_fio, random_percent};

pub(crate) use job::options;

/// One job of a job file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its name, as written between `[` and `]`.
    pub name: String,
    /// fio's options and their values, in the order to write. Flags of fio have the value 1 (its
    /// JSON omits flags without a value).
    pub options: Vec<(String, Option<String>)>,
}

impl Section {
    /// The value of an option, if it has one.
    pub fn value(&self, option: &str) -> Option<&str> {
        let given = self.options.iter().rev().find(|(name, _)| name == option);
        given.and_then(|(_, value)| value.as_deref())
    }

    /// Sets an option, replacing an earlier value.
    pub fn set(&mut self, option: &str, value: impl Into<String>) {
        let value = Some(value.into());
        match self.options.iter_mut().find(|(name, _)| name == option) {
            Some(given) => given.1 = value,
            None => self.options.push((option.to_owned(), value)),
        }
    }
}

/// The jobs of a workload that fio can run, in order. See [`without`] for what is lost.
///
/// A job with its own file name has `filename`, which is relative to the caller's `directory`. Jobs
/// that last as long as the trial have `time_based=1` and need a `runtime`; others have `io_size`.
/// Each job is its own reporting group, so that its threads are reported together and separately
/// from other jobs.
pub fn sections(workload: &Workload) -> Vec<Section> {
    let jobs = workload.jobs.iter().filter(|job| !job.engine.has_tree() && !job.engine.replays());
    let mut sections: Vec<Section> = Vec::new();
    for job in jobs {
        let mut name = section_name(&job.name);
        while sections.iter().any(|other| other.name == name) {
            name.push('_');
        }
        sections.push(Section { name, options: options(job) });
    }
    sections
}

/// A job file with these sections. Anything that cannot be written is left out, or replaced by `_`
/// in names: a value never becomes a second option.
pub fn text(sections: &[Section]) -> String {
    let mut text = String::new();
    for (n, section) in sections.iter().enumerate() {
        let gap = if n == 0 { "" } else { "\n" };
        let name = if section.name == "global" {
            section.name.clone()
        } else {
            section_name(&section.name)
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{gap}[{name}]");
        let can_stand =
            |(option, value): &&(String, Option<String>)| can_stand(option, value.as_deref());
        for (option, value) in section.options.iter().filter(can_stand) {
            let _ = match value {
                Some(value) => writeln!(text, "{option}={value}"),
                None => writeln!(text, "{option}"),
            };
        }
    }
    text
}

// When fio runs a job. fio counts ramp and time from the start of the job, iotax from the start of
// the trial.

/// Times of one job in fio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// fio's `ramp_time`, in nanoseconds.
    pub ramp_ns: u64,
    /// fio's `runtime`, in nanoseconds.
    pub run_ns: u64,
    /// Whether part of it is in the measured window: fio also reports results for a job that ends
    /// before.
    pub measured: bool,
}

/// The times of a job in a trial with this ramp and time; `None` if the trial ends before the job
/// would start.
pub fn times(job: &Job, ramp_ns: u64, time_ns: u64) -> Option<Times> {
    let trial_ends_ns = ramp_ns.saturating_add(time_ns);
    let end_ns = job.end_after_ns.map_or(trial_ends_ns, |own_ns| own_ns.min(trial_ends_ns));
    let measured = end_ns > ramp_ns;
    let from_ns = if measured { job.start_delay_ns.max(ramp_ns) } else { job.start_delay_ns };
    let run_ns = end_ns.checked_sub(from_ns).filter(|ns| *ns > 0)?;
    Some(Times { ramp_ns: from_ns - job.start_delay_ns, run_ns, measured })
}

// Values as fio reads them, and texts that it would misread.

/// The longest line that fio reads: 4096 bytes including the line end.
const LONGEST_LINE: usize = 4000;
/// The longest name of a section.
const LONGEST_NAME: usize = 200;

/// Options that are being built.
#[derive(Default)]
struct Options(Vec<(String, Option<String>)>);

impl Options {
    fn give(&mut self, name: &str, value: impl Display) {
        self.0.push((name.to_owned(), Some(format!("{value}"))));
    }

    fn give_some(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.give(name, value);
        }
    }

    fn give_if(&mut self, given: bool, name: &str) {
        self.give_some(name, given.then_some(1));
    }
}

/// `0,2`, if there are any.
fn list(numbers: &[u32]) -> Option<String> {
    let texts: Vec<String> = numbers.iter().map(u32::to_string).collect();
    (!texts.is_empty()).then(|| texts.join(","))
}

/// Bytes with the largest unit that divides them.
fn size(bytes: u64) -> String {
    let units = [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "k")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit)) {
        Some((unit, letter)) => format!("{}{letter}", bytes / unit),
        None => bytes.to_string(),
    }
}

/// A duration in whole microseconds, fio's finest unit; at least one unless it is 0.
fn duration(ns: u64) -> String {
    let us = if ns == 0 { 0 } else { ns.saturating_add(500) / 1000 };
    let us = us.max(u64::from(ns > 0));
    match us {
        0 => "0".to_owned(),
        us if us.is_multiple_of(1_000_000) => format!("{}s", us / 1_000_000),
        us if us.is_multiple_of(1000) => format!("{}ms", us / 1000),
        us => format!("{us}us"),
    }
}

/// The name of a job as the name of a section: also the start of the names of its files.
///
/// fio ends a name at `]`, treats every name that begins with `global` as defaults of all jobs, and
/// creates directories at `/`.
fn section_name(name: &str) -> String {
    let mut plain = file_name(name);
    let prefix = plain.get(..6).unwrap_or_default();
    if prefix.eq_ignore_ascii_case("global") {
        plain.insert(0, '_');
    }
    plain
}

/// A text as the name of a file inside the target: letters, digits, `.`, `_` and `-`, which have no
/// special meaning in job files and shells.
pub(crate) fn file_name(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let plain = text.chars().map(|c| if is_plain(c) { c } else { '_' });
    let plain: String = plain.take(LONGEST_NAME).collect();
    if plain.trim_matches('.').is_empty() || plain.starts_with('-') {
        return format!("_{plain}");
    }
    plain
}

/// Whether a value can be written to a job file: fio cuts lines at `;` and `#` even inside values,
/// and removes blanks at their ends.
pub fn is_writable(value: &str) -> bool {
    let cut = |c: char| c.is_control() || matches!(c, ';' | '#');
    !value.contains(cut) && value.trim() == value && value.len() < LONGEST_LINE
}

/// Whether fio reads the option as intended.
fn can_stand(name: &str, value: Option<&str>) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !name.is_empty()
        && name.len() < LONGEST_NAME
        && name.chars().all(plain)
        && value.is_none_or(is_writable)
}

// Parts of a workload that fio cannot express.

/// A smaller rounding error than this does not change a rate.
const RATE_TOLERANCE: f64 = 0.005;
const MICROSECOND_NS: u64 = 1000;

/// What is lost or changed if fio runs the workload, one sentence each, for people.
pub fn without(workload: &Workload) -> Vec<String> {
    let mut lost = Vec::new();
    if let Some(index) = &workload.index {
        lost.push(format!(
            "index: {} versions per second ({} each), the limit for slow loads ({}) and queries \
             are left out",
            index.versions_per_second,
            format_bytes(index.index_bytes),
            format_duration(index.slow_load_ns),
        ));
    }
    for job in &workload.jobs {
        let of_job = of_job(job);
        lost.extend(of_job.into_iter().map(|lost| format!("job {}: {lost}", job.name)));
    }
    let ending = workload.jobs.iter().filter(|job| job.ends_all).count();
    if ending > 0 && ending < workload.jobs.len() {
        lost.push(
            "in fio, all jobs stop when any job ends, not only when the intended job ends".into(),
        );
    }
    lost
}

fn of_job(job: &Job) -> Vec<String> {
    if job.engine.has_tree() {
        return vec!["operations on file trees are left out".into()];
    }
    if job.engine.replays() {
        return vec!["recordings are left out; export them with iotax capture export".into()];
    }
    let mut lost = Vec::new();
    if job.engine == Engine::Vdisk {
        lost.push("the job ran on a virtual disk inside iotax; io_uring replaces it".into());
    }
    if let Pattern::Runs(RunLength::Geometric(mean)) = job.pattern {
        let mixed = job.reads() && job.writes();
        let and = if mixed { ", and each run has both reads and writes" } else { "" };
        lost.push(format!(
            "all sequential runs have the mean length of {mean} instead of varying lengths{and}"
        ));
    }
    let several_threads = job.threads > 1;
    // fio 3.33 refuses the second list of zones that its manual documents.
    let orders: Vec<_> = job.patterns().map(random_percent).collect();
    let has = |is: fn(&BlockSizes) -> bool| job.all_block_sizes().any(is);
    let has_range = has(|sizes| matches!(sizes, BlockSizes::Range { .. }));
    let has_split = has(|sizes| matches!(sizes, BlockSizes::Split(_)));
    let of_several_sizes = !matches!(job.block_sizes, BlockSizes::Fixed(_));
    let steps = matches!(job.pattern, Pattern::Strided(_) | Pattern::Backward(_));
    let losses = [
        (
            several_threads && matches!(job.pattern, Pattern::Staggered { .. }),
            "all threads start at the beginning of the file instead of at different offsets",
        ),
        (
            several_threads && matches!(job.pattern, Pattern::Interlocked(_)),
            "each thread goes through the file on its own instead of taking turns",
        ),
        (
            orders.len() > 1 && orders.contains(&None),
            "writes use the order of the reads instead of their own order",
        ),
        (
            has_range && has_split,
            "a range of sizes combined with a split is reduced to its two ends",
        ),
        (job.trims.is_some(), "fio can trim only block devices; trimming a file fails"),
        (!has_words(&job.priorities), "all its I/Os have the same priority"),
        (
            job.uncached,
            "accessed pages stay in the page cache; fio does not drop them after an I/O",
        ),
        (job.fresh, "from the second trial on, its writes overwrite existing files"),
        (
            of_several_sizes && steps,
            "with several block sizes, fio keeps the gap between I/Os constant, not the stride",
        ),
    ];
    lost.extend(losses.iter().filter(|(is_lost, _)| *is_lost).map(|(_, what)| (*what).to_owned()));
    if let (Some(asked), Some(offered)) = (job.pace.offered_iops(), offered_by_fio(job)) {
        lost.push("fio measures latency from submission, not from the intended start".into());
        if (offered / asked - 1.0).abs() > RATE_TOLERANCE {
            lost.push(format!(
                "its rate changes from {asked} to {offered} I/Os per second, because fio supports \
                 only whole I/Os per second and thread"
            ));
        }
    }
    let times = [Some(job.start_delay_ns), job.end_after_ns, job.think.map(|think| think.time_ns)];
    if times.into_iter().flatten().any(|ns| !ns.is_multiple_of(MICROSECOND_NS)) {
        lost.push("its pauses are rounded to whole microseconds".into());
    }
    for option in job.fio.iter().filter(|one| !can_stand(&one.name, one.value.as_deref())) {
        lost.push(format!(
            "option {}: a job file cannot contain its value (`;`, `#` or a line break)",
            option.name.escape_debug()
        ));
    }
    lost
}

#[cfg(test)]
mod tests_of_times {
    use super::*;

    #[test]
    fn ramp_and_runtime_count_from_the_start_of_the_job() {
        let of = |start_delay_ns, end_after_ns| {
            let job = Job { start_delay_ns, end_after_ns, ..Job::new("a") };
            times(&job, 10, 60).map(|times| (times.ramp_ns, times.run_ns, times.measured))
        };
        assert_eq!(of(0, None), Some((10, 60, true)));
        assert_eq!(of(4, None), Some((6, 60, true)));
        assert_eq!(of(30, None), Some((0, 40, true)));
        assert_eq!(of(70, None), None);
        assert_eq!(of(0, Some(15)), Some((10, 5, true)));
        assert_eq!(of(12, Some(15)), Some((0, 3, true)));
        assert_eq!(of(0, Some(900)), Some((10, 60, true)));
        // Over before the window opens: it runs, and is not measured.
        assert_eq!(of(2, Some(10)), Some((0, 8, false)));
    }
}

#[cfg(test)]
mod tests_of_values {
    use super::*;

    #[test]
    fn sizes_and_durations_are_short_and_exact() {
        let sizes = [0, 512, 4096, 1 << 20, 3 << 29, 50 << 30, (1 << 30) + 1].map(size);
        assert_eq!(sizes, ["0", "512", "4k", "1M", "1536M", "50G", "1073741825"]);
        let times = [0, 1, 1000, 250_000, 2_000_000, 90_000_000_000, 1_500_600].map(duration);
        assert_eq!(times, ["0", "1us", "1us", "250us", "2ms", "90s", "1501us"]);
    }

    #[test]
    fn names_that_mean_something_to_fio_are_changed() {
        let names = ["io", "GlobalWarming", "a]b\n[c", "../x", "..", "-x", "a:b", ""];
        let names = names.map(section_name);
        assert_eq!(names, ["io", "_GlobalWarming", "a_b__c", ".._x", "_..", "_-x", "a_b", "_"]);
    }

    #[test]
    fn values_that_fio_would_cut_cannot_be_written() {
        assert!(is_writable("zipf:1.2") && is_writable("a b"));
        for value in ["a;b", "a#b", "a\nexec_prerun=x", " a", "a\0"] {
            assert!(!is_writable(value), "{value:?}");
        }
    }
}

#[cfg(test)]
mod tests_of_without {
    use super::*;
    use iotax_experiment::{FioOption, Operation, OperationShare, Pace, Think, Tree};

    #[test]
    fn a_preset_for_paths_without_a_rate_loses_its_index_cold_caches_and_fresh_files_alone() {
        let is_plain = |job: &Job| job.tree.is_none() && job.pace == Pace::Closed;
        for workload in Workload::presets().filter(|w| w.jobs.iter().all(is_plain)) {
            let lost = without(&workload);
            let of_job = |job: &Job| usize::from(job.uncached) + usize::from(job.fresh);
            let expected = workload.jobs.iter().map(of_job).sum::<usize>();
            assert_eq!(lost.len(), usize::from(workload.index.is_some()) + expected, "{lost:?}");
        }
    }

    #[test]
    fn what_fio_has_no_word_for_is_named() {
        let mut workload = Workload::preset("driver-searcher").unwrap();
        workload.jobs = vec![
            Job {
                engine: Engine::Vdisk,
                pattern: Pattern::Runs(RunLength::Geometric(3.5)),
                pace: Pace::Poisson { iops: 50.0 },
                threads: 8,
                think: Some(Think { time_ns: 1500, after_ios: 1 }),
                fio: vec![FioOption {
                    name: "replay_redirect".into(),
                    value: Some("/dev/null;x".into()),
                    place: "a command line".into(),
                    beyond: None,
                }],
                ..Job::new("a")
            },
            Job {
                pattern: Pattern::Strided(1 << 20),
                block_sizes: BlockSizes::Range { min: 4096, max: 65_536 },
                ends_all: true,
                ..Job::new("b")
            },
            Job {
                engine: Engine::Metadata,
                tree: Some(Tree {
                    files: 1,
                    files_per_directory: 1,
                    file_bytes: 1,
                    operations: vec![OperationShare { operation: Operation::Stat, weight: 1 }],
                }),
                ..Job::new("c")
            },
        ];
        insta::assert_snapshot!(without(&workload).join("\n"), @"
        index: 4 versions per second (16M each), the limit for slow loads (10ms) and queries are left out
        job a: the job ran on a virtual disk inside iotax; io_uring replaces it
        job a: all sequential runs have the mean length of 3.5 instead of varying lengths
        job a: fio measures latency from submission, not from the intended start
        job a: its rate changes from 50 to 48 I/Os per second, because fio supports only whole I/Os per second and thread
        job a: its pauses are rounded to whole microseconds
        job a: option replay_redirect: a job file cannot contain its value (`;`, `#` or a line break)
        job b: with several block sizes, fio keeps the gap between I/Os constant, not the stride
        job c: operations on file trees are left out
        in fio, all jobs stop when any job ends, not only when the intended job ends
        ");
    }
}
