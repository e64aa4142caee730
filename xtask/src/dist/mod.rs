//! Release artifacts: static programs, Debian packages, a container image. `cargo xtask dist`
//! builds and tests them. The step `packages` of `check` does the same with the test build of the
//! program, which is faster.
//!
//! Builds are reproducible: times come from the commit, and paths of the machine are left out.

mod build;
mod commands;
mod deb;
mod krew;
mod release;
mod sbom;
mod tried;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use iotax_image::{File, Platform, digest};
use jiff::Timestamp;

pub(crate) use self::commands::{said, shown};
use self::release::{MACHINES, Machine, VERSION, made, place};
use crate::cargo::{cargo, target};
use crate::steps::Step;
use crate::tables;

/// All steps in order.
pub(crate) const STEPS: &[Step] = &[
    Step::new("build", "static programs for x86-64 and arm64", build_all),
    Step::new("deb", "a Debian package for each architecture", debs),
    Step::new("lintian", "check the packages with lintian", lintian),
    Step::new("image", "a container image for both architectures", images),
    Step::new("sbom", "a list of the crates in each program (SBOM)", sboms),
    Step::new("krew", "a kubectl plugin for each architecture, and a Krew manifest", krew::write),
    Step::new("installed", "install, use and remove each package", installed),
    Step::new("container", "unpack the image and run it in a container", container),
    Step::new("table", "write checksums, and sizes in docs/benchmarks.md", table),
];

/// `cargo xtask check packages`: a package and an image of the test build. That program is not
/// static, so the image also contains its libraries.
pub(crate) fn check() -> Result<()> {
    let programs = ["skopeo", "umoci", "runc", "unshare"];
    if !iotax_testing::needs_root() || !iotax_testing::needs_programs(&programs) {
        return Ok(());
    }
    // Same features as in the tests, so that no library is built again.
    cargo(&["test", "--workspace", "--tests", "--no-run", "--quiet"])?;
    let directory = target().join("packages");
    let program = directory.join("iotax");
    fs::create_dir_all(&directory)?;
    fs::copy(target().join("debug/iotax"), &program).context("copying the test build")?;
    shown(Command::new("strip").arg(&program))?;
    let package = directory.join("iotax.deb");
    deb::write(&package, &program, &program, None)?;
    tried::installed(&package, None)?;
    sbom::write(&directory.join("iotax.cdx.json"), &program, None)?;
    let archive = directory.join("iotax-oci.tar");
    let files = [vec![file(&program)?], build::libraries(&program)?].concat();
    let architecture = said(Command::new("dpkg").arg("--print-architecture"))?;
    image(&archive, &[Platform { architecture: architecture.clone(), files }])?;
    tried::container(&archive, &architecture, None)
}

/// The static program for this machine, and an archive with its image, in `directory`.
pub(crate) fn for_cluster(directory: &Path) -> Result<(PathBuf, PathBuf)> {
    let machine = &MACHINES[0];
    let program = build::program(machine)?;
    fs::create_dir_all(directory)?;
    let archive = directory.join("iotax-oci.tar");
    shown(Command::new(&program).args(["kube", "image", "--save"]).arg(&archive))?;
    Ok((program, archive))
}

fn build_all() -> Result<()> {
    fs::create_dir_all(place())?;
    MACHINES.iter().try_for_each(|machine| {
        let program = build::program(machine)?;
        fs::copy(&program, machine.program())
            .with_context(|| format!("copying {}", program.display()))?;
        Ok(())
    })
}

fn debs() -> Result<()> {
    MACHINES.iter().try_for_each(|machine| {
        let package = machine.package();
        deb::write(&package, &machine.program(), &MACHINES[0].program(), Some(machine.triple))
    })
}

fn lintian() -> Result<()> {
    let packages = MACHINES.iter().map(Machine::package);
    shown(Command::new("lintian").args(["--fail-on", "error,warning"]).args(packages))
}

fn images() -> Result<()> {
    let platform = |machine: &Machine| {
        let files = vec![file(&machine.program())?];
        Ok(Platform { architecture: machine.name.to_owned(), files })
    };
    let platforms = MACHINES.iter().map(platform).collect::<Result<Vec<_>>>()?;
    image(&archive(), &platforms)
}

fn sboms() -> Result<()> {
    MACHINES.iter().try_for_each(|machine| {
        sbom::write(&machine.sbom(), &machine.program(), Some(machine.triple))
    })
}

fn installed() -> Result<()> {
    MACHINES.iter().try_for_each(|machine| tried::installed(&machine.package(), machine.emulator))
}

fn container() -> Result<()> {
    let mut machines = MACHINES.iter();
    machines.try_for_each(|machine| tried::container(&archive(), machine.name, machine.emulator))
}

/// Writes `SHA256SUMS`, and the sizes into docs/benchmarks.md.
fn table() -> Result<()> {
    let mut files: Vec<PathBuf> = MACHINES.iter().map(Machine::program).collect();
    files.extend(MACHINES.iter().map(Machine::package));
    files.extend(MACHINES.iter().map(Machine::plugin));
    files.push(archive());
    let mut lines = vec!["| file | MB |\n|---|---|".to_owned()];
    for path in &files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let bytes = fs::metadata(path).with_context(|| format!("reading {}", path.display()))?;
        lines.push(format!("| {name} | {:.1} |", bytes.len() as f64 / 1e6));
    }
    files.extend(MACHINES.iter().map(Machine::sbom));
    println!("{}\n{}", sums(&place(), &files)?, place().display());
    tables::write("dist", &lines.join("\n"))
}

/// Writes `SHA256SUMS` of these files into `directory`.
pub(crate) fn sums(directory: &Path, files: &[PathBuf]) -> Result<String> {
    let mut sums = Vec::new();
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        sums.push(format!("{}  {name}\n", digest(&bytes)));
    }
    let sums = sums.concat();
    fs::write(directory.join("SHA256SUMS"), &sums)?;
    Ok(sums)
}

fn archive() -> PathBuf {
    place().join(format!("iotax-{VERSION}-oci.tar"))
}

/// The program as a file of an image.
fn file(program: &Path) -> Result<File> {
    let content = fs::read(program).with_context(|| format!("reading {}", program.display()))?;
    Ok(File::program(content))
}

/// Writes an image. All files get the time of the commit.
fn image(archive: &Path, platforms: &[Platform]) -> Result<()> {
    let made =
        Timestamp::from_second(made()?.parse().context("git did not print a time in seconds")?)?;
    let file =
        fs::File::create(archive).with_context(|| format!("writing {}", archive.display()))?;
    iotax_image::write(&file, platforms, made)?;
    Ok(file.sync_all()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkout::root;

    #[test]
    fn the_packages_changelog_begins_with_this_version() {
        let text = fs::read_to_string(root().join("crates/cli/debian/changelog")).unwrap();
        assert!(text.starts_with(&format!("iotax ({VERSION}-1) ")), "{text}");
    }
}
