//! Reads saved results of iotax and other tools instead of running targets.

use std::path::{Path, PathBuf};

use iotax_analyze::Phases;
use iotax_dialects::importers;
use iotax_dialects::results::{self, Results, SavedArm};
use iotax_experiment::{Arm, Base, Stack, Stop, Target, pair_arms};
use iotax_record::{Reader, SearchHead, Writer, record_around};
use iotax_report::AnalyzedPhase;
use iotax_rig::Held;

use super::arms::Written;
use super::{documented, rules, stop};
use crate::args::{CompareArgs, ReportArgs};
use crate::exit::{Context as _, Exit, Result, usage};
use crate::publish::{Answer, Finished};
use crate::session::Destination;

/// Saved results, as an experiment.
pub(crate) struct SavedResults(Results);

/// The comparison, if the arms are results: records of iotax, files of fio, `DiskSpd` or `iotax
/// run`. Several results of one arm are separated by commas, or repeat its name. `None` for
/// targets.
///
/// # Errors
/// If only some arms are results, or a file that must be a result is not one.
pub(super) fn compare(written: &Written, args: &CompareArgs) -> Result<Option<SavedResults>> {
    let Some((arms, notes)) = arms(written, args)? else { return Ok(None) };
    refuse_what_runs(args)?;
    if let [only] = arms.as_slice() {
        return Err(usage(format!(
            "there is no other arm to compare {} with; add one, or show these results alone with \
             iotax report",
            only.name()
        )));
    }
    let cloud = documented::choice(&args.measure.documented, arms.len())?;
    let mut results = read(arms, stop(&args.measure.certainty, Stop::default())?)?;
    let head = &mut results.experiment;
    head.spec = head.spec.try_with(|spec| {
        spec.cloud = cloud.clone();
        for phase in &mut spec.phases {
            phase.notes.splice(0..0, notes.iter().cloned());
        }
        rules::set(spec, &args.measure.gate, args.measure.output.format)
    })?;
    head.cloud = cloud;
    rules::refuse_undecided_by(&head.spec, &results.trials)?;
    Ok(Some(SavedResults(results)))
}

/// Result files as one arm, for `iotax report FILE...`.
pub(crate) fn report(args: &ReportArgs) -> Result<SavedResults> {
    let name = match args.paths.as_slice() {
        [file] => short(file, "result"),
        _ => "results".to_owned(),
    };
    let mut results = read(vec![SavedArm::named(name, args.paths.clone())], Stop::default())?;
    let spec = &mut results.experiment.spec;
    *spec = spec.try_with(|spec| rules::set(spec, &args.gate, args.format))?;
    rules::refuse_undecided_by(&results.experiment.spec, &results.trials)?;
    Ok(SavedResults(results))
}

fn read(arms: Vec<SavedArm>, stop: Stop) -> Result<Results> {
    Ok(results::read_results(arms, stop, std::env::args().collect(), env!("CARGO_PKG_VERSION"))?)
}

impl SavedResults {
    /// Analyses the results, and writes a record that can be shown again without the files.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub(crate) fn finished(self, destination: Option<&Destination>) -> Result<Finished> {
        let Self(results) = self;
        let mut phases = Phases::new(&results.experiment);
        results.trials.iter().for_each(|trial| phases.add(trial));
        let parts = phases.finish(Some(&results.end));
        let ended = Ok(ended(&parts));
        let dir = destination.map(|destination| keep(destination, &results)).transpose()?;
        let name = results.experiment.spec.name().to_owned();
        Ok(Finished { answer: Answer::Trials { name, parts }, dir, ended, hosts: None })
    }
}

fn keep(destination: &Destination, results: &Results) -> Result<Held> {
    destination.refuse_unusable()?;
    let dir = destination.claim()?;
    let mut writer = Writer::create(&dir, &results.experiment)?;
    for trial in &results.trials {
        writer.append(trial)?;
    }
    writer.finish(&results.end)?;
    Ok(dir)
}

/// Success if every arm has a measurement in at least one job.
fn ended(parts: &[AnalyzedPhase]) -> Exit {
    let has = |at: usize| {
        parts.iter().any(|(_, part)| part.arms.get(at).is_some_and(|arm| arm.trials > 0))
    };
    let measured = (0..parts.first().map_or(0, |(_, part)| part.arms.len())).all(has);
    if measured { Exit::Done } else { Exit::Failed }
}

/// The arms with their results, and notes on missing ones.
type SavedArms = (Vec<SavedArm>, Vec<String>);

fn arms(written: &Written, args: &CompareArgs) -> Result<Option<SavedArms>> {
    let mut arms = written.merged();
    let (has_workload, is_matrix) = (args.workload.is_some(), !args.matrix.factors.is_empty());
    let mut files: Vec<Option<Vec<PathBuf>>> =
        arms.iter().map(|arm| files(arm, has_workload, is_matrix)).collect::<Result<_>>()?;
    let notes = if is_matrix && files.iter().any(Option::is_some) {
        drop_missing(&mut arms, &mut files)
    } else {
        Vec::new()
    };
    let found = |is_result: bool| {
        let at = files.iter().position(|files| files.is_some() == is_result);
        at.map(|at| arms[at].name.clone())
    };
    match (found(true), found(false)) {
        (None, _) => return Ok(None),
        (Some(result), Some(live)) => {
            return Err(usage(format!(
                "{result} is a saved result, but {live} is not; saved results cannot be compared \
                 with new measurements: give results for all arms, or targets for all"
            )));
        }
        (Some(_), None) => {}
    }
    let names: Vec<String> = arms
        .iter()
        .zip(&files)
        .map(|(arm, files)| match files.as_deref() {
            Some([file]) if arm.name == arm.target.to_string() => short(file, &arm.name),
            _ => arm.name.clone(),
        })
        .collect();
    let is_clear = (1..names.len()).all(|at| !names[..at].contains(&names[at]));
    if is_clear {
        arms.iter_mut().zip(names).for_each(|(arm, name)| arm.name = name);
    }
    pair_arms(&mut arms, &args.pair).context("option --pair")?;
    let files = files.into_iter().map(Option::unwrap_or_default);
    let arms = arms.into_iter().zip(files).map(|(arm, files)| SavedArm::new(arm, files)).collect();
    Ok(Some((arms, notes)))
}

/// Leaves out combinations without a file, and returns a note for each.
fn drop_missing(arms: &mut Vec<Arm>, files: &mut Vec<Option<Vec<PathBuf>>>) -> Vec<String> {
    let is_missing = |arm: &Arm| {
        let path = arm.target.path();
        path.is_some_and(|path| listed(path).iter().all(|file| !file.exists()))
    };
    let mut notes = Vec::new();
    for at in (0..arms.len()).rev() {
        if files[at].is_none() && is_missing(&arms[at]) {
            let (arm, _) = (arms.remove(at), files.remove(at));
            let levels: Vec<String> =
                arm.levels.iter().map(|own| format!("{}={}", own.factor, own.level)).collect();
            let levels = levels.join(", ");
            notes.push(format!("no result for {levels}: {} does not exist", arm.target));
        }
    }
    notes.reverse();
    notes
}

/// `after` for `runs/after.json`, `enc` for `runs/day-1#enc`; the whole name of a directory.
fn short(file: &Path, else_name: &str) -> String {
    let name = if file.is_dir() { file.file_name() } else { file.file_stem() };
    let name = name.map(|name| name.to_string_lossy().into_owned());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| else_name.to_owned())
}

/// The files of an arm, if they are results. An arm of a matrix `may_lack` some.
fn files(arm: &Arm, has_workload: bool, may_lack: bool) -> Result<Option<Vec<PathBuf>>> {
    let Some(path) = arm.target.path() else { return Ok(None) };
    let files = listed(path);
    let mut are_results = false;
    for file in &files {
        are_results |= results::is_result(file)?;
    }
    if are_results {
        return Ok(Some(files));
    }
    let is_named_so = |file: &PathBuf| {
        let extension = file.extension().unwrap_or_default();
        extension == "json" || extension == "xml"
    };
    // With a workload, a file with any name may be a target. Without one it must be a result, so
    // report why it is not one.
    if !has_workload {
        let is_there = |file: &&PathBuf| !may_lack || file.exists();
        for file in files.iter().filter(|file| is_named_so(file)).filter(is_there) {
            refuse_path(file)?;
            importers::open(file)?;
        }
    }
    Ok(None)
}

/// The file of this name, or the files of a list with commas.
fn listed(path: &Path) -> Vec<PathBuf> {
    match path.to_str() {
        Some(text) if text.contains(',') && !path.exists() => {
            let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
            names.map(PathBuf::from).collect()
        }
        _ => vec![path.to_owned()],
    }
}

/// Refuses options that say how to run.
fn refuse_what_runs(args: &CompareArgs) -> Result<()> {
    let (load, certainty) = (&args.measure.load, &args.measure.certainty);
    let given = [
        ("--workload", args.workload.is_some()),
        ("--time", load.time.is_some()),
        ("--ramp", load.ramp.is_some()),
        ("--scale", load.scale.is_some()),
        ("--set", !load.set.is_empty()),
        ("--engine", !load.engine.is_empty()),
        ("--seed", load.seed.is_some()),
        ("--destroy", !load.destroy.is_empty()),
        ("--quick", certainty.quick),
        ("--tight", certainty.tight),
        ("--max-blocks", certainty.max_blocks.is_some()),
        ("--max-time", certainty.max_time.is_some()),
        ("--hold", args.measure.hold.hold.is_some()),
        ("--precondition", load.precondition),
        ("--drain", load.drain.is_some()),
        ("--below-cap", args.measure.caps.below_cap),
        ("--no-depth-check", args.measure.caps.no_depth_check),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(usage(format!(
            "{option} has no effect on saved results, because nothing is run; leave it out"
        ))),
        None => Ok(()),
    }
}

// Results are never a target.

/// Refuses targets, and the `scratch` directory of stacks that make files, in results of an earlier
/// run. Targets on other hosts are not checked.
///
/// # Errors
/// If a path is a results directory or in one.
pub(crate) fn refuse_targets<'a>(
    targets: impl IntoIterator<Item = &'a Target>,
    scratch: &Path,
) -> Result<()> {
    for target in targets {
        for path in target.named_paths() {
            refuse_path(&path)?;
        }
        if uses_scratch(target) {
            refuse_path(scratch)?;
        }
    }
    Ok(())
}

fn uses_scratch(target: &Target) -> bool {
    let mut base = target.stack().and_then(Stack::base);
    while let Some(Base::Disk(stack)) = base {
        base = stack.base();
    }
    matches!(base, Some(Base::File(file)) if file.path.is_none())
}

/// Refuses one path.
///
/// # Errors
/// If it is a results directory or in one.
pub(crate) fn refuse_path(path: &Path) -> Result<()> {
    let Some(dir) = record_around(path) else { return Ok(()) };
    let is_it = path.canonicalize().is_ok_and(|path| path == dir);
    let shown = path.display();
    let what = if is_it {
        format!("{shown} contains the results of an earlier iotax run")
    } else {
        format!(
            "{shown} is in {}, which contains the results of an earlier iotax run",
            dir.display()
        )
    };
    let name = if is_it { shown.to_string() } else { dir.display().to_string() };
    let compared = if Reader::<SearchHead>::is_in(&dir) {
        String::new()
    } else {
        format!(", and iotax compare {name} OTHER compares them with other results")
    };
    Err(usage(format!(
        "{what}, so iotax does not run a load there; iotax report {name} shows these results{compared}"
    )))
}
