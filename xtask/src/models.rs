//! `tests/models`: what threads do where they meet, in every order, and what is unsafe,
//! interpreted.

use std::io::ErrorKind;
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
    // What miri made keeps the directory of its checkout, which may be gone.
    if let Err(error) = std::fs::remove_dir_all(&built)
        && error.kind() != ErrorKind::NotFound
    {
        return Err(error).context(format!("{} cannot be removed", built.display()));
    }
    let mut command = interpreter();
    command.args(["test", "--quiet", "--manifest-path", MANIFEST, "--lib"]);
    let status = command.arg("--target-dir").arg(built).status();
    let status = status.context("rustup could not be started")?;
    if !status.success() {
        bail!("miri: {status}");
    }
    Ok(())
}
