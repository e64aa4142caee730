//! Device mappings: recognised by their names, and removed.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::programs::Program;
use crate::undone::Undone;

/// How long a mapping may take to go: it stays until its last user has closed it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Removes the mapping of this name, which only its run knew.
pub(crate) fn undo(name: &str, journal: &Path) -> Result<Undone, Error> {
    let started = Instant::now();
    let mut undone = Undone::Absent;
    while is_mapped(name) {
        // Not `cryptsetup close`: it does not know a mapping without a table, which is left if
        // cryptsetup was killed while it made the mapping.
        let removed = dmsetup(&["remove", name]);
        undone = Undone::Removed;
        match removed {
            Ok(_) => {}
            Err(_) if started.elapsed() < PATIENCE => sleep(Duration::from_millis(20)),
            Err(error) => {
                let path = Path::new("/dev/mapper").join(name);
                return Err(if is_open(name) {
                    Error::Busy { path, journal: journal.to_owned() }
                } else {
                    Error::unremovable(&path, io::Error::other(error.to_string()), journal)
                });
            }
        }
    }
    Ok(undone)
}

fn dmsetup(arguments: &[&str]) -> Result<String, Error> {
    Program::new("dmsetup").args(arguments).run("", &AtomicBool::new(false))
}

/// Whether device mapper knows the name. Sysfs needs no program, but since Linux 5.15 it lists a
/// mapping only once it has a table. `dmsetup` also knows mappings without one.
fn is_mapped(name: &str) -> bool {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let names = devices.map(|device| fs::read_to_string(device.path().join("dm/name")));
    let has_table = names.flatten().any(|found| found.trim_end() == name);
    has_table || dmsetup(&["info", name]).is_ok()
}

fn is_open(name: &str) -> bool {
    dmsetup(&["info", "--columns", "--noheadings", "--options", "open", name])
        .is_ok_and(|count| count != "0")
}
