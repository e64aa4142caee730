//! Turns arguments into the two experiments of a check.

use std::fs;
use std::path::Path;

use iotax_experiment::{
    Arm, Changes, CloudChoice, Design, Draft, SearchTarget, Stop, StopMode, Target,
};

use super::limits::{self, USUAL_BYTES};
use super::workload::Load;
use super::{Resolved, documented, finish, results, seed};
use crate::args::{CheckArgs, LoadArgs, SearchArgs};
use crate::exit::{Result, usage};

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
    Ok(DiskCheck { caps: caps(Arm::new(name, target), cloud, load)?, fitness })
}

fn refuse_all_but_directories(target: &Target, path: &str) -> Result<()> {
    let kind = match target.path().map(fs::metadata) {
        Some(Ok(seen)) if seen.is_dir() => return Ok(()),
        Some(Ok(_)) => "is not a directory",
        Some(Err(error)) => return Err(usage(format!("{path}: {error}"))),
        None => "is not a path",
    };
    Err(usage(format!(
        "{path} {kind}, but iotax check writes test files; give a directory on the disk, or \
         measure without writing: iotax limits --quick {path}"
    )))
}

fn caps(mut arm: Arm, cloud: CloudChoice, load: &LoadArgs) -> Result<Resolved> {
    let (directory, home) = (std::env::current_dir()?, std::env::home_dir());
    arm.target.resolve_paths(&directory, home.as_deref());
    let span_bytes = iotax_rig::span_bytes(&arm.target, USUAL_BYTES);
    let quick = SearchArgs { quick: true, burst: None, pauses: String::new(), seed: None };
    let mut search = limits::search(&quick, false, cloud, vec![SearchTarget { arm, span_bytes }])?;
    limits::fit(&mut search, &load.dir);
    Ok(Resolved::of_caps(search.resolve()?))
}

fn fitness(arm: Arm, cloud: CloudChoice, load: &LoadArgs) -> Result<Resolved> {
    results::refuse_targets([&arm.target], &load.dir)?;
    let mut suite = Load::read(SUITE)?;
    let changes = Changes { time_ns: Some(TIME_NS), ramp_ns: Some(RAMP_NS), ..Changes::default() };
    changes.apply_to(&mut suite.phases)?;
    let stop = Stop { mode: StopMode::Quick, max_time_ns: Some(MAX_TIME_NS), ..Stop::default() };
    let draft = suite.into_draft(|phases| {
        Ok(Draft { stop, seed: seed(None), cloud, ..Draft::new(phases, vec![arm], Design::Single) })
    })?;
    finish(draft, load, Path::new("."))
}
