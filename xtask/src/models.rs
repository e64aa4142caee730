//! `tests/models`: models of concurrent code, run in every thread order with loom, and unsafe code,
//! run with Miri.

use std::io::ErrorKind;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::cargo::{cargo, target};
use crate::checkout::root;

const MANIFEST: &str = "tests/models/Cargo.toml";

/// Runs every model, which must hold without a fault and fail with each injected fault.
pub(crate) fn loom() -> Result<()> {
    let built = target().join("models").display().to_string();
    let args = ["test", "--quiet", "--manifest-path", MANIFEST, "--test", "loom"];
    cargo(&[&args[..], &["--target-dir", &built]].concat())
}

/// Runs Miri if a nightly toolchain has it; no other toolchain does.
pub(crate) fn miri() -> Result<()> {
    let interpreter = || {
        let mut command = Command::new("rustup");
        command.args(["run", "nightly", "cargo", "miri"]).current_dir(root());
        command
    };
    if !interpreter().arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!(
            "NOT CHECKED: Miri, which checks unsafe code, is not installed; run `rustup toolchain \
             install nightly --component miri,rust-src`"
        );
        return Ok(());
    }
    let built = target().join("miri");
    // Miri's output contains the path of its checkout, which may no longer exist.
    if let Err(error) = std::fs::remove_dir_all(&built)
        && error.kind() != ErrorKind::NotFound
    {
        return Err(error).context(format!("cannot remove {}", built.display()));
    }
    let mut command = interpreter();
    command.args(["test", "--quiet", "--manifest-path", MANIFEST, "--lib"]);
    let status = command.arg("--target-dir").arg(built).status();
    let status = status.context("cannot start rustup")?;
    if !status.success() {
        bail!("miri: {status}");
    }
    Ok(())
}
