//! One result: what was measured, whoever has saved it.

use std::path::{Path, PathBuf};

use iotax_experiment::units::format_duration;
use iotax_experiment::{BlockSizes, Engine, FioOption, Job, Pace, Pattern, Trims, Workload};
use iotax_record::{
    ExperimentHead, JobRecord, LoadRecord, Outcome, Placed, Reader, SearchHead, Trial, TrialLength,
};

use crate::error::Error;
use crate::fio_write;
use crate::importers::imported::bytes;
use crate::importers::{Imported, Options, system};

/// One result that was read.
pub(super) struct ResultFile {
    pub arm: usize,
    pub block: u32,
    /// As the user wrote it.
    pub file: PathBuf,
    /// The tool and its version, for people.
    pub tool: String,
    /// Which run of iotax it is, if it is one.
    pub id: Option<String>,
    /// The one arm of it that is meant, if one is named.
    pub of: Option<String>,
    /// When it began, RFC 3339.
    pub started: Option<String>,
    /// Where in Kubernetes it was measured, as far as that is one place.
    pub placed: Option<Placed>,
    pub warnings: Vec<String>,
    /// Whether its latencies count from submission, even at an offered rate.
    pub counts_from_submission: bool,
    /// In the order of the result, each with a name of its own.
    pub jobs: Vec<Measured>,
}

/// A job of a result.
pub(super) struct Measured {
    pub name: String,
    /// What is known of it.
    pub job: Job,
    /// Its options in fio's words; empty if the result does not tell.
    pub options: Options,
    /// Its runs: one in a file of another tool, as many as trials in a record.
    pub runs: Vec<Run>,
}

/// One run of one job.
#[derive(PartialEq)]
pub(super) struct Run {
    /// Since the start of the result.
    pub started_ns: u64,
    pub outcome: Outcome,
    /// That job alone.
    pub load: Option<LoadRecord>,
}

impl ResultFile {
    /// Whether iotax made it.
    pub(super) fn is_ours(&self) -> bool {
        self.tool.starts_with("iotax")
    }

    /// Whether it has a job of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.jobs.iter().any(|job| job.name == name)
    }

    /// Whether both are of one run: by its identifier, or since no two runs have the same of everything.
    pub(super) fn is_same_run(&self, other: &Self) -> bool {
        match (&self.id, &other.id) {
            (None, None) => {
                let is_same = |(one, other): (&Measured, &Measured)| {
                    one.name == other.name && one.runs == other.runs
                };
                self.started == other.started
                    && self.jobs.len() == other.jobs.len()
                    && self.jobs.iter().zip(&other.jobs).all(is_same)
            }
            (one, other) => one == other,
        }
    }

    /// Whether both hold one measurement, though they are results of two arms: the same of everything
    /// that was counted and timed, whatever the files say of names and dates.
    pub(super) fn is_copy_of(&self, other: &Self) -> bool {
        let is_same_record = self.id.is_some() && self.id == other.id && self.of == other.of;
        let [own, others] = [self, other].map(|read| read.busy().collect::<Vec<_>>());
        let is_same = |(one, other): (&&JobRecord, &&JobRecord)| {
            one.read == other.read
                && one.write == other.write
                && one.trim == other.trim
                && one.sync == other.sync
                && one.active_ns == other.active_ns
        };
        is_same_record
            || own.iter().any(|record| is_timed(record))
                && own.len() == others.len()
                && own.iter().zip(&others).all(is_same)
    }

    /// The records of all jobs that did something.
    fn busy(&self) -> impl Iterator<Item = &JobRecord> {
        let records = self.jobs.iter().flat_map(Measured::records);
        records.filter(|record| record.ios() > 0)
    }

    /// Lets latencies count from submission; whether any counted from elsewhere.
    pub(super) fn forget_response(&mut self) -> bool {
        let runs = self.jobs.iter_mut().flat_map(|job| &mut job.runs);
        let loads = runs.filter_map(|run| run.load.as_mut());
        let mut is_changed = false;
        for record in loads.flat_map(|load| &mut load.jobs) {
            for direction in
                [&mut record.read, &mut record.write].into_iter().chain(&mut record.trim)
            {
                is_changed |= direction.response.take().is_some();
            }
        }
        is_changed
    }
}

impl Measured {
    /// The records of its runs.
    pub(super) fn records(&self) -> impl Iterator<Item = &JobRecord> {
        self.runs.iter().filter_map(|run| run.load.as_ref()).flat_map(|load| &load.jobs)
    }

    /// Whether it did any I/O.
    pub(super) fn is_busy(&self) -> bool {
        self.records().any(|record| record.ios() > 0)
    }

    /// Calls it by another name, everywhere.
    pub(super) fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.name);
        name.clone_into(&mut self.job.name);
        for load in self.runs.iter_mut().filter_map(|run| run.load.as_mut()) {
            for record in &mut load.jobs {
                name.clone_into(&mut record.name);
            }
        }
    }
}

/// Whether it has times, or figures of each second: totals alone agree in all runs of one size or rate.
fn is_timed(record: &JobRecord) -> bool {
    record.directions().any(|direction| {
        direction.service.count() > 0
            || direction.summary.is_some()
            || direction.per_second_bytes.len() > 1
    })
}

// Records that iotax has written itself, read as results beside those of other tools.

/// The directory of the record that `path` names, and the arm of it behind a `#`, if it names one.
pub(super) fn place(path: &Path) -> Option<(PathBuf, Option<String>)> {
    let is_record = |dir: &Path| Reader::<ExperimentHead>::is_in(dir);
    if is_record(path) {
        return Some((path.to_owned(), None));
    }
    let (dir, arm) = path.to_str()?.rsplit_once('#')?;
    is_record(Path::new(dir)).then(|| (dir.into(), Some(arm.to_owned())))
}

/// Whether `dir` holds a search for caps, which has nothing to compare.
pub(super) fn is_search(dir: &Path) -> bool {
    Reader::<SearchHead>::is_in(dir)
}

/// What a record is in parts: the jobs of each of its arms and phases.
struct Part<'a> {
    name: String,
    arm: &'a str,
    phase: u32,
    job: &'a Job,
    /// Of a trial of its phase; of slices, what a trial takes where they cannot be.
    time_ns: u64,
    /// Its trials are slices.
    are_slices: bool,
}

/// The results in the record in `dir`, called `path`: all of it, or one arm.
///
/// The trials of a run are one result, for they share a day and a machine. A record of results has as
/// many as there were.
pub(super) fn read_record(
    arm: usize,
    path: &Path,
    dir: &Path,
    of: Option<&str>,
) -> Result<Vec<ResultFile>, Error> {
    let reader = Reader::<ExperimentHead>::open(dir)?;
    let head = &reader.head;
    let names: Vec<&str> = head.spec.arms.iter().map(|arm| arm.name.as_str()).collect();
    if let Some(of) = of.filter(|of| !names.contains(of)) {
        let (dir, names) = (dir.display(), names.join(", "));
        let what = format!("the record in {dir} has no arm `{of}`; its arms are {names}");
        return Err(Error::Incomparable { what, advice: "write one of them after the #" });
    }
    let arms: Vec<&str> =
        names.into_iter().filter(|name| of.is_none_or(|of| of == *name)).collect();
    let workloads: Vec<&Workload> = head.spec.phases().collect();
    let parts = parts(&arms, &workloads);
    let mut warnings: Vec<String> = reader.gap()?.map(|gap| gap.to_string()).into_iter().collect();
    let is_of_results = head.spec.is_of_results();
    let gave_up_slices = head.spec.is_of_slices() && has_usual_trials(&reader)?;
    let mut files: Vec<(u32, ResultFile)> = Vec::new();
    for trial in reader.lines()? {
        let trial = trial?;
        if trial.outcome == Outcome::Interrupted || !counts(&trial, gave_up_slices) {
            continue;
        }
        let place = if is_of_results { trial.block } else { 0 };
        let at = files.iter().position(|(known, _)| *known == place).unwrap_or_else(|| {
            let jobs = parts.iter().map(measured).collect();
            let tool = format!("iotax {}", head.iotax_version);
            let started = (!head.started.is_empty()).then(|| head.started.clone());
            let result = ResultFile {
                arm,
                block: 0,
                file: path.to_owned(),
                tool,
                // Each of the results in it is a run of its own.
                id: head.id.clone().filter(|_| !is_of_results),
                of: of.map(str::to_owned),
                started,
                placed: placed(head, of),
                warnings: std::mem::take(&mut warnings),
                counts_from_submission: is_of_results || head.spec.counts_from_submission(),
                jobs,
            };
            files.push((place, result));
            files.len() - 1
        });
        add(&parts, &mut files[at].1, trial);
    }
    if files.is_empty() {
        let what = format!("the record in {} has no trials", dir.display());
        return Err(Error::Incomparable { what, advice: "the run ended before the first trial" });
    }
    Ok(files.into_iter().map(|(_, file)| file).collect())
}

/// Whether slices were given up in its run.
fn has_usual_trials(reader: &Reader<ExperimentHead>) -> Result<bool, Error> {
    for trial in reader.lines()? {
        if trial?.length == TrialLength::Usual {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the run was concluded from it: not from longer slices, and from none once they were given up.
fn counts(trial: &Trial, gave_up_slices: bool) -> bool {
    match trial.length {
        TrialLength::Planned => !gave_up_slices,
        TrialLength::LongSlice => false,
        TrialLength::Usual => true,
    }
}

/// Where in Kubernetes all arms were measured, or the one that is asked for.
fn placed(head: &ExperimentHead, of: Option<&str>) -> Option<Placed> {
    let arms = head.spec.arms.iter().zip(&head.sites);
    let mut places = arms
        .filter(|(arm, _)| of.is_none_or(|of| of == arm.name))
        .map(|(_, site)| site.placed.as_ref());
    let first = places.next()??;
    places.all(|place| place == Some(first)).then(|| first.clone())
}

/// Each job of each arm and phase, named so that what is the same elsewhere has the same name: the
/// phase, if that is one job; else the job, unless several phases have one of that name. In front of
/// it the arm, if there are several.
fn parts<'a>(arms: &[&'a str], workloads: &[&'a Workload]) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    for arm in arms {
        for (phase, workload) in (0..).zip(workloads) {
            for job in &workload.jobs {
                let name = named(workload, job, workloads);
                let name = if arms.len() > 1 { format!("{arm}: {name}") } else { name };
                let usual_ns = workload.slices.map(|slices| slices.usual.time_ns);
                let usual_ns = usual_ns.filter(|_| workload.is_sliced());
                let time_ns = usual_ns.unwrap_or(workload.time_ns);
                parts.push(Part { name, arm, phase, job, time_ns, are_slices: usual_ns.is_some() });
            }
        }
    }
    parts
}

fn named(workload: &Workload, job: &Job, workloads: &[&Workload]) -> String {
    let has = |other: &&&Workload| other.jobs.iter().any(|own| own.name == job.name);
    match workload.jobs.as_slice() {
        [_] => workload.name.clone(),
        _ if workloads.iter().filter(has).count() == 1 => job.name.clone(),
        _ => format!("{} {}", workload.name, job.name),
    }
}

fn measured(part: &Part<'_>) -> Measured {
    let job = Job { name: part.name.clone(), ..part.job.clone() };
    let of_job = fio_write::options(part.job).into_iter();
    let of_job = of_job.map(|(name, value)| (name, value.unwrap_or_default()));
    let runtime = ("runtime".to_owned(), format_duration(part.time_ns));
    let options = of_job.chain([runtime]).collect();
    Measured { name: part.name.clone(), job, options, runs: Vec::new() }
}

/// Shares a trial out among the parts that it has measured.
fn add(parts: &[Part<'_>], file: &mut ResultFile, trial: Trial) {
    let Trial { arm, phase, length, started_ns, outcome, load, .. } = trial;
    let of_trial = |part: &Part<'_>| part.arm == arm && part.phase == phase;
    for (part, measured) in parts.iter().zip(&mut file.jobs).filter(|(part, _)| of_trial(part)) {
        let load = load.as_ref().and_then(|load| {
            let record = load.jobs.iter().find(|record| record.name == part.job.name)?;
            let mut record = record.clone();
            record.name.clone_from(&part.name);
            Some(LoadRecord { jobs: vec![record], operations: Vec::new(), ..load.clone() })
        });
        let run = Run { started_ns, outcome: outcome.clone(), load };
        let is_slice = part.are_slices && length == TrialLength::Planned;
        let open = measured.runs.last_mut().filter(|_| is_slice);
        let left = match open {
            Some(open) => open.join(run, part),
            None => Some(run),
        };
        measured.runs.extend(left);
    }
}

impl Run {
    /// Adds a slice to those before it until they are as long as a trial usually is: neighbours depend on
    /// each other, and what was counted in a tenth of a second is little. `None` if it was added.
    fn join(&mut self, slice: Self, part: &Part<'_>) -> Option<Self> {
        match (&mut self.load, &slice.load) {
            (Some(all), Some(load)) if all.window_ns < part.time_ns => {
                // Nothing is wrong with a stretch in one slice of which nothing completed.
                let [was_stalled, is_stalled] =
                    [&*all, load].map(|load| load.stalled_below(&part.name).is_some());
                if was_stalled || self.outcome == Outcome::Completed && !is_stalled {
                    self.outcome = slice.outcome;
                }
                all.add(load);
                None
            }
            _ => Some(slice),
        }
    }
}

// What another tool has measured, as one result.

/// The result in `file`.
pub(super) fn of_tool(arm: usize, file: &Path, found: Imported) -> ResultFile {
    let Imported { tool, id, started, jobs, options, window_ns, far_end, warnings, .. } = found;
    let mut options = options.into_iter();
    let measured = jobs.into_iter().map(|record| {
        let options = options.next().unwrap_or_default();
        let job = job(&record, &options, file);
        let load = LoadRecord {
            driver: tool.clone(),
            window_ns,
            system: system(std::slice::from_ref(&record), far_end.as_ref()),
            far_end,
            jobs: vec![record],
            warnings: warnings.clone(),
            ..LoadRecord::default()
        };
        let (name, outcome) = (job.name.clone(), Outcome::Completed);
        let runs = vec![Run { started_ns: 0, outcome, load: Some(load) }];
        Measured { name, job, options, runs }
    });
    ResultFile {
        jobs: measured.collect(),
        arm,
        block: 0,
        file: file.to_owned(),
        tool,
        id,
        of: None,
        started,
        placed: None,
        warnings,
        // Service time is what fio and DiskSpd know, and what `run --format json` calls clat.
        counts_from_submission: true,
    }
}

/// The job as far as it is known. Nothing is driven by it: fields that say how are those of a
/// plain job, and what the result does say is in `fio`, as it says it.
fn job(record: &JobRecord, options: &Options, file: &Path) -> Job {
    let value = |name| options.value(name);
    let access = options.any(&["rw", "readwrite"]).unwrap_or_default();
    let (reads, writes) = (record.read.ios, record.write.ios);
    let read_percent = (reads * 100).checked_div(record.ios()).unwrap_or(100);
    let trims = if writes == 0 { Trims::Only } else { Trims::First };
    let block = value("bs").and_then(bytes).and_then(|bytes| u32::try_from(bytes).ok());
    let syncs = ["fdatasync", "fsync"].into_iter().filter_map(|name| value(name)?.parse().ok());
    let syncs = syncs.filter(|every| *every > 0).min();
    // Whatever the options are, it did.
    let seen = record.sync.count().max(record.sync_summary.as_ref().map_or(0, |(count, _)| *count));
    let seen = (seen > 0).then(|| u32::try_from(writes / seen).unwrap_or(u32::MAX).max(1));
    let is_it = |engine: &&Engine| engine.is_network() && engine.name() == record.engine;
    let engine = Engine::ALL.iter().find(is_it);
    let offered = record.offered_ios.filter(|_| engine.is_some() && record.active_ns > 0);
    let iops = offered.map(|ios| ios as f64 * 1e9 / record.active_ns as f64);
    let plain = Job::new(record.name.clone());
    Job {
        engine: engine.copied().unwrap_or(plain.engine),
        pace: iops.map_or(Pace::Closed, |iops| Pace::Even { iops }),
        threads: record.threads.max(1),
        queue_depth: record.queue_depth.max(1),
        read_percent: u8::try_from(read_percent).unwrap_or(100),
        trims: record.trim.is_some().then_some(trims),
        pattern: if access.starts_with("rand") { Pattern::Random } else { Pattern::Sequential },
        block_sizes: block.map_or(plain.block_sizes.clone(), BlockSizes::Fixed),
        size_bytes: value("size").and_then(bytes).unwrap_or(0),
        direct: false,
        fsync_every: syncs.or(seen),
        fio: options.0.iter().map(|(name, value)| option(name, value, file)).collect(),
        ..plain
    }
}

fn option(name: &str, value: &str, file: &Path) -> FioOption {
    FioOption {
        name: name.to_owned(),
        value: (!value.is_empty()).then(|| value.to_owned()),
        place: file.display().to_string(),
        beyond: None,
    }
}
