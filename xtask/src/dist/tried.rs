//! Tests the artifacts the way users will use them.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use iotax_image::name;
use serde_json::Value;

use super::commands::{said, shown};
use super::release::VERSION;
use crate::checkout::root;

/// A short experiment that needs no root and no other programs.
const TRY: &str = "run randread-4k 'mem(size=64M)' --time 300ms --ramp 0s -n 2 --out /tmp/tried";

/// Files of the package other than the program.
const PLACES: [&str; 8] = [
    "./usr/share/man/man1/iotax.1.gz",
    "./usr/share/man/man1/iotax-peel.1.gz",
    "./usr/share/bash-completion/completions/iotax",
    "./usr/share/zsh/vendor-completions/_iotax",
    "./usr/share/fish/vendor_completions.d/iotax.fish",
    "./usr/share/doc/iotax/copyright",
    "./usr/share/doc/iotax/changelog.Debian.gz",
    "./usr/share/lintian/overrides/iotax",
];

/// Installs a package on a copy of this machine's file system, uses it, and removes it.
pub(super) fn installed(package: &Path, emulator: Option<&str>) -> Result<()> {
    let listed = said(Command::new("dpkg").arg("--contents").arg(package))?;
    let has = |place: &str| listed.lines().any(|line| line.ends_with(&format!(" {place}")));
    for place in PLACES {
        ensure!(has(place), "{} does not contain {place}", package.display());
    }
    let architecture = said(Command::new("dpkg").arg("--field").arg(package).arg("Architecture"))?;
    let run = emulator.unwrap_or_default();
    let script = format!(
        "set -eux
        dpkg --print-foreign-architectures | grep -qx {architecture} ||
            [ \"$(dpkg --print-architecture)\" = {architecture} ] ||
            dpkg --add-architecture {architecture}
        dpkg --install /mnt/*.deb
        test \"$({run} /usr/bin/iotax --version)\" = 'iotax {VERSION}'
        cd /var/tmp
        {run} /usr/bin/iotax {TRY}
        {run} /usr/bin/iotax report /tmp/tried >/dev/null
        dpkg --purge iotax
        test ! -e /usr/bin/iotax"
    );
    let copy = root().join("xtask/src/dist/on-a-copy.sh");
    shown(Command::new("sh").arg(copy).arg(package).args(["sh", "-c", &script]))
        .with_context(|| format!("installing {}", package.display()))
}

/// Reads the archive with skopeo, unpacks it with umoci, and runs it with runc.
pub(super) fn container(archive: &Path, architecture: &str, emulator: Option<&str>) -> Result<()> {
    let place = archive.with_extension(architecture);
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::create_dir_all(&place)?;
    let source = format!("oci-archive:{}:{}", archive.display(), name());
    let this = ["--override-os", "linux", "--override-arch", architecture];
    let read = said(Command::new("skopeo").args(this).args(["inspect", &source]))?;
    let read: Value = serde_json::from_str(&read)?;
    ensure!(
        read["Architecture"] == architecture,
        "the image has the wrong architecture; skopeo reports {read}"
    );
    let (layout, bundle) = (place.join("layout"), place.join("bundle"));
    let copied = format!("oci:{}:{VERSION}", layout.display());
    shown(Command::new("skopeo").args(this).args(["copy", "--quiet", &source, &copied]))?;
    let image = format!("{}:{VERSION}", layout.display());
    shown(Command::new("umoci").args(["unpack", "--image", &image]).arg(&bundle))?;
    if let Some(emulator) = emulator {
        let program = bundle.join("rootfs/usr/bin/iotax");
        let version = said(Command::new(emulator).arg(&program).arg("--version"))?;
        ensure!(version == format!("iotax {VERSION}"), "wrong version: {version}");
    } else {
        run_in_container(&bundle, "--version")?;
        run_in_container(&bundle, TRY)?;
    }
    fs::remove_dir_all(&place)?;
    Ok(())
}

/// Runs the container that umoci unpacked, with these arguments.
fn run_in_container(bundle: &Path, args: &str) -> Result<()> {
    let path = bundle.join("config.json");
    let mut config: Value = serde_json::from_str(&fs::read_to_string(&path)?)?;
    config["process"]["args"] = shlex::split(&format!("/usr/bin/iotax {args}")).into();
    config["process"]["terminal"] = false.into();
    fs::write(&path, config.to_string())?;
    let name = format!("iotax-tried-{}", std::process::id());
    let mut run = Command::new("runc");
    run.arg("--root").arg(bundle.join("state")).args(["run", "--bundle"]).arg(bundle).arg(&name);
    shown(&mut run).with_context(|| format!("iotax {args} in a container"))
}
