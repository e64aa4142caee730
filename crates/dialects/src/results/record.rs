//! Records that iotax has written itself, read as results beside those of other tools.

use std::path::{Path, PathBuf};

use iotax_experiment::units::format_duration;
use iotax_experiment::{Job, Workload};
use iotax_record::{ExperimentHead, LoadRecord, Outcome, Placed, Reader, SearchHead, Trial};

use super::file::{Measured, ResultFile, Run};
use crate::error::Error;
use crate::fio_write;

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
    /// Of its phase.
    time_ns: u64,
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
        let what = format!("the record in {dir} has no arm `{of}`; it has {names}");
        return Err(Error::Incomparable { what, advice: "name one of them behind the #" });
    }
    let arms: Vec<&str> =
        names.into_iter().filter(|name| of.is_none_or(|of| of == *name)).collect();
    let workloads: Vec<&Workload> = head.spec.phases().collect();
    let parts = parts(&arms, &workloads);
    let mut warnings: Vec<String> = reader.gap()?.map(|gap| gap.to_string()).into_iter().collect();
    let is_of_results = head.spec.is_of_results();
    let mut files: Vec<(u32, ResultFile)> = Vec::new();
    for trial in reader.lines()? {
        let trial = trial?;
        if trial.outcome == Outcome::Interrupted {
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
        let what = format!("the record in {} holds no trial", dir.display());
        return Err(Error::Incomparable { what, advice: "its run was ended before the first" });
    }
    Ok(files.into_iter().map(|(_, file)| file).collect())
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
                parts.push(Part { name, arm, phase, job, time_ns: workload.time_ns });
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
    let Trial { arm, phase, started_ns, outcome, load, .. } = trial;
    let of_trial = |part: &Part<'_>| part.arm == arm && part.phase == phase;
    for (part, measured) in parts.iter().zip(&mut file.jobs).filter(|(part, _)| of_trial(part)) {
        let load = load.as_ref().and_then(|load| {
            let record = load.jobs.iter().find(|record| record.name == part.job.name)?;
            let mut record = record.clone();
            record.name.clone_from(&part.name);
            Some(LoadRecord { jobs: vec![record], operations: Vec::new(), ..load.clone() })
        });
        measured.runs.push(Run { started_ns, outcome: outcome.clone(), load });
    }
}
