//! Built-in workloads and suites, in the language of experiment files.

use std::collections::HashMap;
use std::sync::LazyLock;

use iotax_layers::{Error, units};
use serde::Deserialize;

use crate::engine::Engine;
use crate::index::IndexLoads;
use crate::job_options::JOB_OPTIONS;
use crate::spec::Yields;
use crate::workload::{BlockSizes, Bound, Files, Job, Pace, Pattern, Requirement, Workload};

static WORKLOADS: LazyLock<Workloads> =
    LazyLock::new(|| toml::from_str(include_str!("../../data/workloads.toml")).expect(SOUND));
static SUITES: LazyLock<Suites> =
    LazyLock::new(|| toml::from_str(include_str!("../../data/suites.toml")).expect(SOUND));
const SOUND: &str = "a test reads all that is built in";

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Workloads {
    workload: Vec<BuiltIn>,
    peel_in_process: BuiltIn,
    peel_in_system: BuiltIn,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suites {
    suite: Vec<Suite>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    name: String,
    about: String,
    source: String,
    /// Suites whose phases this one consists of.
    #[serde(default)]
    of: Vec<String>,
    #[serde(default)]
    phase: Vec<BuiltIn>,
}

/// A workload as written, or a phase of a suite.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct BuiltIn {
    #[serde(default)]
    name: String,
    /// The workload that this one is based on.
    like: Option<String>,
    about: Option<String>,
    ramp: Option<String>,
    time: Option<String>,
    /// The primary job, if it is not the first.
    primary: Option<String>,
    #[serde(default)]
    job: Vec<HashMap<String, toml::Value>>,
    #[serde(default)]
    set: Vec<String>,
    /// Minimum number of threads of jobs at any scale.
    #[serde(default)]
    least_threads: HashMap<String, u32>,
    #[serde(default)]
    index: bool,
    yields: Option<Yields>,
    requires: Option<Requirement>,
    /// Sources of its numbers: addresses, with a summary.
    #[serde(default)]
    sources: Vec<String>,
}

impl BuiltIn {
    fn workload(&self) -> Workload {
        let mut made = match &self.like {
            Some(name) => Workload::preset(name).expect(SOUND),
            None => Workload::new("", self.job.iter().map(job).collect()),
        };
        if !self.name.is_empty() {
            made.name.clone_from(&self.name);
        }
        let ns = |text: &String| units::parse_duration(text).expect(SOUND);
        made.about = self.about.clone().unwrap_or(made.about);
        made.ramp_ns = self.ramp.as_ref().map_or(made.ramp_ns, ns);
        made.time_ns = self.time.as_ref().map_or(made.time_ns, ns);
        made.primary = self.primary.clone().unwrap_or(made.primary);
        made.index = self.index.then(IndexLoads::default).or(made.index);
        made.requires = self.requires.clone().or(made.requires);
        self.set.iter().for_each(|text| made.set(text).expect(SOUND));
        made.yields = self.yields.or(made.yields);
        for job in &mut made.jobs {
            job.least_threads = self.least_threads.get(&job.name).copied().or(job.least_threads);
            job.engine_asked = false;
        }
        made.in_slices()
    }

    /// The same with a span of `bytes` for each job.
    fn over(&self, bytes: u64) -> Workload {
        let mut workload = self.workload();
        workload.jobs.iter_mut().for_each(|job| job.size_bytes = bytes);
        workload
    }
}

fn job(written: &HashMap<String, toml::Value>) -> Job {
    let text =
        |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut job = Job::new(text(&written["name"]));
    let given = JOB_OPTIONS.iter().filter_map(|option| Some((option, written.get(option.name)?)));
    let mut known = 1;
    for (option, value) in given {
        option.set(&mut job, &text(value)).expect(SOUND);
        known += 1;
    }
    assert_eq!(known, written.len(), "{SOUND}: {written:?}");
    job
}

fn suite(name: &str) -> Option<&'static Suite> {
    SUITES.suite.iter().find(|suite| suite.name == name)
}

impl Workload {
    /// The built-in workload with this name.
    pub fn preset(name: &str) -> Result<Self, Error> {
        let found = WORKLOADS.workload.iter().find(|known| known.name == name);
        let unknown = || Error::unknown("workload", name, Self::preset_names());
        found.map(BuiltIn::workload).ok_or_else(unknown)
    }

    /// Sources of the numbers of the built-in workload with this name; empty if it has none.
    pub fn preset_sources(name: &str) -> &'static [String] {
        let found = WORKLOADS.workload.iter().find(|known| known.name == name);
        found.map_or(&[], |found| &found.sources)
    }

    /// Names of the built-in workloads.
    pub fn preset_names() -> impl Iterator<Item = &'static str> {
        WORKLOADS.workload.iter().map(|known| known.name.as_str())
    }

    /// The built-in workloads.
    pub fn presets() -> impl Iterator<Item = Self> {
        WORKLOADS.workload.iter().map(BuiltIn::workload)
    }

    /// The workload of `peel` for an in-process disk of `disk_bytes`: a small search engine.
    pub fn peel_search(disk_bytes: u64) -> Self {
        WORKLOADS.peel_in_process.over(disk_bytes)
    }

    /// The same through the system, bypassing its page cache, over `bytes` in total.
    pub fn peel_search_in_system(bytes: u64) -> Self {
        const MIB: u64 = 1 << 20;
        let peel = &WORKLOADS.peel_in_system;
        peel.over(bytes / peel.job.len() as u64 / MIB * MIB)
    }

    /// The phases of the built-in suite with this name.
    ///
    /// # Errors
    /// A name that is not a suite.
    pub fn suite(name: &str) -> Result<Vec<Self>, Error> {
        let unknown = || Error::unknown("suite", name, Self::suite_names());
        let Suite { of, phase, .. } = suite(name).ok_or_else(unknown)?;
        let of_others = of.iter().filter_map(|other| suite(other)).flat_map(|other| &other.phase);
        Ok(of_others.chain(phase).map(BuiltIn::workload).collect())
    }

    /// Names of the built-in suites.
    pub fn suite_names() -> impl Iterator<Item = &'static str> {
        SUITES.suite.iter().map(|suite| suite.name.as_str())
    }

    /// The description of a suite; `None` if there is none with this name.
    pub fn suite_about(name: &str) -> Option<&'static str> {
        suite(name).map(|suite| suite.about.as_str())
    }

    /// The source of a suite; `None` if there is none with this name.
    pub fn suite_source(name: &str) -> Option<&'static str> {
        suite(name).map(|suite| suite.source.as_str())
    }
}

impl Job {
    /// A job with only a name, as fio would run it: sequential 4 KiB reads, buffered, one thread,
    /// no queue, its own file of 1 GiB (fio requires a size; 1 GiB is our choice).
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            engine: Engine::Psync,
            threads: 1,
            queue_depth: 1,
            read_percent: 100,
            pattern: Pattern::Sequential,
            block_sizes: BlockSizes::Fixed(4 << 10),
            write_block_sizes: None,
            write_pattern: None,
            files: Files::PerThread,
            size_bytes: 1 << 30,
            pace: Pace::Closed,
            bound: Bound::Time,
            start_delay_ns: 0,
            end_after_ns: None,
            direct: false,
            invalidate: false,
            fsync_every: None,
            end_fsync: false,
            verify: false,
            verify_every: None,
            verify_apart: false,
            verify_ends: false,
            sqpoll: false,
            engine_asked: false,
            advise: true,
            align_bytes: None,
            offset_bytes: 0,
            write_through: false,
            think: None,
            cpus: Vec::new(),
            files_per_thread: 1,
            uncached: false,
            fresh: false,
            zero_copy: false,
            least_threads: None,
            pre_read: false,
            target: None,
            ends_all: false,
            submit_batch: None,
            tree: None,
            recording: None,
            trims: None,
            stretches: None,
            offset_increment_bytes: 0,
            content: None,
            latency_target: None,
            flow: None,
            priority: None,
            priorities: Vec::new(),
            numa: None,
            fio: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
