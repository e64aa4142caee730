//! What a release is made for, and how its files are called.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::commands::said;
use crate::cargo::target;
use crate::checkout::root;

/// A kind of machine that it is made for.
pub(super) struct Machine {
    /// As Rust has it.
    pub triple: &'static str,
    /// As Debian and containers have it.
    pub name: &'static str,
    /// What runs its programs elsewhere, if that is needed.
    pub emulator: Option<&'static str>,
}

/// What `cargo xtask dist` is run on comes first.
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

    /// An archive of the program as a plugin of kubectl.
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

/// Where everything goes.
pub(super) fn place() -> PathBuf {
    target().join("artifacts")
}

/// When the commit was made, in seconds: everything bears that time.
pub(super) fn made() -> Result<String> {
    if let Ok(time) = std::env::var("SOURCE_DATE_EPOCH") {
        return Ok(time);
    }
    said(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root()))
}
