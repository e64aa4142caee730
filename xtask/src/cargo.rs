//! Runs cargo.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::checkout::root;

/// Runs cargo in the checkout and shows its output.
pub(crate) fn cargo(args: &[&str]) -> Result<()> {
    with_env(args, &[])
}

/// Runs cargo with these environment variables.
pub(crate) fn with_env(args: &[&str], env: &[(&str, &str)]) -> Result<()> {
    let status = command(args).envs(env.iter().copied()).status().context("cannot start cargo")?;
    if !status.success() {
        bail!("`cargo {}` failed: {status}", args.join(" "));
    }
    Ok(())
}

/// A command that runs cargo in the checkout.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(args).current_dir(root());
    command
}

/// The target directory of cargo.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
