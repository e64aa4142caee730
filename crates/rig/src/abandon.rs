//! The last resort when I/O hangs in the kernel. If the server of a mount is gone, every thread
//! that uses the mount waits forever, including the code that would take things down in order.
//!
//! I/O on iotax's own disks is aborted. Then the journals of this process are undone, each in its
//! own thread, because undoing may hang too. What does not end in time stays in its journal, where
//! `undo` finds it.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use iotax_inspect::{Mount, mounts};

use crate::journal::{self, Open};
use crate::mounts::abort;
use crate::own_disk;

/// Makes all I/O fail on iotax's own virtual disks that `targets` (absolute paths) are on; true if
/// there was such a disk. Contacts no server.
pub fn break_off(targets: &[PathBuf]) -> bool {
    let mounts = mounts().unwrap_or_default();
    let disks = targets.iter().filter_map(|target| mount_of(&mounts, target));
    let own: Vec<&Mount> = disks.filter(|mount| own_disk::is_mount(mount)).collect();
    for mount in &own {
        abort(&mount.mount_point);
    }
    !own.is_empty()
}

/// The mount that a path is on, by names alone, because access to the path could hang.
fn mount_of<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let covering = mounts.iter().filter(|mount| path.starts_with(&mount.mount_point));
    covering.max_by_key(|mount| mount.mount_point.components().count())
}

/// Undoes what this process made and has not taken down yet, within `limit`; true if all of it
/// could be undone. Nothing else in this process may continue afterwards.
pub fn abandon(limit: Duration) -> bool {
    let (done, ended) = channel();
    let own = journal::own();
    let count = own.len();
    for (directory, name) in own {
        let done = done.clone();
        thread::spawn(move || {
            let errors = match Open::own(&directory, &name) {
                Ok(Some(open)) => open.unwind(&mut |_, _| ()).len(),
                Ok(None) => 0,
                Err(_) => 1,
            };
            // The receiver may have given up.
            let _ = done.send(errors == 0);
        });
    }
    drop(done);
    let deadline = Instant::now() + limit;
    let mut is_all = true;
    for _ in 0..count {
        match ended.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(is_undone) => is_all &= is_undone,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return false,
        }
    }
    is_all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    use crate::journal::Journal;
    use crate::scratch;

    #[test]
    fn what_was_made_is_gone_although_nobody_took_it_down() {
        let root = tempfile::tempdir().unwrap();
        let target = fs::canonicalize(root.path()).unwrap().join("target");
        fs::create_dir(&target).unwrap();
        let mut journal = Journal::new(Some(root.path().join("state")));
        let made = scratch::make(&target, &mut journal).unwrap();
        fs::write(made.path().join("job.0"), "data").unwrap();
        // Other tests of this process have journals, too, which are theirs to take down.
        let own = journal::own();
        let (directory, name) = own.iter().find(|(d, n)| d.path_of(n) == journal.path()).unwrap();
        let open = Open::own(directory, name).unwrap().unwrap();
        assert!(open.unwind(&mut |_, _| ()).is_empty());
        assert!(!made.shown().exists() && !journal.path().exists());
        journal.unwind().unwrap();
        assert!(!journal::own().iter().any(|(_, other)| other == name));
    }

    #[test]
    fn a_path_lies_on_the_nearest_mount_above_it() {
        let mount = |mount_point: &str| Mount {
            mount_point: mount_point.into(),
            ..mounts().unwrap().remove(0)
        };
        let mounts = [mount("/"), mount("/a"), mount("/a/b"), mount("/a/bc")];
        let found = |path: &str| {
            mount_of(&mounts, Path::new(path)).unwrap().mount_point.display().to_string()
        };
        let cases = [("/x", "/"), ("/a/b/disk", "/a/b"), ("/a/bcd", "/a"), ("/a/bc", "/a/bc")];
        for (path, expected) in cases {
            assert_eq!(found(path), expected);
        }
        assert!(!break_off(&["/no/such/place".into()]));
    }
}
