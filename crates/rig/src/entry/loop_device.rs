//! Loop devices: recognised by their files and their attachments, and detached.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::programs::Program;
use crate::undone::Undone;

/// How long a device may take to go: it stays until its last user has closed it.
const PATIENCE: Duration = Duration::from_secs(10);

/// One attachment of a file to a loop device. The kernel numbers attachments, so it stays
/// recognisable even if the file is renamed or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attached {
    /// `loop3`
    name: String,
    /// Number of the attachment, unique until the next boot.
    sequence: u64,
    boot: String,
}

impl Attached {
    /// The present attachment of a loop device. `None` if nothing is attached, or before Linux
    /// 5.15, which does not number attachments.
    pub(crate) fn at(node: &Path) -> Option<Self> {
        let name = node.file_name()?.to_str()?.to_owned();
        let directory = Path::new("/sys/block").join(&name);
        // Without a file there is no such directory.
        fs::metadata(directory.join("loop")).ok()?;
        let sequence = fs::read_to_string(directory.join("diskseq")).ok()?.trim().parse().ok()?;
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned();
        Some(Self { name, sequence, boot })
    }

    fn node(&self) -> PathBuf {
        Path::new("/dev").join(&self.name)
    }

    /// Detaches it, if that has not been done.
    pub(crate) fn undo(&self, journal: &Path) -> Result<Undone, Error> {
        detach_while(journal, || {
            (Self::at(&self.node()).as_ref() == Some(self)).then(|| self.node())
        })
    }
}

impl fmt::Display for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.node().display())
    }
}

/// Detaches every loop device on `backing`, whose name only its run knew.
pub(crate) fn undo(backing: &Path, journal: &Path) -> Result<Undone, Error> {
    detach_while(journal, || on(backing).into_iter().next())
}

/// Detaches devices as long as there is one.
fn detach_while(journal: &Path, next: impl Fn() -> Option<PathBuf>) -> Result<Undone, Error> {
    let started = Instant::now();
    let mut undone = Undone::Absent;
    while let Some(node) = next() {
        let detach = Program::new("losetup").arg("--detach").arg(&node);
        let detached = detach.run("", &AtomicBool::new(false));
        undone = Undone::Removed;
        if started.elapsed() > PATIENCE {
            return Err(match detached {
                Err(error) => {
                    Error::unremovable(&node, io::Error::other(error.to_string()), journal)
                }
                Ok(_) => Error::busy(&node, journal),
            });
        }
        if next().as_ref() == Some(&node) {
            sleep(Duration::from_millis(20));
        }
    }
    Ok(undone)
}

/// The loop devices whose backing file is `backing`, even if that was removed in the meantime.
pub(crate) fn on(backing: &Path) -> Vec<PathBuf> {
    let is_it = |path: &PathBuf| {
        let path = path.as_os_str().as_bytes();
        path.strip_suffix(b" (deleted)").unwrap_or(path) == backing.as_os_str().as_bytes()
    };
    let devices = backing_files().filter(|(_, path)| is_it(path));
    devices.map(|(name, _)| Path::new("/dev").join(name)).collect()
}

/// The names of all loop devices, and their backing files as the kernel shows them.
pub(crate) fn backing_files() -> impl Iterator<Item = (String, PathBuf)> {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    devices.filter_map(|device| {
        let mut path = fs::read(device.path().join("loop/backing_file")).ok()?;
        path.pop_if(|byte| *byte == b'\n');
        Some((device.file_name().into_string().ok()?, OsString::from_vec(path).into()))
    })
}
