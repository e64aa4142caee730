//! Builds static programs with the C library musl.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use iotax_image::File;

use super::commands::{said, shown};
use super::release::{Machine, made};
use crate::cargo::{self, target};
use crate::checkout::root;

/// Debian's cross compiler is for glibc, and so are the headers that it finds; musl needs its own.
const CROSS_COMPILER: &str = "aarch64-linux-gnu-gcc";
const CROSS_HEADERS: &str = "/usr/include/aarch64-linux-musl";

/// Builds the program for a machine and returns its path.
pub(super) fn program(machine: &Machine) -> Result<PathBuf> {
    let triple = machine.triple;
    let build =
        ["build", "--package", "iotax", "--profile", "dist", "--target", triple, "--locked"];
    let mut command = cargo::command(&[&build[..], &["--features", "kubernetes"]].concat());
    command.env("CARGO_INCREMENTAL", "0").env("SOURCE_DATE_EPOCH", made()?);
    for (name, value) in environment(triple)? {
        command.env(name, value);
    }
    shown(&mut command).with_context(|| {
        format!("building for {triple} failed; if the toolchain is missing, install it: {NEEDS}")
    })?;
    let program = target().join(triple).join("dist/iotax");
    is_static(&program)?;
    Ok(program)
}

const NEEDS: &str = "rustup target add x86_64-unknown-linux-musl aarch64-unknown-linux-musl; \
    dpkg --add-architecture arm64; apt-get update; apt-get install musl-tools musl-dev:arm64 \
    gcc-aarch64-linux-gnu";

/// Environment variables for cargo and the C compiler.
fn environment(triple: &str) -> Result<BTreeMap<String, OsString>> {
    let name = triple.replace('-', "_");
    let mut flags = Vec::new();
    let mut all = BTreeMap::new();
    if triple.starts_with("aarch64") {
        let own = said(Command::new(CROSS_COMPILER).arg("-print-file-name=include"))?;
        flags.extend(["-nostdinc", "-isystem", CROSS_HEADERS, "-isystem"].map(str::to_owned));
        flags.push(own);
        all.insert(format!("CC_{name}"), CROSS_COMPILER.into());
        let linker = format!("CARGO_TARGET_{}_LINKER", name.to_uppercase());
        all.insert(linker, CROSS_COMPILER.into());
    }
    // Messages of panics and of the C library contain source paths.
    let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home = cargo_home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let mut from = vec![(root(), "iotax")];
    from.extend(cargo_home.map(|home| (home, "cargo")));
    let paths = from.iter().map(|(path, name)| format!("{}={name}", path.display()));
    let (for_rust, for_c): (Vec<_>, Vec<_>) = paths
        .map(|map| (format!("--remap-path-prefix={map}"), format!("-ffile-prefix-map={map}")))
        .unzip();
    flags.extend(for_c);
    all.insert(format!("CFLAGS_{name}"), flags.join(" ").into());
    all.insert("CARGO_ENCODED_RUSTFLAGS".to_owned(), for_rust.join("\x1f").into());
    Ok(all)
}

/// Fails if the program needs a dynamic loader.
fn is_static(program: &Path) -> Result<()> {
    let headers = said(Command::new("readelf").arg("--program-headers").arg(program))?;
    if headers.contains("INTERP") {
        bail!("{} is not static", program.display());
    }
    Ok(())
}

/// The shared libraries of a program that is not static, as files of an image.
pub(super) fn libraries(program: &Path) -> Result<Vec<File>> {
    let listed = said(Command::new("ldd").arg(program))?;
    let words = listed.split_whitespace().filter(|word| word.starts_with('/'));
    let read = |path: &str| {
        let content = fs::read(path).with_context(|| format!("reading {path}"))?;
        Ok(File { path: path.trim_start_matches('/').to_owned(), content })
    };
    words.map(read).collect()
}
