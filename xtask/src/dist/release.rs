//! Platforms and file names of a release.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::commands::said;
use crate::cargo::target;
use crate::checkout::root;

/// A platform of the release.
pub(super) struct Machine {
    /// Name in Rust (target triple).
    pub triple: &'static str,
    /// Name in Debian and in container images.
    pub name: &'static str,
    /// Emulator that runs its programs on the build machine, if needed.
    pub emulator: Option<&'static str>,
}

/// The platform that `cargo xtask dist` runs on comes first.
pub(super) const MACHINES: [Machine; 2] = [
    Machine { triple: "x86_64-unknown-linux-musl", name: "amd64", emulator: None },
    Machine {
        triple: "aarch64-unknown-linux-musl",
        name: "arm64",
        emulator: Some("qemu-aarch64-static"),
    },
];

pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Machine {
    pub(super) fn program(&self) -> PathBuf {
        place().join(format!("iotax-{VERSION}-linux-{}", self.name))
    }

    /// The archive of the kubectl plugin.
    pub(super) fn plugin(&self) -> PathBuf {
        place().join(format!("iotax-{VERSION}-linux-{}.tar.gz", self.name))
    }

    /// The list of the crates in the program.
    pub(super) fn sbom(&self) -> PathBuf {
        place().join(format!("iotax-{VERSION}-linux-{}.cdx.json", self.name))
    }

    pub(super) fn package(&self) -> PathBuf {
        place().join(format!("iotax_{VERSION}-1_{}.deb", self.name))
    }
}

/// The output directory.
pub(super) fn place() -> PathBuf {
    target().join("artifacts")
}

/// Time of the commit, in seconds. All files get this time.
pub(super) fn made() -> Result<String> {
    if let Ok(time) = std::env::var("SOURCE_DATE_EPOCH") {
        return Ok(time);
    }
    said(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root()))
}
