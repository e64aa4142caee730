//! The steps of `cargo xtask check`, quick ones first.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::checkout::root;
use crate::rooms;

/// One thing that is checked.
pub struct Step {
    pub name: &'static str,
    pub what: &'static str,
    pub run: fn() -> Result<()>,
}

/// All steps in order.
pub const ALL: &[Step] = &[
    Step {
        name: "rooms",
        what: "each crate imports only what the architecture allows",
        run: rooms::check,
    },
    Step { name: "sizes", what: "no source file over 500 lines", run: sizes },
    Step { name: "fmt", what: "formatting", run: fmt },
    Step { name: "clippy", what: "lints, warnings are errors", run: clippy },
    Step { name: "test", what: "all tests", run: test },
    Step { name: "fuzz", what: "every fuzz target survives a short run", run: crate::fuzz::check },
    Step { name: "doc", what: "documentation builds without warnings", run: doc },
];

/// The step of that name.
pub fn find(name: &str) -> Option<&'static Step> {
    ALL.iter().find(|step| step.name == name)
}

/// All steps, a line each.
pub fn listing() -> String {
    let lines: Vec<String> =
        ALL.iter().map(|step| format!("  {:7} {}", step.name, step.what)).collect();
    lines.join("\n")
}

fn fmt() -> Result<()> {
    cargo(&["fmt", "--all", "--check"], &[])
}

fn clippy() -> Result<()> {
    cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"], &[])
}

fn test() -> Result<()> {
    cargo(&["test", "--workspace", "--quiet", "--no-fail-fast"], &[])
}

fn doc() -> Result<()> {
    cargo(&["doc", "--workspace", "--no-deps", "--quiet"], &[("RUSTDOCFLAGS", "-D warnings")])
}

fn cargo(args: &[&str], env: &[(&str, &str)]) -> Result<()> {
    let status = Command::new(env!("CARGO"))
        .args(args)
        .envs(env.iter().copied())
        .current_dir(root())
        .status()
        .context("cargo could not be started")?;
    if !status.success() {
        bail!("`cargo {}` failed: {status}", args.join(" "));
    }
    Ok(())
}

fn sizes() -> Result<()> {
    let mut long = Vec::new();
    for dir in [root().join("crates"), root().join("xtask")] {
        visit(&dir, &mut |path| {
            if path.extension().is_some_and(|e| e == "rs") {
                let lines = fs::read_to_string(path)?.lines().count();
                if lines > 500 {
                    long.push(format!("  {lines} {}", path.display()));
                }
            }
            Ok(())
        })?;
    }
    if !long.is_empty() {
        bail!("files over 500 lines, split them by idea:\n{}", long.join("\n"));
    }
    Ok(())
}

fn visit(dir: &Path, see: &mut impl FnMut(&Path) -> Result<()>) -> Result<()> {
    for entry in fs::read_dir(dir).with_context(|| format!("reading {}", dir.display()))? {
        let path = entry?.path();
        if path.is_dir() { visit(&path, see)? } else { see(&path)? }
    }
    Ok(())
}
