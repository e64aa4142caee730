//! Results of other tools as an experiment: nothing is run, and what they do not say stays unsaid.

mod file;
mod job;
mod sameness;

use std::collections::HashSet;
use std::path::PathBuf;

use iotax_record::{End, Experiment, FORMAT, JobRecord, Outcome, Site, Trial};
use iotax_spec::{Arm, Design, Job, Spec, Stop, Target, Workload};
use jiff::Timestamp;

use crate::error::Error;
use crate::importers;
use file::ResultFile;

/// An experiment that others have done.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// Its head: arms, the jobs that all results have, no machine.
    pub experiment: Experiment,
    /// One per file. The i-th file of each arm is in block i, which pairs nothing: no order of
    /// theirs is known to have been randomised.
    pub trials: Vec<Trial>,
    /// That nothing was run.
    pub end: End,
}

/// Reads the results that are the targets of `arms`.
///
/// The jobs are those of a name that all results have; where no name is common and each result has
/// one job, those are taken for the same. The first with I/O is the primary one.
///
/// # Errors
/// As [`importers::open`]; [`Error::Incomparable`] if an arm is no list of results, names a file
/// twice, or the results have no job in common.
pub fn read(
    arms: Vec<Arm>,
    stop: Stop,
    command: Vec<String>,
    iotax_version: &str,
) -> Result<Results, Error> {
    let mut reads = Vec::new();
    for (arm, of_arm) in arms.iter().enumerate() {
        for (block, file) in files(of_arm)?.iter().enumerate() {
            let block = u32::try_from(block).unwrap_or(u32::MAX);
            let result = importers::open(file)?;
            reads.push(ResultFile { arm, block, file: file.clone(), result });
        }
    }
    let mut notes: Vec<String> = sameness::one_name(&mut reads).into_iter().collect();
    let names = common(&reads)?;
    notes.extend(left_out(&reads, &names));
    notes.extend(unlike_latencies(&reads));
    notes.extend(sameness::differences(&arms, &reads, &names));
    let workload = workload(&reads, &names, notes);
    let sites = (0..arms.len()).map(|arm| site(&arms[arm], &reads, arm)).collect();
    let design = if arms.len() == 1 { Design::Single } else { Design::Compare };
    let starts = starts(&reads);
    let first = starts.as_ref().and_then(|starts| starts.iter().min().copied());
    let experiment = Experiment {
        format: FORMAT,
        id: None,
        iotax_version: iotax_version.to_owned(),
        started: first.map_or_else(String::new, |first| first.to_string()),
        command,
        spec: Spec {
            workload,
            then: Vec::new(),
            suite: None,
            cloud: iotax_spec::CloudChoice::default(),
            side_runs: iotax_spec::SideRuns::default(),
            fail_if: Vec::new(),
            fitted: None,
            arms,
            design,
            stop,
            seed: 0,
        },
        hosts: Vec::new(),
        sites,
    };
    let trials = trials(&experiment.spec, reads, starts.as_deref());
    let end = End {
        reason: "nothing was run: all results given were read".to_owned(),
        wall_ns: 0,
        interrupted: false,
        gave_up: false,
        trials: u32::try_from(trials.len()).ok(),
    };
    Ok(Results { experiment, trials, end })
}

fn files(arm: &Arm) -> Result<&[PathBuf], Error> {
    let Target::Results(files) = &arm.target else {
        let what = format!("arm {} is {}, not a list of results", arm.name, arm.target);
        return Err(incomparable(what, "give results of fio or DiskSpd for all arms"));
    };
    let mut seen = HashSet::new();
    match files.iter().find(|file| !seen.insert(*file)) {
        Some(twice) => {
            let what = format!("arm {} has {} twice", arm.name, twice.display());
            Err(incomparable(what, "a result copied is not a second measurement: name it once"))
        }
        None => Ok(files),
    }
}

fn incomparable(what: String, advice: &'static str) -> Error {
    Error::Incomparable { what, advice }
}

/// Names of the jobs that all results have, in the order of the first.
fn common(reads: &[ResultFile]) -> Result<Vec<String>, Error> {
    let has = |read: &ResultFile, name: &str| read.result.jobs.iter().any(|job| job.name == name);
    let Some(first) = reads.first() else {
        return Err(incomparable("there is no result".to_owned(), "name at least one file"));
    };
    let of_first = first.result.jobs.iter().map(|job| &job.name);
    let names: Vec<String> =
        of_first.filter(|name| reads.iter().all(|read| has(read, name))).cloned().collect();
    if !names.is_empty() {
        return Ok(names);
    }
    let other = reads.iter().find(|read| !first.result.jobs.iter().any(|job| has(read, &job.name)));
    let other = other.unwrap_or(first);
    let what = format!(
        "no job is in all results: {} has {}, {} has {}",
        first.file.display(),
        listed(&first.result.jobs),
        other.file.display(),
        listed(&other.result.jobs)
    );
    Err(incomparable(what, "compare results of the same job file, or give the jobs one name"))
}

fn listed(jobs: &[JobRecord]) -> String {
    let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).take(4).collect();
    let more = if jobs.len() > names.len() { ", ..." } else { "" };
    format!("{}{more}", names.join(", "))
}

/// Jobs that not all results have.
fn left_out(reads: &[ResultFile], names: &[String]) -> Option<String> {
    let mut others: Vec<&str> = Vec::new();
    for job in reads.iter().flat_map(|read| &read.result.jobs) {
        if !names.contains(&job.name) && !others.contains(&job.name.as_str()) {
            others.push(&job.name);
        }
    }
    (!others.is_empty())
        .then(|| format!("left out, because not all results have them: {}", others.join(", ")))
}

/// Which of fio's latencies a result has: `clat`, `lat`, or both.
fn called<'a>(reads: impl Iterator<Item = &'a ResultFile>) -> Vec<&'a str> {
    let jobs = reads.flat_map(|read| &read.result.jobs);
    let summaries = jobs.flat_map(|job| [&job.read.summary, &job.write.summary]).flatten();
    let mut called: Vec<&str> = summaries.filter_map(|s| s.called.as_deref()).collect();
    called.sort_unstable();
    called.dedup();
    called
}

/// That they are not the same.
fn unlike_latencies(reads: &[ResultFile]) -> Option<String> {
    (called(reads.iter()).len() > 1).then(|| {
        "mean latency and percentiles are fio's clat in some results and lat, which has the time \
         of submission in it, in others"
            .to_owned()
    })
}

/// What is known of the load, from the first result.
fn workload(reads: &[ResultFile], names: &[String], notes: Vec<String>) -> Workload {
    let first = &reads[0];
    let has_io = |name: &&String| {
        let of_name = |job: &&JobRecord| job.name == **name && job.read.ios + job.write.ios > 0;
        reads.iter().any(|read| read.result.jobs.iter().any(|job| of_name(&job)))
    };
    let primary = names.iter().find(has_io).unwrap_or(&names[0]).clone();
    let jobs: Vec<Job> = names
        .iter()
        .filter_map(|name| {
            let at = first.result.jobs.iter().position(|job| job.name == *name)?;
            let options = first.result.options.get(at).map_or(&[][..], Vec::as_slice);
            Some(job::of(&first.result.jobs[at], options, &first.file))
        })
        .collect();
    let tools = tools(reads.iter());
    Workload {
        name: if names.len() > 3 { primary.clone() } else { names.join(", ") },
        about: format!("Results of {tools}, read from files; nothing was run."),
        ramp_ns: 0,
        time_ns: reads.iter().map(|read| read.result.window_ns).max().unwrap_or(0),
        jobs,
        index: None,
        primary,
        requires: None,
        origin: Some(format!("results of {tools}")),
        notes,
        yields: None,
    }
}

/// `fio 3.33`, `fio 3.33 and DiskSpd 2.2.0`.
fn tools<'a>(reads: impl Iterator<Item = &'a ResultFile>) -> String {
    let mut tools: Vec<&str> = Vec::new();
    for read in reads {
        if !tools.contains(&read.result.tool.as_str()) {
            tools.push(&read.result.tool);
        }
    }
    tools.join(" and ")
}

fn site(arm: &Arm, reads: &[ResultFile], index: usize) -> Site {
    let own = || reads.iter().filter(|read| read.arm == index);
    let warnings = own().flat_map(|read| {
        read.result.warnings.iter().map(|text| format!("{}: {text}", read.file.display()))
    });
    let latency = match called(own()).as_slice() {
        ["clat"] => Some("mean latency is fio's clat, from submission to completion".to_owned()),
        ["lat"] => Some("mean latency is fio's lat, with the time that submission took".to_owned()),
        _ => None,
    };
    Site {
        kind: "results".to_owned(),
        target: arm.target.to_string(),
        notes: std::iter::once(tools(own())).chain(latency).chain(warnings).collect(),
        ..Site::default()
    }
}

/// When each began, if all of them say.
fn starts(reads: &[ResultFile]) -> Option<Vec<Timestamp>> {
    reads.iter().map(|read| read.result.started.as_ref()?.parse().ok()).collect()
}

fn trials(spec: &Spec, reads: Vec<ResultFile>, starts: Option<&[Timestamp]>) -> Vec<Trial> {
    let first = starts.and_then(|starts| starts.iter().min().copied());
    let since = |i: usize| -> u64 {
        let seconds =
            starts.zip(first).map_or(0, |(s, first)| s[i].as_second() - first.as_second());
        u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000_000)
    };
    let mut trials: Vec<Trial> = reads
        .into_iter()
        .enumerate()
        .map(|(i, read)| {
            let mut load = read.result.into_load();
            load.jobs.retain(|job| spec.workload.jobs.iter().any(|kept| kept.name == job.name));
            Trial {
                block: read.block,
                slot: 0,
                arm: spec.arms[read.arm].name.clone(),
                phase: 0,
                counters: None,
                started_ns: since(i),
                switch_ns: 0,
                outcome: Outcome::Completed,
                load: Some(load),
            }
        })
        .collect();
    // In the order in which they ran, where that is known; else as given.
    trials.sort_by_key(|trial| trial.started_ns);
    for (slot, trial) in (0..).zip(&mut trials) {
        trial.slot = slot;
    }
    trials
}

#[cfg(test)]
mod tests;
