//! Mounts of a file server, so that what iotax made on the server can be removed.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use iotax_inspect::Mount;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::mounts;
use crate::programs::Program;
use crate::undone::Undone;

/// How a server's directory is mounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mounting {
    /// `server:/export`
    pub(crate) source: String,
    /// In the syntax of mount.nfs.
    pub(crate) options: String,
    pub(crate) path: PathBuf,
}

impl Mounting {
    /// Mounts it. The program bears the name of the run.
    pub(crate) fn mount(&self, run: &str, stop: &AtomicBool) -> Result<(), Error> {
        // The helper, because mount(8) would leave it running when mount(8) is killed.
        let mount = Program::new("mount.nfs").arg(&self.source).arg(&self.path);
        mount.args(["-o", &self.options]).run(run, stop).map(drop)
    }

    /// The mount as the kernel shows it.
    pub(crate) fn find(&self) -> Result<Mount, Error> {
        let mounts = iotax_inspect::mounts().unwrap_or_default().into_iter();
        let found = mounts.rev().find(|mount| mount.mount_point == self.path);
        let found = found.filter(|mount| mount.file_system.starts_with("nfs"));
        let failed = Error::cannot("find the mount that mount.nfs created here", &self.path);
        found.ok_or(io::ErrorKind::NotFound).map_err(failed)
    }

    /// Mounts it, unless it is mounted or its mount point is gone.
    pub(crate) fn undo(&self) -> Result<Undone, Error> {
        if self.path.exists() && !mounts::is_mounted(&self.path) {
            self.mount("", &AtomicBool::new(false))?;
        }
        Ok(Undone::Absent)
    }
}

impl fmt::Display for Mounting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.source, self.path.display())
    }
}
