//! Mounting, unmounting, and finding mounts.

use std::ffi::{CString, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use iotax_inspect::{Mount, mounts};
use iotax_vdisk::fuse::unmount_unused;
use rustix::fs::{AtFlags, StatxFlags, statx};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount as mount_syscall, unmount};

use crate::error::Error;
use crate::held::{Held, exchanged};
use crate::undone::Undone;

/// How long to wait until other programs (such as udev's prober) release a mount.
const PATIENCE: Duration = Duration::from_secs(10);

/// Mounts `source` at `at`, as mount(8) would with `-t kind -o options`.
pub(crate) fn mount(source: &Path, at: &Path, kind: &str, options: &str) -> Result<(), Error> {
    let (flags, data) = split(options);
    let data = CString::new(data).expect("mount options never contain NUL");
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
    top_at(path).is_some()
}

/// Unmounts everything at `path`; does nothing if nothing is mounted there.
pub(crate) fn undo(path: &Path, journal: &Path) -> Result<Undone, Error> {
    unmount_while(path, journal, || {
        Ok(mounts()?.into_iter().rfind(|mount| mount.mount_point == path))
    })
}

/// Unmounts the mount called `name`, even if its mount point moved from `path`. A mount on top of
/// it belongs to another user and is not removed.
pub(crate) fn undo_named(path: &Path, name: &str, journal: &Path) -> Result<Undone, Error> {
    unmount_while(path, journal, || named(name))
}

/// The mount of that name, if there is one and nothing over it.
fn named(name: &str) -> io::Result<Option<Mount>> {
    let mut mounts = mounts()?;
    let Some(ours) = mounts.iter().position(|mount| mount.source == name) else {
        return Ok(None);
    };
    let at = &mounts[ours].mount_point;
    let top = mounts.iter().rfind(|mount| mount.mount_point == *at);
    if top.is_some_and(|top| top.source != name) {
        return Err(io::Error::other("something else is mounted on top of it; unmount that first"));
    }
    Ok(Some(mounts.swap_remove(ours)))
}

fn unmount_while(
    path: &Path,
    journal: &Path,
    find: impl Fn() -> io::Result<Option<Mount>>,
) -> Result<Undone, Error> {
    let started = Instant::now();
    let mut undone = Undone::Absent;
    // If the mounts cannot be read, something may still be there, so the entry stays in the
    // journal.
    while let Some(mount) = find().map_err(|source| Error::unremovable(path, source, journal))? {
        let is_late = started.elapsed() >= PATIENCE;
        let point = match Point::of(&mount) {
            Ok(point) => point,
            // A directory on the path is being renamed.
            Err(_) if !is_late => {
                sleep(Duration::from_millis(1));
                continue;
            }
            Err(source) => return Err(Error::unremovable(path, source, journal)),
        };
        match point.unmount(UnmountFlags::empty()) {
            Ok(()) => undone = Undone::Removed,
            Err(Errno::INVAL | Errno::NOENT) => break,
            Err(Errno::BUSY) if !is_late => {
                if mount.file_system.starts_with("fuse") {
                    abort(&point.path());
                }
                sleep(Duration::from_millis(20));
            }
            Err(Errno::BUSY) => return Err(Error::busy(path, journal)),
            Err(error) => return Err(Error::unremovable(path, error, journal)),
        }
    }
    Ok(undone)
}

/// A mount point, by descriptor of its directory. A mount point cannot be renamed, but a directory
/// on its path can, and then another mount could be in its place.
struct Point {
    parent: Held,
    name: OsString,
}

impl Point {
    fn of(mount: &Mount) -> io::Result<Self> {
        let at = &mount.mount_point;
        let parent = Held::directory(at.parent().unwrap_or(Path::new("/")))?;
        let name = at.file_name().unwrap_or_default().to_owned();
        // Without contacting its server, which may be gone.
        let flags = AtFlags::STATX_DONT_SYNC | AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        let found = statx(&parent, &name, flags, StatxFlags::MNT_ID)?;
        let tells = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID);
        let device = (found.stx_dev_major, found.stx_dev_minor);
        let is_it = if tells {
            found.stx_mnt_id == mount.id
        } else {
            device == (mount.device.major, mount.device.minor)
        };
        if is_it { Ok(Self { parent, name }) } else { Err(exchanged()) }
    }

    fn path(&self) -> PathBuf {
        self.parent.path().join(&self.name)
    }

    fn unmount(&self, flags: UnmountFlags) -> Result<(), Errno> {
        unmount(self.path(), flags | UnmountFlags::NOFOLLOW)
    }
}

/// Unmounts the mount called `name`; false if there is none. If a program has a file on it open,
/// the error is [`io::ErrorKind::ResourceBusy`], and nothing has changed.
pub(crate) fn release(name: &str) -> io::Result<bool> {
    let Some(mount) = named(name)? else { return Ok(false) };
    unmount_unused(&Point::of(&mount)?.path()).map(|()| true)
}

/// Whether a FUSE file system is mounted at `path`, and nothing over it.
pub(crate) fn is_fuse(path: &Path) -> bool {
    top_at(path).is_some_and(|mount| mount.file_system.starts_with("fuse"))
}

fn top_at(path: &Path) -> Option<Mount> {
    mounts().unwrap_or_default().into_iter().rfind(|mount| mount.mount_point == path)
}

/// Aborts all requests to a FUSE file system whose server was already told to end. A server that is
/// killed while it waits for its own mount (go-fuse polls it at the start) would never end: the
/// waiting thread holds the connection that would have to close first.
pub(crate) fn abort(path: &Path) {
    let _ = unmount(path, UnmountFlags::NOFOLLOW | UnmountFlags::FORCE);
}
