//! The scripts of a release, with files like those of `cargo xtask dist` and a `gh` that copies them
//! to where the server on loopback has them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::runner::Runner;
use super::{CHECK, DIST, architecture, read, step, steps};
use crate::checkout::root;
use crate::dist;

/// Owner and name of a repository that the release belongs to.
pub(super) const REPOSITORY: &str = "owner/iotax";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Scripts that are not run here: they install things, or take as long as the checks themselves.
const NOT_RUN: [&str; 4] =
    ["Install what the build needs", "Install the linters", "Build", "Check"];
const RUN: [&str; 4] =
    ["Let git read the checkout", "Check the tag", "Verify the checksums", "Publish"];

/// Does what `gh release create` does, to the directory SITE.
const GH: &str = r#"#!/bin/sh
set -eu
[ "$1 $2" = 'release create' ] && [ "$GH_TOKEN" = secret ]
release=$SITE/$GH_REPO/releases/download/$3
shift 3
mkdir -p "$(dirname "$release")"
mkdir "$release"
while [ $# -gt 0 ]; do
    case $1 in
        --verify-tag) ;;
        --title | --notes) shift ;;
        -*) exit 2 ;;
        *) cp "$1" "$release" ;;
    esac
    shift
done
"#;

/// The name of the released program for this machine.
pub(super) fn program_name() -> Result<String> {
    Ok(format!("iotax-{VERSION}-linux-{}", architecture()?))
}

/// Where the files of a release are on the server.
pub(super) fn released(runner: &Runner) -> PathBuf {
    site(runner).join(REPOSITORY).join("releases/download").join(format!("v{VERSION}"))
}

/// What the server has.
pub(super) fn site(runner: &Runner) -> PathBuf {
    runner.place.join("site")
}

/// Publishes `program` with the scripts of the workflow.
pub(super) fn publish(runner: &Runner, program: &Path) -> Result<()> {
    let workflow = read(DIST)?;
    each_is_known()?;
    let mut runner = runner.clone();
    prepare(&mut runner, program)?;
    let mut run = |name: &str| runner_step(&mut runner, step(&workflow, name)?);
    run("Let git read the checkout")?;
    run("Check the tag")?;
    run("Verify the checksums")?;
    run("Publish")?;
    let of_git = fs::read_to_string(runner.place.join("home/.gitconfig"))?;
    let workspace = &runner.variables["GITHUB_WORKSPACE"];
    ensure!(of_git.contains(workspace), "git does not trust {workspace}:\n{of_git}");
    let published = released(&runner);
    for name in [&*program_name()?, "SHA256SUMS"] {
        ensure!(published.join(name).exists(), "{name} was not published");
    }

    let artifacts = runner.place.join("workspace/artifacts");
    fs::write(artifacts.join(program_name()?), "other bytes")?;
    let ended = runner.step(step(&workflow, "Verify the checksums")?)?;
    ensure!(ended.code != 0, "a file that does not match its checksum is published");
    runner.set("GITHUB_REF_NAME", "v99.0.0");
    let ended = runner.step(step(&workflow, "Check the tag")?)?;
    ensure!(ended.code == 1, "a tag of another version is released: {}", ended.log);
    Ok(())
}

/// The files of a release in the workspace, as the step before has downloaded them, and `gh`.
fn prepare(runner: &mut Runner, program: &Path) -> Result<()> {
    let artifacts = runner.place.join("workspace/artifacts");
    fs::create_dir_all(&artifacts)?;
    fs::copy(root().join("Cargo.toml"), runner.place.join("workspace/Cargo.toml"))?;
    let artifact = artifacts.join(program_name()?);
    fs::copy(program, &artifact).with_context(|| format!("copying {}", program.display()))?;
    dist::sums(&artifacts, &[artifact])?;
    let programs = runner.place.join("programs");
    fs::create_dir_all(&programs)?;
    fs::write(programs.join("gh"), GH)?;
    fs::set_permissions(programs.join("gh"), fs::Permissions::from_mode(0o755))?;
    runner.path.push(programs.display().to_string());
    runner.set("SITE", site(runner).display().to_string());
    runner.set("GITHUB_REF_NAME", format!("v{VERSION}"));
    for (name, value) in [("github.token", "secret"), ("github.repository", REPOSITORY)] {
        runner.context.insert(name.to_owned(), value.to_owned());
    }
    Ok(())
}

fn runner_step(runner: &mut Runner, step: &serde_json::Value) -> Result<()> {
    let ended = runner.step(step)?;
    ensure!(ended.code == 0, "{DIST}: `{}` failed:\n{}", ended.last, ended.log);
    Ok(())
}

/// Fails if a workflow has a script of which nobody decided whether it is run here.
fn each_is_known() -> Result<()> {
    for file in [CHECK, DIST] {
        for step in steps(&read(file)?).filter(|step| !step["run"].is_null()) {
            let name = super::name(step);
            let is_known = RUN.contains(&name) || NOT_RUN.contains(&name);
            ensure!(is_known, "{file}: `{name}` is missing from the lists in {}", file!());
        }
    }
    Ok(())
}
