//! Files and directories held by descriptor, so that later renames do not matter.
//!
//! The owner of a directory may rename its files at any time, and put a link in their place. So a
//! path in another user's directory is opened once and checked, and from then on only the
//! descriptor is used. [`Held::path`] is its entry in `/proc`, which leads to the same inode. Other
//! programs can use it while this process lives. Programs that resolve the real name of a path, and
//! daemons that live longer, get it [mounted](Held::bind) in a directory that only root can reach.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use iotax_record::Location;
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, fsync, lstat, mkdirat, open, openat, stat,
    symlinkat, unlinkat,
};
use rustix::io::Errno;
use rustix::mount::mount_bind;
use rustix::process::geteuid;

use crate::refusal::Obstacle;

/// Mode of directories that people share; the umask restricts it.
const SHARED: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);

/// A file or directory, open for as long as this lives.
#[derive(Debug)]
pub struct Held {
    fd: OwnedFd,
    path: PathBuf,
    shown: PathBuf,
}

impl Held {
    /// Holds what is at `path`, which is absolute and without symbolic links.
    ///
    /// # Errors
    /// Also if there are links on the path by now.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let held = Self::new(open(path, flags, Mode::empty())?, path)?;
        // The kernel reports the real place of an open file.
        if fs::read_link(&held.path)? == path { Ok(held) } else { Err(exchanged()) }
    }

    /// Holds the working directory of this process, which messages do not name.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn here() -> io::Result<Self> {
        let here = Self::directory(Path::new("."))?;
        Ok(Self { shown: PathBuf::new(), ..here })
    }

    /// Holds the existing directory at `path`.
    ///
    /// # Errors
    /// If it does not exist, or if root would follow a link that another user can redirect.
    pub fn existing(path: &Path) -> io::Result<Self> {
        if let Some(link) = link_of_another(path) {
            return Err(io::Error::other(Obstacle::LinkOfAnother { link }.to_string()));
        }
        let held = Self::at(&resolved(path)?)?;
        if held.is_directory()? {
            Ok(Self { shown: path.to_owned(), ..held })
        } else {
            Err(Errno::NOTDIR.into())
        }
    }

    /// Holds the directory at `path`, after making it and all missing parents. These are made by
    /// descriptor, so nobody can redirect them.
    ///
    /// # Errors
    /// As [`Held::existing`], or if a part cannot be made.
    pub fn made(path: &Path) -> io::Result<Self> {
        let is_there = |part: &&Path| fs::symlink_metadata(part).is_ok();
        let absolute = std::path::absolute(path)?;
        let there = absolute.ancestors().find(is_there).unwrap_or(Path::new("/"));
        let mut held = Self::existing(there)?;
        let missing = absolute.strip_prefix(there).unwrap_or(Path::new("")).components();
        for part in missing {
            held = held.enter(part)?;
        }
        Ok(Self { shown: path.to_owned(), ..held })
    }

    /// Holds the directory `name` in this one, and makes it if it does not exist.
    ///
    /// # Errors
    /// If it cannot be made, or something else has that name, a link included.
    pub fn enter(&self, name: impl AsRef<Path>) -> io::Result<Self> {
        match self.make_directory(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.hold(name.as_ref()),
            made => made,
        }
    }

    /// Makes a directory in this one, and holds it.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if something has that name.
    pub fn make_directory(&self, name: impl AsRef<Path>) -> io::Result<Self> {
        mkdirat(&self.fd, name.as_ref(), SHARED)?;
        self.hold(name.as_ref()).map_err(no_longer_there)
    }

    fn hold(&self, name: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(&self.fd, name, flags, Mode::empty())?;
        Self::new(opened, &self.shown.join(name))
    }

    /// Holds the directory at `path`, wherever links lead.
    pub(crate) fn directory(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Self::new(open(path, flags, Mode::empty())?, path)
    }

    /// Holds an open file, which messages call `shown`.
    pub(crate) fn new(fd: impl Into<OwnedFd>, shown: &Path) -> io::Result<Self> {
        let fd = fd.into();
        let found = fstat(&fd)?;
        // Not `self`, because other programs need the path, too. With the process number of this
        // /proc, which may differ from this process's own number in a container.
        let process = fs::read_link("/proc/self").map_err(|error| no_proc(&error))?;
        let path = Path::new("/proc").join(process).join(format!("fd/{}", fd.as_raw_fd()));
        let led_to = stat(&path).map_err(|error| no_proc(&error.into()))?;
        if is_same(&found, &led_to) {
            Ok(Self { fd, path, shown: shown.to_owned() })
        } else {
            Err(no_proc(&io::ErrorKind::NotFound.into()))
        }
    }

    /// The path to open it by, valid while this lives.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name for people.
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    pub(crate) fn inode(&self) -> io::Result<u64> {
        Ok(fstat(&self.fd)?.st_ino)
    }

    /// Whether it is a regular file.
    pub(crate) fn is_file(&self) -> io::Result<bool> {
        Ok(kind(&fstat(&self.fd)?) == FileType::RegularFile)
    }

    fn is_directory(&self) -> io::Result<bool> {
        Ok(kind(&fstat(&self.fd)?) == FileType::Directory)
    }

    /// Whether it still has a name.
    pub(crate) fn has_name(&self) -> io::Result<bool> {
        Ok(fstat(&self.fd)?.st_nlink > 0)
    }

    /// Mounts it at `at`. If only root can reach `at`, the same inode has a name there that nobody
    /// else can change. The caller has announced the mount.
    pub(crate) fn bind(&self, at: &Path) -> io::Result<()> {
        mount_bind(&self.path, at)?;
        let mounted = open(at, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        if is_same(&fstat(&self.fd)?, &fstat(mounted)?) { Ok(()) } else { Err(exchanged()) }
    }

    /// Makes a directory in this one that nobody else can read or change, and holds it.
    pub(crate) fn make_private(&self, name: &str, marker: &str) -> io::Result<Self> {
        mkdirat(&self.fd, name, Mode::RWXU)?;
        let opened =
            open_directory(&self.fd, name).map_err(|error| no_longer_there(error.into()))?;
        let made = Self::new(opened, &self.shown.join(name))?;
        // Between the two calls, the owner of the directory may have put another one in its place.
        // That does not matter if it is empty and belongs to this user.
        if !list(&made.fd)?.is_empty() {
            return Err(exchanged());
        }
        let marker = made.create(marker)?;
        let (found, ours) = (fstat(&made.fd)?, fstat(&marker)?);
        // File servers may map users: a file made there shows how.
        if found.st_uid != ours.st_uid {
            return Err(exchanged());
        }
        // File systems of other operating systems have neither modes nor links.
        if is_writable_by_others(&found) && has_links(&made.fd) {
            return Err(exchanged());
        }
        // After a power loss, files must not be there without the marker.
        fsync(&made.fd)?;
        Ok(made)
    }

    /// The name in this directory that `is_it` accepts: `name`, or any other.
    pub(crate) fn find(&self, name: &[u8], is_it: impl Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
        if is_it(name) {
            return Some(name.to_owned());
        }
        // A directory that cannot be listed has no other candidates.
        let all = open_directory(self, ".").and_then(list).unwrap_or_default();
        all.into_iter().map(|(name, _)| name).find(|name| is_it(name))
    }

    /// Holds the directory in this one that `is_it` accepts.
    pub(crate) fn directory_with(&self, is_it: impl Fn(&Self) -> bool) -> Option<Self> {
        let all = open_directory(self, ".").and_then(list).unwrap_or_default();
        let hold = |name: Vec<u8>| self.hold(Path::new(OsStr::from_bytes(&name))).ok();
        all.into_iter().filter_map(|(name, _)| hold(name)).find(is_it)
    }

    /// Makes a new file in this directory.
    pub(crate) fn create(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.fd, name.as_ref(), flags, Mode::RUSR | Mode::WUSR).map(File::from)?)
    }
}

/// Valid while it is held.
impl From<&Held> for Location {
    fn from(held: &Held) -> Self {
        Self::new(held.path(), held.shown())
    }
}

impl AsFd for Held {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Opens a directory in another one, but not through a link.
pub(crate) fn open_directory(
    at: impl AsFd,
    name: impl rustix::path::Arg,
) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, name, flags, Mode::empty())
}

/// Names and types of what is in a directory.
pub(crate) fn list(directory: impl AsFd) -> Result<Vec<(Vec<u8>, FileType)>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push((name.to_vec(), entry.file_type()));
        }
    }
    Ok(names)
}

/// The first directory on the path (absolute, without links) that users other than root and this
/// user can change, so that the path may lead elsewhere at any time.
pub(crate) fn changeable_by_others(path: &Path) -> Option<PathBuf> {
    let is_safe = |directory: &&Path| {
        stat(*directory).is_ok_and(|found| {
            stranger(&found).is_none() && (!is_writable_by_others(&found) || is_sticky(&found))
        })
    };
    path.ancestors().skip(1).find(|directory| !is_safe(directory)).map(Path::to_owned)
}

/// The first symbolic link on `path` that another user can redirect, if this process is root: root
/// must not follow it to a place that another user chose.
pub(crate) fn link_of_another(path: &Path) -> Option<PathBuf> {
    links(path).into_iter().find(|(_, is_safe)| !is_safe).map(|(link, _)| link)
}

/// `path` from the root, without links. A link that appears later is not followed: [`Held::at`]
/// detects it.
pub(crate) fn resolved(path: &Path) -> io::Result<PathBuf> {
    let links = links(path);
    if links.iter().any(|(_, is_safe)| !is_safe) {
        return Err(exchanged());
    }
    if !links.is_empty() {
        return fs::canonicalize(path);
    }
    let mut resolved = PathBuf::new();
    for part in std::path::absolute(path)?.components() {
        match part {
            // What is not a link is in the directory before it.
            Component::ParentDir => drop(resolved.pop()),
            part => resolved.push(part),
        }
    }
    Ok(resolved)
}

/// The symbolic links on `path`, from the root, and whether only root and this user can redirect
/// them. For users other than root that is always true, because only their own rights are used.
fn links(path: &Path) -> Vec<(PathBuf, bool)> {
    let is_root = geteuid().is_root();
    let absolute = std::path::absolute(path).unwrap_or_default();
    let look = |way: &Path| {
        let found = lstat(way).ok().filter(|found| kind(found) == FileType::Symlink)?;
        let is_safe = !is_root || found.st_uid == 0 && changeable_by_others(way).is_none();
        Some((way.to_owned(), is_safe))
    };
    let mut links: Vec<_> = absolute.ancestors().filter_map(look).collect();
    links.reverse();
    links
}

fn has_links(directory: &OwnedFd) -> bool {
    let made = symlinkat("x", directory, "link");
    let _ = unlinkat(directory, "link", AtFlags::empty());
    made.is_ok()
}

fn is_same(a: &Stat, b: &Stat) -> bool {
    (a.st_dev, a.st_ino, kind(a)) == (b.st_dev, b.st_ino, kind(b))
}

fn kind(found: &Stat) -> FileType {
    FileType::from_raw_mode(found.st_mode)
}

/// The error for a directory that cannot be opened right after it was made.
fn no_longer_there(error: io::Error) -> io::Error {
    match Errno::from_io_error(&error) {
        Some(Errno::NOTDIR | Errno::LOOP | Errno::NOENT) => exchanged(),
        _ => error,
    }
}

/// Another user has put something else in its place.
pub(crate) fn exchanged() -> io::Error {
    io::Error::other(
        "another user has just replaced the file or directory at this path; use a directory that \
         only you can write to",
    )
}

fn no_proc(error: &io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!(
            "iotax needs /proc to keep files open, but cannot use it \
                                          ({error}); mount /proc"
        ),
    )
}

/// Write permission for users other than the owner.
pub(crate) const OTHERS_WRITE: Mode = Mode::WGRP.union(Mode::WOTH);

/// The owner, if it is neither this user nor root.
pub(crate) fn stranger(stat: &Stat) -> Option<u32> {
    (stat.st_uid != 0 && stat.st_uid != geteuid().as_raw()).then_some(stat.st_uid)
}

/// Whether users other than the owner may write.
pub(crate) fn is_writable_by_others(stat: &Stat) -> bool {
    Mode::from_raw_mode(stat.st_mode).intersects(OTHERS_WRITE)
}

/// Whether only the owners of files in a directory may rename them, as in `/tmp`.
pub(crate) fn is_sticky(stat: &Stat) -> bool {
    Mode::from_raw_mode(stat.st_mode).contains(Mode::SVTX)
}
