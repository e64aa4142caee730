//! Calls of cargo.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::checkout::root;

/// Runs cargo in the checkout, with what it prints shown.
pub(crate) fn cargo(args: &[&str]) -> Result<()> {
    with_env(args, &[])
}

/// The same with these variables set.
pub(crate) fn with_env(args: &[&str], env: &[(&str, &str)]) -> Result<()> {
    let status =
        command(args).envs(env.iter().copied()).status().context("cargo could not be started")?;
    if !status.success() {
        bail!("`cargo {}` failed: {status}", args.join(" "));
    }
    Ok(())
}

/// cargo in the checkout.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(args).current_dir(root());
    command
}

/// Where cargo builds.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
