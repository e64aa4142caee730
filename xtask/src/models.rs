//! `tests/models`: what threads do where they meet, in every order, and what is unsafe, interpreted.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::cargo::{cargo, target};
use crate::checkout::root;

const MANIFEST: &str = "tests/models/Cargo.toml";

/// Every model holds, and fails with each fault that is planted.
pub(crate) fn loom() -> Result<()> {
    let built = target().join("models").display().to_string();
    let args = ["test", "--quiet", "--manifest-path", MANIFEST, "--test", "loom"];
    cargo(&[&args[..], &["--target-dir", &built]].concat())
}

/// Where a nightly toolchain has miri: the only one that has.
pub(crate) fn miri() -> Result<()> {
    let interpreter = || {
        let mut command = Command::new("rustup");
        command.args(["run", "nightly", "cargo", "miri"]).current_dir(root());
        command
    };
    if !interpreter().arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!(
            "NOT CHECKED: there is no miri here, which interprets unsafe code; \
             `rustup toolchain install nightly --component miri,rust-src` brings it"
        );
        return Ok(());
    }
    let built = target().join("miri");
    // It keeps the directory of the checkout that it was built in, which may be gone.
    forget_models(&built)?;
    let mut command = interpreter();
    command.args(["test", "--quiet", "--manifest-path", MANIFEST, "--lib"]);
    let status = command.arg("--target-dir").arg(built).status();
    let status = status.context("rustup could not be started")?;
    if !status.success() {
        bail!("miri: {status}");
    }
    Ok(())
}

/// Has what miri made of the models made again.
fn forget_models(built: &Path) -> Result<()> {
    let Ok(entries) = std::fs::read_dir(built) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            let is_of_models = |name: &str| name.starts_with("iotax");
            if entry.file_name().to_str().is_some_and(is_of_models) {
                std::fs::remove_dir_all(entry.path())?;
            } else {
                forget_models(&entry.path())?;
            }
        }
    }
    Ok(())
}
