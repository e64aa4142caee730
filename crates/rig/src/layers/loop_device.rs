//! Loop devices: a block device made of a file, or of another block device.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use iotax_layers::Loop;

use crate::disk_file::opens_directly;
use crate::entry::loop_device::{Attached, on};
use crate::journal::Journal;
use crate::layers::maker::prelude::*;

impl System for Loop {
    fn make(&self, below: Top, context: &mut BuildContext<'_>) -> Result<Top, Error> {
        let node = attach(&below.path, self.direct, context.journal, context.stop)?;
        if !self.direct {
            context.caches("I/O to the loop device goes through the page cache, as requested");
        } else if !bypasses_cache(&node) {
            context.caches(format!(
                "I/O to {} goes through the page cache of the layer below, which does not support \
                 direct I/O",
                node.display()
            ));
        }
        Ok(Top::block(node))
    }
}

/// Makes a loop device on `backing`. It is announced before by its backing file, and afterwards by
/// its own identity: by the time it is detached, its file may be moved or deleted, or its server
/// gone.
fn attach(
    backing: &Path,
    direct: bool,
    journal: &mut Journal,
    stop: &AtomicBool,
) -> Result<PathBuf, Error> {
    journal.announce(Entry::Loop { backing: backing.to_owned() })?;
    // If the file does not support direct I/O, losetup fails when it is requested.
    let direct = direct && opens_directly(backing);
    let direct = if direct { "--direct-io=on" } else { "--direct-io=off" };
    let losetup = Program::new("losetup").args(["--find", "--show", direct]).arg(backing);
    let node = PathBuf::from(losetup.run(&journal.name(), stop)?);
    // The layers above overwrite the device, so the answer of losetup is checked.
    if !on(backing).contains(&node) {
        let failed = Error::cannot("find the loop device that losetup created", &node);
        return Err(failed(io::ErrorKind::NotFound));
    }
    if let Some(attached) = Attached::at(&node) {
        journal.announce(Entry::LoopDevice(attached))?;
    }
    Ok(node)
}

/// Whether the kernel uses direct I/O on the backing file.
fn bypasses_cache(node: &Path) -> bool {
    let name = node.file_name().unwrap_or_default();
    let dio = Path::new("/sys/block").join(name).join("loop/dio");
    fs::read_to_string(dio).is_ok_and(|text| text.trim() == "1")
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;
    use crate::programs;
    use crate::undo::undo;

    /// A loop device on a file in a directory, and the journal of its run; `None`, said loudly,
    /// without root.
    fn attached(directory: &Path, file: &Path) -> Option<(PathBuf, Journal)> {
        let may =
            rustix::process::geteuid().is_root() && programs::find_program("losetup").is_some();
        if !may || !Path::new("/dev/loop-control").exists() {
            iotax_testing::skipped("loop devices need root and losetup");
            return None;
        }
        let mut journal = Journal::new(Some(directory.join("state")));
        let node = attach(file, true, &mut journal, &AtomicBool::new(false)).unwrap();
        Some((node, journal))
    }

    fn directory_with_file() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let file = fs::canonicalize(directory.path()).unwrap().join("disk");
        fs::File::create_new(&file).unwrap().set_len(1 << 20).unwrap();
        (directory, file)
    }

    fn has_file(node: &Path) -> bool {
        Path::new("/sys/block").join(node.file_name().unwrap()).join("loop/backing_file").exists()
    }

    /// Lets `lose` do something to the file below a device; undo and taking down must detach it.
    fn is_detached_after(lose: impl Fn(&Path)) {
        for dies in [true, false] {
            let (directory, file) = directory_with_file();
            let Some((node, mut journal)) = attached(directory.path(), &file) else { return };
            lose(&file);
            assert!(has_file(&node));
            if dies {
                journal.die();
                let report = undo(&directory.path().join("state"));
                assert!(report.problems.is_empty(), "{report:?}");
                assert_eq!(report.removed, [format!("the loop device {}", node.display())]);
            } else {
                journal.unwind().unwrap();
            }
            // By number alone it may be another test's by now.
            let names = [file.clone(), file.with_extension("moved")];
            assert!(names.iter().all(|name| on(name).is_empty()));
        }
    }

    #[test]
    fn a_device_whose_file_was_moved_is_detached() {
        is_detached_after(|file| fs::rename(file, file.with_extension("moved")).unwrap());
    }

    #[test]
    fn a_device_whose_file_was_deleted_is_detached() {
        is_detached_after(|file| fs::remove_file(file).unwrap());
    }

    #[test]
    fn a_device_that_others_have_by_now_is_left_alone() {
        let (directory, file) = directory_with_file();
        let Some((node, journal)) = attached(directory.path(), &file) else { return };
        journal.die();
        let losetup = |arguments: &[&str], path: &Path| {
            let program = Program::new("losetup").args(arguments).arg(path);
            program.run("", &AtomicBool::new(false)).unwrap()
        };
        losetup(&["--detach"], &node);
        // The kernel detaches it when the last who has it open has closed it: on a machine that
        // others use, that may be somebody who only looks at all devices.
        while on(&file).contains(&node) {
            sleep(Duration::from_millis(5));
        }
        let other = directory.path().join("other");
        fs::File::create_new(&other).unwrap().set_len(1 << 20).unwrap();
        // The same node, unless somebody else was faster.
        let theirs = PathBuf::from(losetup(&["--find", "--show"], &other));
        let report = undo(&directory.path().join("state"));
        assert!(report.removed.is_empty() && report.problems.is_empty(), "{report:?}");
        assert!(has_file(&theirs));
        losetup(&["--detach"], &theirs);
    }
}
