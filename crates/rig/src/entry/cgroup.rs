//! Groups of processes: emptied and removed.

use std::fs;
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::undone::Undone;

/// How long processes of the group may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Moves what is in the group to where it came from, and removes the group.
pub(crate) fn undo(path: &Path, home: &Path, journal: &Path) -> Result<Undone, Error> {
    let started = Instant::now();
    let home = if home.exists() { home } else { path.parent().unwrap_or(home) };
    loop {
        let inside = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
        for process in inside.lines() {
            // It may have ended; if it cannot be moved, the group cannot be removed, and that is
            // reported.
            let _ = fs::write(home.join("cgroup.procs"), process);
        }
        match fs::remove_dir(path) {
            Ok(()) => return Ok(Undone::Removed),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Undone::Absent),
            Err(error) if error.kind() != io::ErrorKind::ResourceBusy => {
                return Err(Error::unremovable(path, error, journal));
            }
            Err(_) if started.elapsed() < PATIENCE => sleep(Duration::from_millis(5)),
            Err(_) => return Err(Error::busy(path, journal)),
        }
    }
}
