//! Results of fio and `DiskSpd` in the place of targets: they are read, and nothing is run.

use std::path::{Path, PathBuf};

use anyhow::Result;
use iotax_analyze::{Analysis, Phases};
use iotax_dialects::importers;
use iotax_dialects::results::{self, Results};
use iotax_record::{Experiment, Writer};
use iotax_rig::Held;
use iotax_spec::{Arm, Error as SpecError, Stop, Target, parse_arms};

use crate::args::{CompareArgs, ReportArgs};
use crate::destination::Destination;
use crate::exit::{Exit, Usage};
use crate::{gate, output, resolve};

/// Refuses results where load is to be driven.
pub(crate) fn refuse(args: &CompareArgs) -> Result<()> {
    match arms(&args.arms, args.workload.is_some())? {
        Some(_) => Err(usage(
            "these are results, and nothing would be run; iotax compare shows them".to_owned(),
        )),
        None => Ok(()),
    }
}

/// The arms, if they are results: files of fio or `DiskSpd`, several of one arm with commas
/// between. `None` if they are targets to drive load at.
///
/// # Errors
/// If some are results and others are not, or a file that must be a result is none.
pub(crate) fn arms(texts: &[String], has_workload: bool) -> Result<Option<Vec<Arm>>> {
    let Ok(mut arms) = parse_arms(texts.iter().map(String::as_str)) else {
        return Ok(None); // It is said where targets are read.
    };
    let files: Vec<Option<Vec<PathBuf>>> =
        arms.iter().map(|arm| files(arm, has_workload)).collect::<Result<_>>()?;
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
    for (arm, files) in arms.iter_mut().zip(files) {
        let files = files.unwrap_or_default();
        if let ([file], true) = (files.as_slice(), arm.name == arm.target.to_string()) {
            arm.name = short(file, &arm.name);
        }
        arm.target = Target::Results(files);
    }
    for at in 1..arms.len() {
        if arms[..at].iter().any(|other| other.name == arms[at].name) {
            let (what, name) = ("arm", arms[at].name.clone());
            return Err(SpecError::Duplicate { what, name }.into());
        }
    }
    Ok(Some(arms))
}

/// `after` for `runs/after.json`.
fn short(file: &Path, else_name: &str) -> String {
    file.file_stem().map_or_else(|| else_name.to_owned(), |stem| stem.to_string_lossy().into())
}

/// The files of an arm, if they are results.
fn files(arm: &Arm, has_workload: bool) -> Result<Option<Vec<PathBuf>>> {
    let Some(path) = arm.target.path() else { return Ok(None) };
    let files = listed(path);
    let mut are_results = false;
    for file in &files {
        are_results |= importers::sniff_file(file)?.is_some();
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
        for file in files.iter().filter(|file| is_named_so(file)) {
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
pub(crate) fn compare(arms: Vec<Arm>, args: &CompareArgs) -> Result<Exit> {
    refuse_what_runs(args)?;
    if let [only] = arms.as_slice() {
        return Err(usage(format!(
            "there is nothing to compare {} with; iotax report shows it alone",
            only.name
        )));
    }
    let certainty = &args.measure.certainty;
    let mut results = read(arms, resolve::stop(certainty, Stop::default())?)?;
    let gate = &args.measure.gate;
    gate::set(&mut results.experiment.spec, gate, args.measure.output.format)?;
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
    let arm = Arm::new(name, Target::Results(args.paths.clone()));
    let mut results = read(vec![arm], Stop::default())?;
    gate::set(&mut results.experiment.spec, &args.gate, args.format)?;
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

fn read(arms: Vec<Arm>, stop: Stop) -> Result<Results> {
    Ok(results::read(arms, stop, std::env::args().collect(), env!("CARGO_PKG_VERSION"))?)
}

fn analyze(results: &Results) -> Vec<(Experiment, Analysis)> {
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

fn ended(parts: &[(Experiment, Analysis)]) -> Exit {
    let mut arms = parts.iter().flat_map(|(_, analysis)| &analysis.arms);
    let measured = arms.all(|arm| arm.trials > 0);
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

fn usage(text: String) -> anyhow::Error {
    Usage(text).into()
}
