//! One saved result of any tool.

use std::path::{Path, PathBuf};

use iotax_experiment::units::format_duration;
use iotax_experiment::{BlockSizes, Engine, FioOption, Job, Pace, Pattern, Trims, Workload};
use iotax_record::{
    ExperimentHead, HostRecord, JobRecord, LoadRecord, Outcome, Placed, Reader, SearchHead, Trial,
    TrialLength,
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
    /// Identifier of the run, if iotax made it.
    pub id: Option<String>,
    /// The selected arm, if one is named.
    pub of: Option<String>,
    /// Start, RFC 3339.
    pub started: Option<String>,
    /// The place in Kubernetes, if it is only one.
    pub placed: Option<Placed>,
    /// The machine, if iotax made it on one.
    pub host: Option<Box<HostRecord>>,
    pub warnings: Vec<String>,
    /// Whether its latencies count from submission, even at an offered rate.
    pub counts_from_submission: bool,
    /// In the order of the result, each with a unique name.
    pub jobs: Vec<Measured>,
}

/// A job of a result.
pub(super) struct Measured {
    pub name: String,
    /// The facts that are known.
    pub job: Job,
    /// Its options with fio's names; empty if the result does not give them.
    pub options: Options,
    /// Its runs: one in a file of another tool, one per trial in a record.
    pub runs: Vec<Run>,
}

/// One run of one job.
#[derive(PartialEq)]
pub(super) struct Run {
    /// Since the start of the result.
    pub started_ns: u64,
    pub outcome: Outcome,
    /// That job only.
    pub load: Option<LoadRecord>,
}

impl ResultFile {
    /// Whether iotax made it.
    pub(super) fn is_ours(&self) -> bool {
        self.tool.starts_with("iotax")
    }

    /// Whether it has a job with this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.jobs.iter().any(|job| job.name == name)
    }

    /// Whether both are from one run: the identifier is the same, or everything is, which does not
    /// happen in two runs.
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

    /// Whether both have the same measurement, although they are results of two arms: all counts
    /// and times are the same, whatever names and dates the files have.
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

    /// The records of all jobs that did I/O.
    fn busy(&self) -> impl Iterator<Item = &JobRecord> {
        let records = self.jobs.iter().flat_map(Measured::records);
        records.filter(|record| record.ios() > 0)
    }

    /// Makes latencies count from submission; returns whether any counted from another time.
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

    /// Renames it everywhere.
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

/// Whether it has times, or values for each second: totals alone are equal in all runs of one size
/// or rate.
fn is_timed(record: &JobRecord) -> bool {
    record.directions().any(|direction| {
        direction.service.count() > 0
            || direction.summary.is_some()
            || direction.per_second_bytes.len() > 1
    })
}

// Reads records of iotax as results, like those of other tools.

/// The directory of the record that `path` names, and the arm after a `#`, if there is one.
pub(super) fn place(path: &Path) -> Option<(PathBuf, Option<String>)> {
    let is_record = |dir: &Path| Reader::<ExperimentHead>::is_in(dir);
    if is_record(path) {
        return Some((path.to_owned(), None));
    }
    let (dir, arm) = path.to_str()?.rsplit_once('#')?;
    is_record(Path::new(dir)).then(|| (dir.into(), Some(arm.to_owned())))
}

/// Whether `dir` has a search for caps, which cannot be compared.
pub(super) fn is_search(dir: &Path) -> bool {
    Reader::<SearchHead>::is_in(dir)
}

/// Part of a record: a job in one arm and phase.
struct Part<'a> {
    name: String,
    arm: &'a str,
    phase: u32,
    job: &'a Job,
    /// Length of a trial of its phase; for slices, the length of a trial without slices.
    time_ns: u64,
    /// Whether its trials are slices.
    are_slices: bool,
}

/// The results in the record in `dir`, which is named `path`: all arms, or one.
///
/// The trials of a run are one result, because they share a day and a machine. A record of results
/// keeps its number of results.
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
        return Err(Error::Incomparable { what, advice: "specify one of them after the `#`" });
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
                // Each result in it is a run of its own.
                id: head.id.clone().filter(|_| !is_of_results),
                of: of.map(str::to_owned),
                started,
                placed: placed(head, of),
                host: host(head, of),
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

/// Whether its run gave up slices.
fn has_usual_trials(reader: &Reader<ExperimentHead>) -> Result<bool, Error> {
    for trial in reader.lines()? {
        if trial?.length == TrialLength::Usual {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the trial counted in the run: longer slices do not count, nor do any slices if they were
/// given up.
fn counts(trial: &Trial, gave_up_slices: bool) -> bool {
    match trial.length {
        TrialLength::Planned => !gave_up_slices,
        TrialLength::LongSlice => false,
        TrialLength::Usual => true,
    }
}

/// The place in Kubernetes of all arms, or of the selected arm.
fn placed(head: &ExperimentHead, of: Option<&str>) -> Option<Placed> {
    let arms = head.spec.arms.iter().zip(&head.sites);
    let mut places = arms
        .filter(|(arm, _)| of.is_none_or(|of| of == arm.name))
        .map(|(_, site)| site.placed.as_ref());
    let first = places.next()??;
    places.all(|place| place == Some(first)).then(|| first.clone())
}

/// The machine of all arms, or of the selected arm, with the layers under its target only.
fn host(head: &ExperimentHead, of: Option<&str>) -> Option<Box<HostRecord>> {
    let arms = head.spec.arms.iter().enumerate();
    let mut places = arms.filter(|(_, arm)| of.is_none_or(|of| of == arm.name));
    let (first, arm) = places.next()?;
    let is_same = |(place, _): (usize, _)| head.sites.get(place).map(|site| site.host);
    let own = is_same((first, arm))?;
    let is_one = places.all(|place| is_same(place) == Some(own));
    let mut host = head.hosts.get(own).filter(|_| is_one)?.clone();
    if let Some(machine) = &mut host.machine {
        let target = arm.target.to_string();
        if machine.paths.iter().any(|path| path.path == target) {
            machine.paths.retain(|path| path.path == target);
        }
    }
    Some(Box::new(host))
}

/// Each job of each arm and phase, named so that the same job has the same name in other results.
/// The name is that of the phase if it has one job; otherwise that of the job, unless several
/// phases have a job with this name. The arm comes first if there are several.
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

/// Divides a trial among the parts that it has measured.
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
    /// Adds a slice to earlier ones until they are as long as a usual trial: neighbouring slices
    /// depend on each other, and a tenth of a second has few I/Os. `None` if it was added.
    fn join(&mut self, slice: Self, part: &Part<'_>) -> Option<Self> {
        match (&mut self.load, &slice.load) {
            (Some(all), Some(load)) if all.window_ns < part.time_ns => {
                // A job that completed nothing in one slice is still valid.
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

// A measurement of another tool, as one result.

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
        host: None,
        warnings,
        // Service time is what fio and DiskSpd measure, and what `run --format json` calls clat.
        counts_from_submission: true,
    }
}

/// The job as far as it is known. It does not drive anything: fields that describe how are those of
/// a plain job, and `fio` has the options in the result.
fn job(record: &JobRecord, options: &Options, file: &Path) -> Job {
    let value = |name| options.value(name);
    let access = options.any(&["rw", "readwrite"]).unwrap_or_default();
    let (reads, writes) = (record.read.ios, record.write.ios);
    let read_percent = (reads * 100).checked_div(record.ios()).unwrap_or(100);
    let trims = if writes == 0 { Trims::Only } else { Trims::First };
    let block = value("bs").and_then(bytes).and_then(|bytes| u32::try_from(bytes).ok());
    let syncs = ["fdatasync", "fsync"].into_iter().filter_map(|name| value(name)?.parse().ok());
    let syncs = syncs.filter(|every| *every > 0).min();
    // Whatever its options are, it ran.
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
