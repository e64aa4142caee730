//! Loop devices: a block device made of a file, or of another block device.

use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::disk_file::opens_directly;
use crate::entry::{Entry, Undone};
use crate::error::Error;
use crate::layers::{System, Top};
use crate::mounts::unremovable;
use crate::needs::Need;
use crate::programs::Program;
use crate::workshop::Workshop;

/// How long a device may take to go: it stays until its last user has closed it.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Loop {
    /// Bypass the page cache below.
    pub(crate) direct: bool,
}

impl System for Loop {
    fn needs(&self) -> Vec<Need> {
        let losetup = Need::Program { name: "losetup", package: "mount", at_least: None };
        vec![Need::Root, Need::Device { path: "/dev/loop-control", module: "loop" }, losetup]
    }

    fn make(&self, below: Top, workshop: &mut Workshop<'_>) -> Result<Top, Error> {
        workshop.journal.announce(Entry::Loop { backing: below.path.clone() })?;
        // Asked for direct I/O on a file that cannot do it, losetup makes no device at all.
        let direct = self.direct && opens_directly(&below.path);
        let direct = if direct { "--direct-io=on" } else { "--direct-io=off" };
        let losetup = Program::new("losetup").args(["--find", "--show", direct]).arg(&below.path);
        let node = PathBuf::from(workshop.run(losetup)?);
        // What is made on it overwrites it: what losetup says is not enough.
        if !on(&below.path).contains(&node) {
            return Err(Error::Make {
                path: node,
                action: "find the loop device that losetup has made",
                source: io::ErrorKind::NotFound.into(),
            });
        }
        if !self.direct {
            workshop.caches("the loop device goes through the page cache, as asked");
        } else if !bypasses_cache(&node) {
            workshop.caches(format!(
                "{} goes through the page cache of what is below it, which cannot be bypassed \
                 there",
                node.display()
            ));
        }
        Ok(Top::block(node))
    }
}

/// Whether the kernel does direct I/O on what is below.
fn bypasses_cache(node: &Path) -> bool {
    let name = node.file_name().unwrap_or_default();
    let dio = Path::new("/sys/block").join(name).join("loop/dio");
    fs::read_to_string(dio).is_ok_and(|text| text.trim() == "1")
}

/// Detaches every loop device on `backing`, which bears a name that only its run knew.
pub(crate) fn undo(backing: &Path, journal: &Path) -> Result<Undone, Error> {
    let started = Instant::now();
    let mut undone = Undone::Absent;
    while let Some(node) = on(backing).first() {
        let detach = Program::new("losetup").arg("--detach").arg(node);
        let detached = detach.run("", &AtomicBool::new(false));
        undone = Undone::Removed;
        if started.elapsed() > PATIENCE {
            return Err(match detached {
                Err(error) => unremovable(node, io::Error::other(error.to_string()), journal),
                Ok(_) => Error::Busy { path: node.clone(), journal: journal.to_owned() },
            });
        }
        if on(backing).first() == Some(node) {
            sleep(Duration::from_millis(20));
        }
    }
    Ok(undone)
}

/// The loop devices whose backing file is `backing`, removed meanwhile or not.
pub(crate) fn on(backing: &Path) -> Vec<PathBuf> {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    devices
        .filter_map(|device| {
            let text = fs::read(device.path().join("loop/backing_file")).ok()?;
            let text = text.strip_suffix(b"\n").unwrap_or(&text);
            let text = text.strip_suffix(b" (deleted)").unwrap_or(text);
            let is_it = text == backing.as_os_str().as_bytes();
            let name = PathBuf::from(std::ffi::OsString::from_vec(device.file_name().into_vec()));
            is_it.then(|| Path::new("/dev").join(name))
        })
        .collect()
}
