//! The meaning of the file: reads units, fills in defaults, and adds the key to each error.

use std::path::Path;

use indexmap::IndexMap;
use iotax_layers::{About, Error, Stack, units};

use super::caps;
use super::document::{At, Misplaced, Placed};
use super::workload::{JobTable, WorkloadElsewhere, WorkloadEntry, WorkloadTable};
use super::written::Scalar;
use super::written::{ArmEntry, SetEntry, SpecFile};
use crate::build::Subsets;
use crate::job_options::{self, INDEX_OPTIONS, JOB_OPTIONS};
use crate::load_factors::{of_target_and_load, refuse_exclusions, varied};
use crate::matrix::{Factor, Matrix};
use crate::overrides::{Changes, is_size};
use crate::rule::Rule;
use crate::spec::{Arm, Design, Draft, NamedTarget, Stop, Target};
use crate::workload::{IndexLoads, Job, Workload};

/// Reads the phases of a workload in another file, at least one.
pub type WorkloadReader<'a> = &'a dyn Fn(WorkloadElsewhere<'_>) -> Result<Vec<Workload>, Error>;

pub(super) fn resolve(file: &SpecFile, read: WorkloadReader<'_>) -> Placed<Draft> {
    let phases = phases(file, read)?;
    let (of_target, of_load) = factors(file, &phases)?;
    let name = phases.first().map(|phase| phase.name.clone());
    let phases = varied(phases, &of_load).at(&["matrix"])?;
    let suite = suite(file).or(name).filter(|_| phases.len() > 1);
    let stop = stop(file)?;
    let draft = with_arms(file, phases, of_target)?;
    let mut draft = Draft {
        suite,
        stop,
        seed: file.seed.unwrap_or(Draft::DEFAULT_SEED),
        cloud: caps::cloud(file, &draft.arms)?,
        side_runs: caps::side_runs(file)?,
        hold_ns: duration("hold", file.hold.as_ref())?,
        fail_if: file
            .fail_if
            .iter()
            .map(|text| Rule::parse(text))
            .collect::<Result<_, _>>()
            .at(&["fail-if"])?,
        undecided: file.undecided,
        ..draft
    };
    let key = if file.before.is_empty() { "after" } else { "before" };
    draft.set_host_commands(words(&file.before), words(&file.after), Path::new("")).at(&[key])?;
    let mut bound = draft.clone();
    bound.bind_targets().map_err(in_arms)?;
    bound.validate_precondition().at(&["precondition"])?;
    draft.validate_recordings().map_err(at_key)?;
    draft.validate_rules().at(&["fail-if"])?;
    Ok(draft)
}

/// The experiment with only its phases and arms.
fn with_arms(file: &SpecFile, phases: Vec<Workload>, factors: Vec<Factor>) -> Placed<Draft> {
    match (&file.peel, file.arms.is_empty()) {
        (Some(_), false) => {
            let advice = "keep only one of them; `peel` creates its own arms";
            Err(Error::syntax("both `peel` and `arms` are given", advice)).at(&["peel"])
        }
        (Some(text), true) => {
            let stack = Stack::parse(text).at(&["peel"])?;
            let subsets = if file.all_subsets { Subsets::All } else { Subsets::Auto };
            let draft = Draft::peel(phases, &stack, subsets).at(&["peel"])?;
            draft.validate().at(&["peel"])?;
            Ok(draft)
        }
        (None, true) => {
            let advice = "add an [arms] table, for example with base = \"/mnt/a\" and other = \
                          \"/mnt/b\"";
            Err(Error::syntax("no arms are given", advice)).at(&["arms"])
        }
        (None, false) => {
            let arms = arms(file, factors)?;
            let design = if arms.len() == 1 { Design::Single } else { Design::Compare };
            let draft = Draft::new(phases, arms, design);
            draft.validate().map_err(in_arms)?;
            Ok(draft)
        }
    }
}

/// The arms, with the baseline first.
fn arms(file: &SpecFile, factors: Vec<Factor>) -> Placed<Vec<Arm>> {
    let mut arms = if factors.is_empty() { named(file)? } else { combined(file, factors)? };
    for (name, driver) in &file.engines {
        let arm = arms.iter_mut().find(|arm| arm.name == *name);
        let unknown = || Error::unknown("arm", name, file.arms.keys().map(String::as_str));
        arm.ok_or_else(unknown).at(&["engines", name])?.driver = *driver;
    }
    if let Some(baseline) = &file.baseline {
        let position = arms.iter().position(|arm| arm.name == *baseline);
        let unknown = || Error::unknown("arm", baseline, file.arms.keys().map(String::as_str));
        let position = position.ok_or_else(unknown).at(&["baseline"])?;
        arms[..=position].rotate_right(1);
    }
    Ok(arms)
}

/// Arms and their commands.
fn words(table: &IndexMap<String, String>) -> impl Iterator<Item = (&str, &str)> {
    table.iter().map(|(arm, command)| (arm.as_str(), command.as_str()))
}

fn duration(key: &str, value: Option<&Scalar>) -> Placed<Option<u64>> {
    value.map(|value| units::parse_duration(&value.to_string()).at(&[key])).transpose()
}

fn named(file: &SpecFile) -> Placed<Vec<Arm>> {
    let arm = |(name, entry): (&String, &ArmEntry)| {
        if name.trim().is_empty() {
            return Err(Error::syntax("the arm has no name", "")).at(&["arms", name]);
        }
        let target = match entry {
            ArmEntry::One(text) => Target::parse(text).at(&["arms", name])?,
            ArmEntry::Several(targets) => several(targets).at(&["arms", name])?,
        };
        Ok(Arm::new(name.clone(), target))
    };
    file.arms.iter().map(arm).collect()
}

fn several(targets: &IndexMap<String, String>) -> Result<Target, Error> {
    let named = |(name, text): (&String, &String)| {
        let target = Target::parse(text)?;
        Ok(NamedTarget { name: name.clone(), target })
    };
    Ok(Target::Several(targets.iter().map(named).collect::<Result<_, Error>>()?))
}

/// The arms of the matrix, for which the only arm is the template.
fn combined(file: &SpecFile, factors: Vec<Factor>) -> Placed<Vec<Arm>> {
    let Some((name, template)) = file.arms.first().filter(|_| file.arms.len() == 1) else {
        let problem = "a matrix creates its arms from one target, but several are given";
        return Err(Error::syntax(problem, "specify the targets as levels of a factor"))
            .at(&["arms"]);
    };
    let ArmEntry::One(template) = template else {
        let problem = "a matrix creates its arms from one target, but this arm has several";
        return Err(Error::syntax(problem, "list the arms individually, without a matrix"))
            .at(&["arms", name]);
    };
    let matrix = Matrix::new(factors).at(&["matrix"])?.without(&file.exclude).at(&["exclude"])?;
    matrix.arms(template).at(&["arms", name])
}

/// The factors of the target and of the workload.
fn factors(file: &SpecFile, phases: &[Workload]) -> Placed<(Vec<Factor>, Vec<Factor>)> {
    let factor = |(name, levels): (&String, &Vec<Scalar>)| Factor {
        name: name.clone(),
        levels: levels.iter().map(ToString::to_string).collect(),
    };
    let all = file.matrix.iter().map(factor).collect();
    let of_arm = |arm: &ArmEntry| match arm {
        ArmEntry::One(target) => target.clone(),
        ArmEntry::Several(targets) => targets.values().cloned().collect::<Vec<_>>().join(" "),
    };
    let targets = file.arms.values().map(of_arm).collect::<Vec<_>>().join(" ");
    let (of_target, of_load) = of_target_and_load(all, &targets, phases);
    refuse_exclusions(&file.exclude, &of_load).at(&["exclude"])?;
    Ok((of_target, of_load))
}

fn stop(file: &SpecFile) -> Placed<Stop> {
    let usual = Stop::default();
    let share = |key: &str, value: Option<&Scalar>, usual: f64| match value {
        Some(value) => units::parse_share(&value.to_string()).at(&[key]),
        None => Ok(usual),
    };
    let max_blocks = file.max_blocks.unwrap_or(usual.max_blocks);
    let stop = Stop {
        mode: file.mode.unwrap_or(usual.mode),
        margin: share("margin", file.margin.as_ref(), usual.margin)?,
        alpha: share("alpha", file.alpha.as_ref(), usual.alpha)?,
        simultaneous: file.simultaneous,
        max_blocks,
        max_blocks_asked: file.max_blocks.is_some(),
        // A maximum below the usual minimum means exactly that many blocks.
        min_blocks: file.min_blocks.unwrap_or(usual.min_blocks.min(max_blocks)),
        max_time_ns: duration("max-time", file.max_time.as_ref())?,
    };
    stop.validate().map_err(at_key)?;
    Ok(stop)
}

/// Points at the key of the file that the error names.
fn at_key(error: Error) -> Misplaced {
    let path = match &error {
        Error::Impossible { key, .. } => vec![(*key).to_owned()],
        _ => vec![],
    };
    Misplaced { path, error: Box::new(error) }
}

/// The phases, at least one, with all changes applied.
fn phases(file: &SpecFile, read: WorkloadReader<'_>) -> Placed<Vec<Workload>> {
    let mut phases = match &file.workload {
        WorkloadEntry::Preset(name) if is_suite(name) => Workload::suite(name).at(&["workload"])?,
        WorkloadEntry::Preset(name) => vec![Workload::preset(name).at(&["workload"])?],
        WorkloadEntry::Fio(fio) => read(WorkloadElsewhere::Fio(fio)).at(&["workload", "fio"])?,
        WorkloadEntry::Recording(recording) => {
            read(WorkloadElsewhere::Recording(recording)).at(&["workload", "recording"])?
        }
        WorkloadEntry::Table(table) => vec![described(table)?],
    };
    let times = Changes {
        scale: file.scale,
        time_ns: duration("time", file.time.as_ref())?,
        ramp_ns: duration("ramp", file.ramp.as_ref())?,
        set: vec![],
    };
    for workload in &mut phases {
        times.apply(workload).at(&["scale"])?;
    }
    for (key, entry) in &file.set {
        match entry {
            SetEntry::Value(value) => {
                set(&mut phases, key, &value.to_string()).at(&["set", key])?;
            }
            SetEntry::Job(table) => {
                for (inner, value) in table {
                    let path = format!("{key}.{inner}");
                    set(&mut phases, &path, &value.to_string()).at(&["set", key, inner])?;
                }
            }
        }
    }
    for workload in &phases {
        workload
            .validate()
            .map_err(|error| Misplaced { path: blame(file, &error), error: Box::new(error) })?;
    }
    Ok(phases)
}

/// A change applies to every phase with the job that it names; at least one phase must have it.
fn set(phases: &mut [Workload], path: &str, value: &str) -> Result<(), Error> {
    let mut refused = None;
    let mut taken = false;
    for workload in phases {
        match workload.set_path(path, value) {
            Ok(()) => taken = true,
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    match refused {
        Some(error) if !taken => Err(error),
        _ => Ok(()),
    }
}

fn is_suite(name: &str) -> bool {
    Workload::suite_names().any(|suite| suite == name)
}

/// Name of several phases together.
fn suite(file: &SpecFile) -> Option<String> {
    let written = match &file.workload {
        WorkloadEntry::Fio(written) => written,
        WorkloadEntry::Preset(name) => return is_suite(name).then(|| name.clone()),
        WorkloadEntry::Recording(_) | WorkloadEntry::Table(_) => return None,
    };
    let name = if written.is_command() { "fio" } else { &written.fio };
    let name = name.rsplit('/').next().unwrap_or(name);
    Some(name.strip_suffix(".fio").unwrap_or(name).to_owned())
}

/// The jobs of the table, with the times of the plain built-in workloads.
fn described(table: &WorkloadTable) -> Placed<Workload> {
    let plain = Workload::preset("randread-4k").expect("it is built in");
    let mut jobs = Vec::new();
    for (i, written) in table.job.iter().enumerate() {
        jobs.push(job(written, &i.to_string())?);
    }
    let first = jobs.first().map(|job| job.name.clone()).unwrap_or_default();
    let index = match &table.index {
        None => None,
        Some(keys) => {
            let mut index = IndexLoads::default();
            for (name, value) in keys {
                let path = ["workload", "index", name];
                let option = find(&INDEX_OPTIONS, name).at(&path)?;
                option.set(&mut index, &value.to_string()).at(&path)?;
            }
            Some(index)
        }
    };
    Ok(Workload {
        name: table.name.clone(),
        about: table.about.clone(),
        primary: table.primary.clone().unwrap_or(first),
        jobs,
        index,
        yields: plain.yields.filter(|_| !sizes_are_given(table)),
        ..plain
    })
}

/// Whether any job, or the index, has a given size.
fn sizes_are_given(table: &WorkloadTable) -> bool {
    let mut keys = table
        .job
        .iter()
        .flat_map(|job| job.keys.keys())
        .chain(table.index.iter().flatten().map(|(key, _)| key));
    keys.any(|key| is_size(key))
}

fn job(written: &JobTable, position: &str) -> Placed<Job> {
    let nameless = || Error::syntax("the job has no name", "add a name, as in name = \"reader\"");
    let name = written.name().ok_or_else(nameless).at(&["workload", "job", position])?;
    let mut job = Job::new(name);
    // In the order of the table, so that `rw` does not undo a `read-percent` above it.
    let mut keys: Vec<_> = written.keys.iter().filter(|(key, _)| *key != "name").collect();
    keys.sort_by_key(|(name, _)| JOB_OPTIONS.iter().position(|key| key.name == **name));
    for (name, value) in keys {
        let path = ["workload", "job", position, name];
        find(&JOB_OPTIONS, name).at(&path)?.set(&mut job, &value.to_string()).at(&path)?;
    }
    Ok(job)
}

fn find<T>(
    keys: &'static [job_options::JobOption<T>],
    name: &str,
) -> Result<&'static job_options::JobOption<T>, Error> {
    keys.iter()
        .find(|key| key.name == name)
        .ok_or_else(|| Error::unknown("key", name, keys.iter().map(|key| key.name)))
}

/// Points at the arm of the error.
fn in_arms(error: Error) -> Misplaced {
    let arm = match &error {
        Error::Impossible { subject: About::Arm { arm, .. }, .. } => Some(arm.clone()),
        _ => None,
    };
    let path = std::iter::once("arms".to_owned()).chain(arm).collect();
    Misplaced { path, error: Box::new(error) }
}

/// Where to point for an impossible workload: at the override that caused it, otherwise at the key
/// in its table, otherwise at the workload.
fn blame(file: &SpecFile, error: &Error) -> Vec<String> {
    let path = |segments: &[&str]| segments.iter().map(|s| (*s).to_owned()).collect();
    match error {
        Error::Unknown { what: "primary job", .. } if file.set.contains_key("primary") => {
            path(&["set", "primary"])
        }
        Error::Unknown { what: "primary job", .. } => path(&["workload", "primary"]),
        Error::Duplicate { what: "job", .. } => path(&["workload", "job"]),
        Error::Impossible { subject: About::Workload, key, .. } if file.set.contains_key(*key) => {
            path(&["set", key])
        }
        Error::Impossible { subject: About::Workload, key: "time", .. } if file.time.is_some() => {
            path(&["time"])
        }
        Error::Impossible { subject: About::Workload, key: "ramp", .. } if file.ramp.is_some() => {
            path(&["ramp"])
        }
        Error::Impossible { subject: About::Workload, key, .. } => path(&["workload", key]),
        Error::Impossible { subject: About::Index, key, .. } => {
            overriding(file, "index", |name| name == *key)
                .unwrap_or_else(|| path(&["workload", "index", key]))
        }
        Error::Impossible { subject: About::Job(_), key: "recording", .. } => {
            let changed = file.set.keys().next().map(|key| path(&["set", key]));
            changed.unwrap_or_else(|| path(&["workload", "recording"]))
        }
        Error::Impossible { subject: About::Job(job), key, .. } => {
            let is_key =
                |name: &str| job_options::find(&JOB_OPTIONS, name).is_some_and(|k| k.name == *key);
            overriding(file, job, is_key).unwrap_or_else(|| {
                let WorkloadEntry::Table(table) = &file.workload else {
                    return path(&["workload"]);
                };
                let position =
                    table.job.iter().position(|written| written.name().as_ref() == Some(job));
                path(&["workload", "job", &position.unwrap_or_default().to_string(), key])
            })
        }
        _ => path(&["workload"]),
    }
}

/// The last entry of `[set]` that changed such a key in `scope` (a job or the index).
fn overriding(file: &SpecFile, scope: &str, is_key: impl Fn(&str) -> bool) -> Option<Vec<String>> {
    file.set.iter().rev().find_map(|(written, entry)| match entry {
        SetEntry::Job(table) if written == scope => {
            let inner = table.keys().rfind(|inner| is_key(inner))?;
            Some(vec!["set".to_owned(), written.clone(), inner.clone()])
        }
        SetEntry::Job(_) => None,
        SetEntry::Value(_) => {
            let inner = match written.rsplit_once('.') {
                Some((other, inner)) if other == scope => inner,
                Some(_) => return None,
                None => written,
            };
            is_key(inner).then(|| vec!["set".to_owned(), written.clone()])
        }
    })
}
