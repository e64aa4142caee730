//! Saved results in the place of targets, iotax's own and those of other tools: they are read, and
//! nothing is run.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use iotax_analyze::{Analysis, Phases};
use iotax_dialects::importers;
use iotax_dialects::results::{self, Results, SavedArm};
use iotax_experiment::{Arm, Error as SpecError, Matrix, Stop, Target, pair_arms, parse_arms};
use iotax_record::{ExperimentHead, Writer};
use iotax_rig::Held;

use crate::args::{CompareArgs, ReportArgs};
use crate::destination::Destination;
use crate::exit::{Exit, usage};
use crate::{documented, gate, output, resolve, saved};

/// Refuses results where load is to be driven.
pub(crate) fn refuse(args: &CompareArgs) -> Result<()> {
    match arms(args)? {
        Some(_) => Err(usage(
            "these are results, and nothing would be run; iotax compare shows them".to_owned(),
        )),
        None => Ok(()),
    }
}

/// Arms that are results.
pub(crate) struct Arms {
    arms: Vec<SavedArm>,
    /// What is missing of them, for people.
    notes: Vec<String>,
}

/// The arms, if they are results: records of iotax, files of fio, `DiskSpd` or `iotax run`; several
/// of one arm with commas between, or under its name again. `None` if they are targets to drive load
/// at.
///
/// # Errors
/// If some are results and others are not, or a file that must be a result is none.
pub(crate) fn arms(args: &CompareArgs) -> Result<Option<Arms>> {
    if let [template] = args.arms.as_slice()
        && !args.matrix.factors.is_empty()
    {
        let factors = resolve::factors(&args.matrix.factors)?;
        Matrix::refuse_open_places(template, &factors).context("option --matrix")?;
    }
    let Some(mut arms) = written(args) else {
        return Ok(None); // It is said where targets are read.
    };
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
                "{result} is a result, and {live} is none: what was measured then cannot be \
                 compared with what would be measured now; give results for all arms, or targets \
                 for all"
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
    Ok(Some(Arms { arms, notes }))
}

/// As they are given, those of one name together; or those of a matrix. `None` if they cannot be read.
fn written(args: &CompareArgs) -> Option<Vec<Arm>> {
    if !args.matrix.factors.is_empty() {
        let [template] = args.arms.as_slice() else { return None };
        let matrix = Matrix::parse(&args.matrix.factors, &args.matrix.exclude).ok()?;
        return matrix.arms(template).ok();
    }
    let texts = || args.arms.iter().map(String::as_str);
    match parse_arms(texts()) {
        Err(SpecError::Duplicate { .. }) => {}
        other => return other.ok(),
    }
    let mut arms: Vec<Arm> = Vec::new();
    for arm in texts().map(Arm::parse) {
        let arm = arm.ok()?;
        match arms.iter_mut().find(|known| known.name == arm.name) {
            Some(known) => {
                let both = format!("{},{}", known.target, arm.target);
                known.target = Target::Path(both.into());
            }
            None => arms.push(arm),
        }
    }
    Some(arms)
}

/// Leaves out combinations of which there is no file, and says which.
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
            notes.push(format!("no result of {}: there is no {}", levels.join(", "), arm.target));
        }
    }
    notes.reverse();
    notes
}

/// `after` for `runs/after.json`, `enc` for `runs/day-1#enc`; of a directory its whole name.
fn short(file: &Path, else_name: &str) -> String {
    let name = if file.is_dir() { file.file_name() } else { file.file_stem() };
    let name = name.map(|name| name.to_string_lossy().into_owned());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| else_name.to_owned())
}

/// The files of an arm, if they are results. Those of a matrix `may_lack` some.
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
    // With a workload a file may be meant to be read from, whatever its name. Without one it cannot
    // be a target, so it must be meant as a result: say why it is none.
    if !has_workload {
        let is_there = |file: &&PathBuf| !may_lack || file.exists();
        for file in files.iter().filter(|file| is_named_so(file)).filter(is_there) {
            saved::refuse(file)?;
            importers::open(file)?;
        }
    }
    Ok(None)
}

/// A file of that name, or the files of a list with commas.
fn listed(path: &Path) -> Vec<PathBuf> {
    match path.to_str() {
        Some(text) if text.contains(',') && !path.exists() => {
            let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
            names.map(PathBuf::from).collect()
        }
        _ => vec![path.to_owned()],
    }
}

/// `iotax compare before.json after.json`
pub(crate) fn compare(Arms { arms, notes }: Arms, args: &CompareArgs) -> Result<Exit> {
    refuse_what_runs(args)?;
    if let [only] = arms.as_slice() {
        return Err(usage(format!(
            "there is nothing to compare {} with; iotax report shows it alone",
            only.name()
        )));
    }
    let certainty = &args.measure.certainty;
    let cloud = documented::choice(&args.measure.documented, arms.len())?;
    let mut results = read(arms, resolve::stop(certainty, Stop::default())?)?;
    results.experiment.spec.cloud.clone_from(&cloud);
    results.experiment.cloud = cloud;
    for phase in results.experiment.spec.phases_mut() {
        phase.notes.splice(0..0, notes.iter().cloned());
    }
    let gate = &args.measure.gate;
    gate::set(&mut results.experiment.spec, gate, args.measure.output.format)?;
    gate::refuse_undecided_by(&results.experiment.spec, &results.trials)?;
    let parts = analyze(&results);
    let destination = Destination::new("compare", args.measure.output.out.as_deref());
    let dir = keep(&destination, &results)?;
    let output = &args.measure.output;
    output::show(
        &dir,
        &results.experiment.spec,
        &parts,
        gate.printing(output.format, output.color),
    )?;
    Ok(gate::judged(ended(&parts), &parts, gate, output.format))
}

/// `iotax report FILE...`: results of one thing.
pub(crate) fn report(args: &ReportArgs) -> Result<Exit> {
    let name = match args.paths.as_slice() {
        [file] => short(file, "result"),
        _ => "results".to_owned(),
    };
    let arm = SavedArm::named(name, args.paths.clone());
    let mut results = read(vec![arm], Stop::default())?;
    gate::set(&mut results.experiment.spec, &args.gate, args.format)?;
    gate::refuse_undecided_by(&results.experiment.spec, &results.trials)?;
    let parts = analyze(&results);
    let spec = &results.experiment.spec;
    match &args.out {
        Some(dir) => {
            let dir = keep(&Destination::Asked(dir.clone()), &results)?;
            output::show(&dir, spec, &parts, args.gate.printing(args.format, args.color))?;
        }
        None => output::print(spec, &parts, args.gate.printing(args.format, args.color))?,
    }
    Ok(gate::judged(ended(&parts), &parts, &args.gate, args.format))
}

fn read(arms: Vec<SavedArm>, stop: Stop) -> Result<Results> {
    Ok(results::read(arms, stop, std::env::args().collect(), env!("CARGO_PKG_VERSION"))?)
}

fn analyze(results: &Results) -> Vec<(ExperimentHead, Analysis)> {
    let mut phases = Phases::new(&results.experiment);
    for trial in &results.trials {
        phases.add(trial);
    }
    phases.finish(Some(&results.end))
}

/// Writes a record of the results, which can be shown again without the files.
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

/// Of each arm something must have been measured, in whatever job.
fn ended(parts: &[(ExperimentHead, Analysis)]) -> Exit {
    let has = |at: usize| {
        parts.iter().any(|(_, part)| part.arms.get(at).is_some_and(|arm| arm.trials > 0))
    };
    let measured = (0..parts.first().map_or(0, |(_, part)| part.arms.len())).all(has);
    if measured { Exit::Done } else { Exit::Failed }
}

/// Options that say how to run.
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
        ("--precondition", load.precondition),
        ("--drain", load.drain.is_some()),
        ("--below-cap", args.measure.caps.below_cap),
        ("--no-depth-check", args.measure.caps.no_depth_check),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(usage(format!(
            "{option} says how to run a load, and these are results of runs: nothing is run; leave \
             it out"
        ))),
        None => Ok(()),
    }
}
