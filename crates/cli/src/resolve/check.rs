//! Turns arguments into the two experiments of a check.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use iotax_experiment::{Arm, Changes, CloudChoice, Design, Draft, Stop, StopMode, Target};

use super::workload::Load;
use super::{Resolved, documented, finish, limits, seed};
use crate::args::{CheckArgs, LoadArgs};
use crate::exit::{Result, usage};

/// The search for caps refines nothing after this time: the whole check takes about a minute.
const SEARCH_NS: u64 = 30_000_000_000;
/// The suite that stands for the applications.
const SUITE: &str = "fitness";
/// Short trials: of many short ones, more can be told in the same time than of few long ones.
const TIME_NS: u64 = 600_000_000;
const RAMP_NS: u64 = 150_000_000;
/// The suite stops then, decided or not.
const MAX_TIME_NS: u64 = 24_000_000_000;

/// What a check measures of a directory.
pub(crate) struct DiskCheck {
    pub caps: Resolved,
    pub fitness: Resolved,
}

/// The experiments of `iotax check`.
pub(crate) fn check(args: &CheckArgs, load: &LoadArgs) -> Result<DiskCheck> {
    let target = Target::parse(&args.path)?;
    refuse_all_but_directories(&target, &args.path)?;
    let cloud = documented::choice(&args.documented, 1)?;
    let fitness = fitness(Arm::new("target", target.clone()), cloud.clone(), load)?;
    let name = fs::canonicalize(&args.path)?.display().to_string();
    Ok(DiskCheck {
        caps: limits::quick(Arm::new(name, target), cloud, SEARCH_NS, &load.dir)?,
        fitness,
    })
}

fn refuse_all_but_directories(target: &Target, path: &str) -> Result<()> {
    let problem = match target.path().map(fs::metadata) {
        Some(Ok(seen)) if seen.is_dir() => return Ok(()),
        Some(Ok(_)) => "is not a directory",
        Some(Err(error)) if error.kind() == ErrorKind::NotFound => {
            let advice = "create the directory first, or check the spelling";
            return Err(usage(format!("{path} does not exist; {advice}")));
        }
        Some(Err(error)) => return Err(usage(format!("{path}: {error}"))),
        None => "is not a path",
    };
    Err(usage(format!(
        "{path} {problem}, but iotax check writes test files; give a directory on the disk, or \
         measure without writing: iotax limits --quick {path}"
    )))
}

fn fitness(arm: Arm, cloud: CloudChoice, load: &LoadArgs) -> Result<Resolved> {
    let mut suite = Load::read(SUITE)?;
    let changes = Changes { time_ns: Some(TIME_NS), ramp_ns: Some(RAMP_NS), ..Changes::default() };
    changes.apply_to(&mut suite.phases)?;
    let stop = Stop { mode: StopMode::Quick, max_time_ns: Some(MAX_TIME_NS), ..Stop::default() };
    let draft = suite.into_draft(|phases| {
        Ok(Draft { stop, seed: seed(None), cloud, ..Draft::new(phases, vec![arm], Design::Single) })
    })?;
    finish(draft, load, Path::new("."))
}
