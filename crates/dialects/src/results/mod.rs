//! Treats saved results of iotax and other tools as an experiment. Nothing is run, and facts that
//! they lack are not filled in.

mod file;
mod sameness;

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use indexmap::IndexSet;
use iotax_experiment::{
    Arm, CloudChoice, Design, Draft, Origin, Source, Spec, Stop, Target, Workload,
};
use iotax_record::{
    End, EndReason, ExperimentHead, FORMAT, FioLatency, HostRecord, JobRecord, Outcome, Placed,
    Site, Trial,
};
use jiff::Timestamp;

use crate::error::Error;
use crate::importers;
use file::{Measured, ResultFile};

/// An experiment that was run before.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// Its head: arms, a phase for each job, and the machines of records.
    pub experiment: ExperimentHead,
    /// One per job and file, or per trial of a record. The i-th result of each arm is in block i,
    /// but blocks are not pairs: the order is not known to be random. Trials of one record share a
    /// block.
    pub trials: Vec<Trial>,
    /// States that nothing was run.
    pub end: End,
}

/// Whether there is a result at `path` as the user wrote it: a file of another tool or of `iotax
/// run`, or a record of iotax, where `DIR#ARM` selects an arm.
///
/// # Errors
/// [`Error::Read`] if it exists and cannot be read; [`Error::Incomparable`] for a search for caps.
pub fn is_result(path: &Path) -> Result<bool, Error> {
    if file::is_search(path) {
        let what =
            format!("{} contains a cap search, not the results of a workload", path.display());
        return Err(incomparable(
            what,
            "show it with iotax report; only results from iotax run or iotax compare can be \
             compared",
        ));
    }
    Ok(file::place(path).is_some() || importers::sniff_file(path)?.is_some())
}

/// Reads the results of `arms`.
///
/// Each job is a phase of the experiment. Jobs with the same name are the same. If names differ,
/// but each result has only one job, or only one of a kind, these are treated as the same. A job is
/// kept if both sides of a comparison have it.
///
/// # Errors
/// As for [`importers::open`]; if a record cannot be read; [`Error::Incomparable`] if an arm names
/// a file twice, or if the results have no common job.
pub fn read_results(
    arms: Vec<SavedArm>,
    stop: Stop,
    command: Vec<String>,
    iotax_version: &str,
) -> Result<Results, Error> {
    let mut reads = Vec::new();
    for (arm, of_arm) in arms.iter().enumerate() {
        let mut block = 0;
        for file in of_arm.files()? {
            for read in read_file(arm, file)? {
                reads.push(ResultFile { block, ..read });
                block += 1;
            }
        }
    }
    let arms: Vec<Arm> = arms.into_iter().map(|saved| saved.arm).collect();
    refuse_copies(&arms, &mut reads)?;
    let design = if arms.len() == 1 { Design::Single } else { Design::Compare };
    let phases = vec![workload(&reads, "", Vec::new())];
    let draft = Draft { stop, seed: 0, ..Draft::new(phases, arms, design) };
    let mut notes: Vec<String> = sameness::one_name(&mut reads).into_iter().collect();
    notes.extend(sameness::one_shape(&mut reads));
    let names = shared(&reads, &draft)?;
    notes.extend(sameness::missing(&reads, &draft.arms, &names));
    notes.extend(unlike_latencies(&mut reads));
    let phases = names.iter().map(|name| {
        let differences = sameness::differences(&draft.arms, &reads, name, names.len() > 1);
        workload(&reads, name, notes.iter().cloned().chain(differences).collect())
    });
    let unmatched = sameness::names(&reads).len() - names.len();
    let spec = Draft {
        phases: phases.collect(),
        suite: (names.len() > 1).then(|| suite(&names)),
        source: Source::SavedResults,
        unmatched_jobs: u32::try_from(unmatched).unwrap_or(u32::MAX),
        ..draft.clone()
    }
    .unchecked();
    let hosts = hosts(&reads, spec.arms.len());
    let site = |arm: usize| Site {
        host: if hosts.is_empty() { 0 } else { arm },
        ..site(&spec.arms[arm], &reads, arm)
    };
    let sites = (0..spec.arms.len()).map(site).collect();
    let starts = starts(&reads);
    let first = starts.as_ref().and_then(|starts| starts.iter().min().copied());
    let results = u32::try_from(reads.len()).unwrap_or(u32::MAX);
    let trials = trials(&spec, reads, starts.as_deref());
    let experiment = ExperimentHead {
        format: FORMAT,
        id: None,
        iotax_version: iotax_version.to_owned(),
        started: first.map_or_else(String::new, |first| first.to_string()),
        command,
        spec,
        hosts,
        cloud: CloudChoice::default(),
        sites,
    };
    let end = End {
        reasons: vec![EndReason::ResultsRead { results }],
        wall_ns: 0,
        interrupted: false,
        gave_up: false,
        trials: u32::try_from(trials.len()).ok(),
        other_programs: None,
    };
    Ok(Results { experiment, trials, end })
}

/// An arm and its results.
#[derive(Debug, Clone)]
pub struct SavedArm {
    arm: Arm,
    files: Vec<PathBuf>,
}

impl SavedArm {
    /// `arm` with the paths of its results as its target.
    pub fn new(arm: Arm, files: Vec<PathBuf>) -> Self {
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        Self { arm: Arm { target: Target::Path(names.join(",").into()), ..arm }, files }
    }

    pub fn named(name: impl Into<String>, files: Vec<PathBuf>) -> Self {
        Self::new(Arm::new(name, Target::Path(PathBuf::new())), files)
    }

    pub fn name(&self) -> &str {
        &self.arm.name
    }

    fn files(&self) -> Result<&[PathBuf], Error> {
        let mut seen = HashSet::new();
        match self.files.iter().find(|file| !seen.insert(*file)) {
            Some(twice) => {
                let what = format!("arm {} lists {} twice", self.arm.name, twice.display());
                Err(incomparable(
                    what,
                    "give each file only once; a copy is not a second measurement",
                ))
            }
            None => Ok(&self.files),
        }
    }
}

/// The result or results at `path`: a record of results has several.
fn read_file(arm: usize, path: &Path) -> Result<Vec<ResultFile>, Error> {
    match file::place(path) {
        Some((dir, of)) => file::read_record(arm, path, &dir, of.as_deref()),
        None => Ok(vec![file::of_tool(arm, path, importers::open(path)?)]),
    }
}

/// Refuses copies. A run in two files, such as its directory and its JSON, or a result and its
/// copy, is one measurement: it counts once, and does not differ from itself.
fn refuse_copies(arms: &[Arm], reads: &mut [ResultFile]) -> Result<(), Error> {
    for (at, read) in reads.iter().enumerate() {
        let is_same = |other: &&ResultFile| other.arm == read.arm && other.is_same_run(read);
        if let Some(other) = reads[..at].iter().find(is_same) {
            let (name, one, two) = (&arms[read.arm].name, &other.file, &read.file);
            let what = format!(
                "arm {name} has the same run twice: {} and {}",
                one.display(),
                two.display()
            );
            return Err(incomparable(
                what,
                "give each run only once; a run counts as one measurement",
            ));
        }
    }
    let twin = |read: &ResultFile| {
        reads.iter().position(|other| other.arm != read.arm && other.is_copy_of(read))
    };
    let twins: Vec<Option<usize>> = reads.iter().map(twin).collect();
    for at in 0..reads.len() {
        let Some(first) = twins[at].filter(|first| *first < at) else { continue };
        let (one, other) = (&reads[first], &reads[at]);
        let all_of = |arm: usize| {
            twins.iter().zip(&*reads).all(|(twin, read)| read.arm != arm || twin.is_some())
        };
        let [one_arm, other_arm] = [one, other].map(|read| &arms[read.arm].name);
        let [one_file, other_file] = [one, other].map(|read| read.file.display());
        if one.started == other.started || all_of(one.arm) || all_of(other.arm) {
            let what = format!(
                "{one_file} of arm {one_arm} and {other_file} of arm {other_arm} are the same \
                 measurement"
            );
            return Err(incomparable(what, "give results from different runs"));
        }
        let warning = format!(
            "{other_file} of arm {other_arm} has exactly the same figures as {one_file}; if \
             one is a copy, leave it out"
        );
        reads[at].warnings.push(warning);
    }
    Ok(())
}

fn incomparable(what: String, advice: &'static str) -> Error {
    Error::Incomparable { what, advice }
}

/// Names of the jobs to compare, in the order of the results; jobs without I/O come last.
fn shared(reads: &[ResultFile], spec: &Draft) -> Result<Vec<String>, Error> {
    let Some(first) = reads.first() else {
        return Err(incomparable("no results are given".to_owned(), "give at least one file"));
    };
    let all = sameness::names(reads);
    let mut names: Vec<String> =
        all.into_iter().filter(|name| sameness::has_sides(reads, spec, name)).collect();
    if names.is_empty() {
        let lacks = |read: &&ResultFile| {
            !first.jobs.iter().any(|job| read.jobs.iter().any(|other| other.name == job.name))
        };
        let other = reads.iter().find(lacks).unwrap_or(first);
        let what = format!(
            "the two sides have no job in common: {} has {}, but {} has {}",
            first.file.display(),
            sameness::listed(&first.jobs),
            other.file.display(),
            sameness::listed(&other.jobs)
        );
        let advice = if sameness::are_arms(reads) {
            "to use one arm of a results directory, specify DIR#ARM"
        } else {
            "compare results of the same job file, or give the jobs the same name"
        };
        return Err(incomparable(what, advice));
    }
    let is_busy = |name: &String| {
        let mut own = reads.iter().flat_map(|read| &read.jobs).filter(|job| job.name == **name);
        own.any(Measured::is_busy)
    };
    names.sort_by_key(|name| !is_busy(name));
    Ok(names)
}

/// Name of all jobs together.
fn suite(names: &[String]) -> String {
    match names.len() {
        many @ 4.. => format!("{} and {} more", names[0], many - 1),
        _ => names.join(", "),
    }
}

/// Which of fio's latencies the results have.
fn called<'a>(reads: impl Iterator<Item = &'a ResultFile>) -> BTreeSet<FioLatency> {
    let records = reads.flat_map(|read| &read.jobs).flat_map(Measured::records);
    let summaries = records.flat_map(JobRecord::directions).filter_map(|way| way.summary.as_ref());
    summaries.filter_map(|summary| summary.called).collect()
}

/// Makes latencies comparable where possible; notes remaining differences.
fn unlike_latencies(reads: &mut [ResultFile]) -> Vec<String> {
    let mut notes = Vec::new();
    if called(reads.iter()).len() > 1 {
        notes.push(
            "mean latency and percentiles are fio's clat in some results, but lat (which includes \
             the submission time) in others"
                .to_owned(),
        );
    }
    if reads.iter().any(|read| read.counts_from_submission) {
        let is_changed: Vec<bool> = reads.iter_mut().map(ResultFile::forget_response).collect();
        if is_changed.contains(&true) {
            notes.push(
                "in jobs with an offered rate, latencies are measured from submission, as in other \
                 tools, although iotax knows when each I/O was due"
                    .to_owned(),
            );
        }
    }
    notes
}

/// What is known of a job, from the first result that has it.
fn workload(reads: &[ResultFile], name: &str, notes: Vec<String>) -> Workload {
    let of_name = |read: &'_ ResultFile| read.jobs.iter().position(|job| job.name == name);
    let job = reads.iter().find_map(|read| Some(read.jobs[of_name(read)?].job.clone()));
    let having = || reads.iter().filter(|read| of_name(read).is_some());
    let runs = having().flat_map(|read| &read.jobs).filter(|job| job.name == name);
    let windows = runs.flat_map(|job| &job.runs).filter_map(|run| run.load.as_ref());
    let tools = tools(having());
    Workload {
        about: format!(
            "Results from {}, read from files; no measurements were made.",
            tools.join(" and ")
        ),
        time_ns: windows.map(|load| load.window_ns).max().unwrap_or(0),
        primary: name.to_owned(),
        origin: Some(Origin::Results { tools, are_ours: having().all(ResultFile::is_ours) }),
        notes,
        ..Workload::new(name, job.into_iter().collect())
    }
}

/// `fio 3.33`, each once.
fn tools<'a>(reads: impl Iterator<Item = &'a ResultFile>) -> Vec<String> {
    let tools: IndexSet<&String> = reads.map(|read| &read.tool).collect();
    tools.into_iter().cloned().collect()
}

fn site(arm: &Arm, reads: &[ResultFile], index: usize) -> Site {
    let own = || reads.iter().filter(|read| read.arm == index);
    let warnings = own().flat_map(|read| {
        read.warnings.iter().map(|text| format!("{}: {text}", read.file.display()))
    });
    let latencies = called(own());
    let clusters: IndexSet<&Placed> = own().filter_map(|read| read.placed.as_ref()).collect();
    let told = clusters.iter().map(|placed| format!("in Kubernetes: {}", placed.told()));
    let told: Vec<String> = told.collect();
    let only = clusters.first().filter(|_| clusters.len() == 1);
    Site {
        kind: "results".to_owned(),
        target: arm.target.to_string(),
        notes: std::iter::once(tools(own()).join(" and ")).chain(told).chain(warnings).collect(),
        placed: only.map(|placed| (*placed).clone()),
        mean_latency: latencies.first().filter(|_| latencies.len() == 1).copied(),
        ..Site::default()
    }
}

/// The machine of each arm, as far as its results agree on it; empty if none is known.
fn hosts(reads: &[ResultFile], arms: usize) -> Vec<HostRecord> {
    let of_arm = |arm: usize| {
        let mut own = reads.iter().filter(|read| read.arm == arm);
        let first = own.next()?.host.as_ref()?;
        let is_same = |read: &ResultFile| {
            read.host.as_ref().is_some_and(|other| {
                other.environment.kernel == first.environment.kernel
                    && other.instance == first.instance
            })
        };
        own.all(is_same).then(|| (**first).clone())
    };
    let hosts: Vec<Option<HostRecord>> = (0..arms).map(of_arm).collect();
    if hosts.iter().all(Option::is_none) {
        return Vec::new();
    }
    hosts.into_iter().map(Option::unwrap_or_default).collect()
}

/// The start of each result, if all of them give it.
fn starts(reads: &[ResultFile]) -> Option<Vec<Timestamp>> {
    reads.iter().map(|read| read.started.as_ref()?.parse().ok()).collect()
}

fn trials(spec: &Spec, reads: Vec<ResultFile>, starts: Option<&[Timestamp]>) -> Vec<Trial> {
    let first = starts.and_then(|starts| starts.iter().min().copied());
    let since = |i: usize| -> u64 {
        let seconds =
            starts.zip(first).map_or(0, |(s, first)| s[i].as_second() - first.as_second());
        u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000_000)
    };
    let phases: Vec<&str> = spec.phases().map(|phase| phase.name.as_str()).collect();
    let mut trials = lacking(spec, &reads, &phases, since);
    for (i, read) in reads.into_iter().enumerate() {
        for job in read.jobs {
            let Some(phase) = phases.iter().position(|name| *name == job.name) else { continue };
            trials.extend(job.runs.into_iter().map(|run| Trial {
                block: read.block,
                slot: 0,
                arm: spec.arms[read.arm].name.clone(),
                phase: u32::try_from(phase).unwrap_or(u32::MAX),
                counters: None,
                length: iotax_record::TrialLength::default(),
                started_ns: since(i).saturating_add(run.started_ns),
                switch_ns: 0,
                outcome: run.outcome,
                load: run.load,
            }));
        }
    }
    // In the order in which they ran, if known; otherwise as given.
    trials.sort_by_key(|trial| trial.started_ns);
    for (slot, trial) in (0..).zip(&mut trials) {
        trial.slot = slot;
    }
    trials
}

/// A failed trial for each result that lacks a job which other results of its arm have: one is
/// missing, so the others may not be representative.
fn lacking(
    spec: &Spec,
    reads: &[ResultFile],
    phases: &[&str],
    since: impl Fn(usize) -> u64,
) -> Vec<Trial> {
    let of_phase = |(phase, name): (u32, &&str)| {
        let is_of_others = |arm: usize| reads.iter().any(|read| read.arm == arm && read.has(name));
        let lack = reads.iter().enumerate();
        let lack = lack.filter(|(_, read)| !read.has(name) && is_of_others(read.arm));
        let trial = |(i, read): (usize, &ResultFile)| Trial {
            block: read.block,
            slot: 0,
            arm: spec.arms[read.arm].name.clone(),
            phase,
            counters: None,
            length: iotax_record::TrialLength::default(),
            started_ns: since(i),
            switch_ns: 0,
            outcome: Outcome::Failed {
                error: format!("{} has no job {name}", read.file.display()),
            },
            load: None,
        };
        lack.map(trial).collect::<Vec<_>>()
    };
    (0..).zip(phases).flat_map(of_phase).collect()
}

#[cfg(test)]
mod tests;
