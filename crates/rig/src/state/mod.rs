//! The state directory, held so that nobody else can decide what is undone.
//!
//! A journal says what to remove, to unmount and whom to end, and `undo` obeys it with all the
//! rights of its caller. So it is only obeyed where nobody but its caller and root can have put it:
//! each directory on the way belongs to one of them, and others cannot write to it. As in `/tmp`,
//! the sticky bit is enough on the way (others cannot rename what is not theirs), but not in the
//! state directory, where they could still add something.
//!
//! What is in the state directory is opened relative to a descriptor of the directory that was
//! checked, without following links and without waiting: whatever is exchanged meanwhile, what is
//! obeyed is what was looked at.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fgetxattr, fstat, openat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::error::Error;
use crate::held::{OTHERS_WRITE, is_writable_by_others, stranger};

/// Where state is kept: `$IOTAX_STATE_DIR` if set; for root `/var/lib/iotax`, so that a `sudo`
/// that keeps the user's HOME does not leave root's files in it; else `$XDG_STATE_HOME/iotax`, and
/// without that `~/.local/state/iotax`, as the XDG Base Directory Specification says. `None` if
/// the environment names no home either.
pub fn state_dir() -> Option<PathBuf> {
    state_dir_from(geteuid().is_root(), |name| env::var_os(name).map(PathBuf::from))
}

fn state_dir_from(root: bool, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    // The specification asks for relative paths to be ignored.
    let absolute = |name| variable(name).filter(|path| path.is_absolute());
    absolute("IOTAX_STATE_DIR")
        .or_else(|| root.then(|| PathBuf::from("/var/lib/iotax")))
        .or_else(|| absolute("XDG_STATE_HOME").map(|path| path.join("iotax")))
        .or_else(|| absolute("HOME").map(|path| path.join(".local/state/iotax")))
}

/// The directory in which arms have their mount points and sockets, without symbolic links; made
/// if need be.
pub(crate) fn run_directory(state_dir: Option<&Path>) -> Result<PathBuf, Error> {
    Held::make(state_dir.ok_or(Error::NoStateDirectory)?, "run").map(|held| held.path)
}

/// A directory in the state directory that nobody else can write to.
#[derive(Debug)]
pub(crate) struct Held {
    path: PathBuf,
    directory: OwnedFd,
}

impl Held {
    /// Makes `name` in the state directory, if need be, and holds it.
    pub(crate) fn make(state_dir: &Path, name: &str) -> Result<Self, Error> {
        let path = state_dir.join(name);
        let failed = |source| Error::Journal { directory: path.clone(), source };
        // What there is of the way comes first, so that nothing is made where it could not stay.
        if let Some(there) = state_dir.ancestors().find_map(|part| fs::canonicalize(part).ok()) {
            match Walk::to(&there).and_then(|walk| walk.is_way()) {
                // To make it says better why it cannot be.
                Err(Error::UnusableState { .. }) => {}
                looked => looked?,
            }
        }
        DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(failed)?;
        Self::hold(state_dir, name)?.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
    }

    /// Holds `name` in the state directory; `None` if it is not there.
    pub(crate) fn hold(state_dir: &Path, name: &str) -> Result<Option<Self>, Error> {
        let unusable = |error: io::Error| unusable(&state_dir.join(name), error);
        // Wherever links lead, it is looked at part by part.
        let path = match fs::canonicalize(state_dir) {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(error)),
        };
        let mut walk = Walk::to(&path)?;
        walk.is_closed()?;
        match walk.enter(OsStr::new(name)) {
            Ok(()) => walk.is_closed()?,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(unusable(error.into())),
        }
        let directory = walk.readable().map_err(|error| unusable(error.into()))?;
        Ok(Some(Self { path: walk.path, directory }))
    }

    /// The path of a file in it, for messages.
    pub(crate) fn path_of(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }

    /// Makes a file for appending, where there was none.
    pub(crate) fn create(&self, name: &OsStr) -> io::Result<File> {
        let how = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        let file =
            openat(&self.directory, name, how | OFlags::NOFOLLOW | OFlags::CLOEXEC, OWNERS_FILE)?;
        Ok(file.into())
    }

    /// Opens a file for reading and, if it may be written, for appending; `None` if it is gone.
    ///
    /// # Errors
    /// What stands in its place and is not to be obeyed, in words.
    pub(crate) fn open(&self, name: &OsStr) -> Result<Option<File>, String> {
        // Looked at before it is opened, which on a device may do something, and after.
        let found = match statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => found,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(format!("cannot be examined: {}", io::Error::from(error))),
        };
        is_owners_file(&found)?;
        let how = OFlags::RDWR | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = match openat(&self.directory, name, how | OFlags::CLOEXEC, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(format!("cannot be opened: {}", io::Error::from(error))),
        };
        let opened = fstat(&file)
            .map_err(|error| format!("cannot be examined: {}", io::Error::from(error)))?;
        is_owners_file(&opened)?;
        Ok(Some(file))
    }

    /// Removes a file.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.directory, name, AtFlags::empty())?)
    }

    /// Forces the names in it to disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.directory)?)
    }

    /// The names in it, sorted.
    pub(crate) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.directory)? {
            names.push(OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned());
        }
        names.sort();
        Ok(names)
    }
}

/// Only its owner reads and writes it.
const OWNERS_FILE: Mode = Mode::RUSR.union(Mode::WUSR);
/// Fails with what is wrong, in words, unless it is a regular file of ours that others cannot
/// write.
fn is_owners_file(stat: &Stat) -> Result<(), String> {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => None,
        FileType::Directory => Some("a directory"),
        FileType::Symlink => Some("a symbolic link"),
        FileType::Fifo => Some("a FIFO"),
        FileType::Socket => Some("a socket"),
        _ => Some("a device"),
    };
    if let Some(kind) = kind {
        return Err(format!("is {kind}, which iotax never creates here"));
    }
    if let Some(owner) = stranger(stat) {
        return Err(format!("belongs to user {owner}, not to you or root"));
    }
    if is_writable_by_others(stat) {
        let mode = Mode::from_raw_mode(stat.st_mode).as_raw_mode();
        return Err(format!("is writable by others (mode {mode:04o})"));
    }
    Ok(())
}

/// On the way to a directory, from the root, part by part.
struct Walk {
    path: PathBuf,
    directory: OwnedFd,
}

impl Walk {
    /// To a directory, absolute and without links; others can exchange nothing on the way there.
    fn to(path: &Path) -> Result<Self, Error> {
        let failed = |error: Errno| unusable(path, error.into());
        let root = open_directory(CWD, OsStr::new("/"), OFlags::PATH).map_err(failed)?;
        let mut walk = Self { path: "/".into(), directory: root };
        for part in path.components().skip(1) {
            walk.is_way()?;
            walk.enter(part.as_os_str()).map_err(failed)?;
        }
        Ok(walk)
    }

    fn enter(&mut self, name: &OsStr) -> Result<(), Errno> {
        self.directory = open_directory(&self.directory, name, OFlags::PATH)?;
        self.path.push(name);
        Ok(())
    }

    /// A descriptor to read it by: to pass through, the right to search it is enough.
    fn readable(&self) -> Result<OwnedFd, Errno> {
        open_directory(&self.directory, OsStr::new("."), OFlags::RDONLY)
    }

    /// Fails unless others cannot exchange what is in it.
    fn is_way(&self) -> Result<(), Error> {
        let (stat, mode) = self.look()?;
        let is_safe = !mode.intersects(OTHERS_WRITE)
            || mode.contains(Mode::SVTX)
            || !mode.contains(Mode::WOTH) && self.has_private_group(&stat);
        if is_safe { Ok(()) } else { Err(self.open_to_others(mode)) }
    }

    /// Fails unless others cannot write to it at all.
    fn is_closed(&self) -> Result<(), Error> {
        let (_, mode) = self.look()?;
        if mode.intersects(OTHERS_WRITE) { Err(self.open_to_others(mode)) } else { Ok(()) }
    }

    /// Its facts, if it belongs to this user or to root.
    fn look(&self) -> Result<(Stat, Mode), Error> {
        let stat = fstat(&self.directory).map_err(|error| unusable(&self.path, error.into()))?;
        match stranger(&stat) {
            Some(owner) => Err(Error::StrangersState { path: self.path.clone(), owner }),
            None => Ok((stat, Mode::from_raw_mode(stat.st_mode))),
        }
    }

    /// Where every user has a group of their own, with the user's number, directories are writable
    /// for the group by default: `~/.local/state` is. With an access list those bits mean more.
    fn has_private_group(&self, stat: &Stat) -> bool {
        let list = |directory| {
            let mut nothing = [0_u8; 0];
            fgetxattr(directory, c"system.posix_acl_access", &mut nothing)
        };
        stat.st_gid == stat.st_uid
            && matches!(self.readable().map(list), Ok(Err(Errno::NODATA | Errno::OPNOTSUPP)))
    }

    fn open_to_others(&self, mode: Mode) -> Error {
        Error::OpenState { path: self.path.clone(), mode: mode.as_raw_mode() }
    }
}

fn unusable(path: &Path, source: io::Error) -> Error {
    Error::UnusableState { path: path.to_owned(), source }
}

fn open_directory(at: impl AsFd, name: &OsStr, how: OFlags) -> Result<OwnedFd, Errno> {
    let how = how | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, name, how, Mode::empty())
}

#[cfg(test)]
mod tests;
