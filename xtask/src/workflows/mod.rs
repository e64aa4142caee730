//! The workflows and the Action that GitHub runs: linted, then their scripts are run here, as far as
//! that is possible without GitHub.
//!
//! The scripts of the release publish the program that the tests use to a server on loopback. The
//! Action then installs it from there and measures with it.

mod gate;
mod lint;
mod release;
mod runner;
mod server;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

use self::runner::Runner;
use crate::cargo::{cargo, target};
use crate::checkout::root;
use crate::dist::{said, shown};

/// The workflow that publishes releases.
const DIST: &str = ".github/workflows/dist.yml";
const CHECK: &str = ".github/workflows/check.yml";
const ACTION: &str = "action.yml";

/// A program to install instead of the one that the tests use, for example one from `cargo xtask
/// dist`.
const PROGRAM: &str = "IOTAX_PROGRAM";

/// `cargo xtask check workflows`.
pub(crate) fn check() -> Result<()> {
    let programs = ["curl", "go", "shellcheck", "strip", "sudo"];
    if !iotax_testing::needs_root() || !iotax_testing::needs_programs(&programs) {
        return Ok(());
    }
    let place = target().join("workflows");
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::create_dir_all(&place).with_context(|| format!("making {}", place.display()))?;
    lint::check(&place)?;
    let runner = Runner::new(&place);
    release::publish(&runner, &program()?)?;
    gate::check(&runner)?;
    Ok(fs::remove_dir_all(&place)?)
}

/// The program that is published.
fn program() -> Result<PathBuf> {
    if let Some(program) = std::env::var_os(PROGRAM) {
        return Ok(program.into());
    }
    // As the tests were built, so that nothing is built again with other features of its libraries.
    cargo(&["test", "--workspace", "--tests", "--no-run", "--quiet"])?;
    let program = target().join("workflows/iotax");
    fs::copy(target().join("debug/iotax"), &program).context("the program that tests use")?;
    shown(Command::new("strip").arg(&program))?;
    Ok(program)
}

/// A YAML file of the checkout.
fn read(file: &str) -> Result<Value> {
    let text = fs::read_to_string(root().join(file)).with_context(|| format!("reading {file}"))?;
    serde_saphyr::from_str(&text).with_context(|| format!("{file} is not YAML"))
}

/// The steps of a workflow's jobs, or of an Action.
fn steps(file: &Value) -> impl Iterator<Item = &Value> {
    let jobs = file["jobs"].as_object().into_iter().flat_map(|jobs| jobs.values());
    let of_jobs = jobs.filter_map(|job| job["steps"].as_array());
    of_jobs.chain(file["runs"]["steps"].as_array()).flatten()
}

/// What people call a step.
fn name(step: &Value) -> &str {
    step["name"].as_str().unwrap_or("a step without a name")
}

/// The step of this name in a workflow.
fn step<'a>(workflow: &'a Value, named: &str) -> Result<&'a Value> {
    let mut steps = steps(workflow);
    steps.find(|step| name(step) == named).with_context(|| format!("there is no step `{named}`"))
}

/// The machine that programs are released for, as in their names.
fn architecture() -> Result<String> {
    said(Command::new("dpkg").arg("--print-architecture"))
}
