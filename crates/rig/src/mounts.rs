//! Mounting, unmounting, and who is mounted where.

use std::ffi::CString;
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use iotax_inspect::{Mount, mounts};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount as mount_syscall, unmount};

use crate::entry::Undone;
use crate::error::Error;

/// How long to wait for others (a prober such as udev's) to let go of a mount.
const PATIENCE: Duration = Duration::from_secs(10);

/// Mounts `source` at `at`, as mount(8) would with `-t kind -o options`.
pub(crate) fn mount(source: &Path, at: &Path, kind: &str, options: &str) -> Result<(), Error> {
    let (flags, data) = split(options);
    let data = CString::new(data).expect("options come from text without NUL");
    mount_syscall(source, at, kind, flags, &*data).map_err(|error| Error::Mount {
        kind: kind.to_owned(),
        source: error.into(),
        options: options.to_owned(),
    })
}

/// The options that mount(2) takes as flags, and the rest.
fn split(options: &str) -> (MountFlags, String) {
    let mut flags = MountFlags::NODEV | MountFlags::NOSUID;
    let mut data = Vec::new();
    for option in options.split(',').filter(|option| !option.is_empty()) {
        match option {
            "noatime" => flags |= MountFlags::NOATIME,
            "nodiratime" => flags |= MountFlags::NODIRATIME,
            "relatime" => flags |= MountFlags::RELATIME,
            "sync" => flags |= MountFlags::SYNCHRONOUS,
            "dirsync" => flags |= MountFlags::DIRSYNC,
            "noexec" => flags |= MountFlags::NOEXEC,
            "nodev" | "nosuid" | "defaults" => {}
            other => data.push(other),
        }
    }
    (flags, data.join(","))
}

/// Whether anything is mounted at `path`, which has no symbolic links.
pub(crate) fn is_mounted(path: &Path) -> bool {
    mounted_at(path).unwrap_or(false)
}

fn mounted_at(path: &Path) -> io::Result<bool> {
    Ok(mounts()?.iter().any(|mount| mount.mount_point == path))
}

/// Unmounts everything at `path`; does nothing if nothing is mounted there.
pub(crate) fn undo(path: &Path, journal: &Path) -> Result<Undone, Error> {
    unmount_while(path, journal, || mounted_at(path))
}

/// Unmounts what is called `name` at `path`, and nothing that it may be mounted over: the user
/// chose the directory. What is mounted over it is somebody else's, and in the way.
pub(crate) fn undo_named(path: &Path, name: &str, journal: &Path) -> Result<Undone, Error> {
    unmount_while(path, journal, || {
        let mounts = mounts()?;
        let here: Vec<_> = mounts.iter().filter(|mount| mount.mount_point == path).collect();
        let is_there = here.iter().any(|mount| mount.source == name);
        if is_there && here.last().is_some_and(|top| top.source != name) {
            return Err(io::Error::other("something else is mounted over it; unmount that"));
        }
        Ok(is_there)
    })
}

fn unmount_while(
    path: &Path,
    journal: &Path,
    is_there: impl Fn() -> io::Result<bool>,
) -> Result<Undone, Error> {
    let started = Instant::now();
    let mut undone = Undone::Absent;
    // What cannot be looked at is no proof that nothing is there: the entry stays in the journal.
    while is_there().map_err(|source| unremovable(path, source, journal))? {
        match unmount(path, UnmountFlags::NOFOLLOW) {
            Ok(()) => undone = Undone::Removed,
            Err(Errno::INVAL | Errno::NOENT) => break,
            Err(Errno::BUSY) if started.elapsed() < PATIENCE => {
                if is_fuse(path) {
                    abort(path);
                }
                sleep(Duration::from_millis(20));
            }
            Err(Errno::BUSY) => {
                return Err(Error::Busy { path: path.to_owned(), journal: journal.to_owned() });
            }
            Err(error) => return Err(unremovable(path, error.into(), journal)),
        }
    }
    Ok(undone)
}

/// Whether a FUSE file system is mounted at `path`, and nothing over it.
pub(crate) fn is_fuse(path: &Path) -> bool {
    top_at(path).is_some_and(|mount| mount.file_system.starts_with("fuse"))
}

/// Whether what is called `name` is mounted at `path`, and nothing over it.
pub(crate) fn is_top(path: &Path, name: &str) -> bool {
    top_at(path).is_some_and(|mount| mount.source == name)
}

fn top_at(path: &Path) -> Option<Mount> {
    mounts().unwrap_or_default().into_iter().rfind(|mount| mount.mount_point == path)
}

/// Ends all requests to a FUSE file system, whose server was told to end before. A server that is
/// killed while it waits for itself (go-fuse polls its own mount when it starts) never goes
/// otherwise: the thread that waits holds the connection that would end its waiting.
pub(crate) fn abort(path: &Path) {
    let _ = unmount(path, UnmountFlags::NOFOLLOW | UnmountFlags::FORCE);
}

pub(crate) fn unremovable(path: &Path, source: io::Error, journal: &Path) -> Error {
    Error::Remove { path: path.to_owned(), source, journal: journal.to_owned() }
}
