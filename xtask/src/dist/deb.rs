//! Debian packages, built by cargo-deb from `package.metadata.deb` in crates/cli.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use flate2::{Compression, GzBuilder};

use super::commands::{said, shown};
use super::release::made;
use crate::cargo;

/// Shells, and their completion files.
const SHELLS: [(&str, &str); 3] = [("bash", "iotax"), ("zsh", "_iotax"), ("fish", "iotax.fish")];

/// Packs `program`. `native` is the build for this machine, which writes man pages and completions.
///
/// cargo-deb takes files from cargo's target directory. This uses a staging directory, so that the
/// paths are the same for every profile.
pub(super) fn write(
    package: &Path,
    program: &Path,
    native: &Path,
    triple: Option<&str>,
) -> Result<()> {
    let stage = package.with_extension("stage");
    let built = stage.join(triple.unwrap_or_default()).join("release");
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    fs::create_dir_all(built.join("completions"))?;
    fs::copy(program, built.join("iotax"))
        .with_context(|| format!("copying {}", program.display()))?;
    let man = built.join("man");
    shown(Command::new(native).arg("man").arg(&man))?;
    pack_each(&man)?;
    for (shell, file) in SHELLS {
        let script = said(Command::new(native).args(["completions", shell]))?;
        fs::write(built.join("completions").join(file), script + "\n")?;
    }
    let mut command = cargo::command(&["deb", "--package", "iotax", "--no-build", "--no-strip"]);
    command.arg("--quiet").arg("--output").arg(package);
    command.env("CARGO_TARGET_DIR", &stage).env("SOURCE_DATE_EPOCH", made()?);
    if let Some(triple) = triple {
        command.args(["--target", triple]);
    } else {
        // Fast compression is enough for tests.
        command.arg("--fast");
    }
    shown(&mut command)
        .context("cargo-deb failed; if it is missing, run: cargo install --locked cargo-deb")?;
    fs::remove_dir_all(&stage)?;
    Ok(())
}

/// cargo-deb packs man pages from the source tree, but not generated ones.
fn pack_each(directory: &Path) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let mut packed = GzBuilder::new().write(Vec::new(), Compression::best());
        packed.write_all(&fs::read(&path)?)?;
        fs::write(path.with_added_extension("gz"), packed.finish()?)?;
        fs::remove_file(&path)?;
    }
    Ok(())
}
