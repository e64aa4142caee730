//! The state directory, held so that nobody else can decide what is undone.
//!
//! A journal lists what to remove, what to unmount and which processes to end, and `undo` obeys it
//! with all rights of its caller. So only its caller and root may be able to write it: each
//! directory on the path belongs to one of them, and others cannot write to it. On the path, the
//! sticky bit is enough, as in `/tmp`, because others cannot rename these files. In the state
//! directory it is not, because others could still add files.
//!
//! Files in the state directory are opened relative to a descriptor of the checked directory,
//! without following links and without waiting. So what is obeyed is what was checked, even if
//! something is replaced in the meantime.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    Access, AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, access, fgetxattr, fstat, openat,
    statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::error::Error;
use crate::held::{OTHERS_WRITE, is_writable_by_others, stranger};

/// The state directory: `$IOTAX_STATE_DIR` if set; for root `/var/lib/iotax`, so that `sudo` with
/// the user's HOME does not leave root's files there; otherwise `$XDG_STATE_HOME/iotax`, or
/// `~/.local/state/iotax`, as in the XDG Base Directory Specification. For users without a home
/// directory that they can write to, such as those of services, `/var/tmp/iotax-UID`.
pub fn state_dir() -> PathBuf {
    state_dir_from(geteuid().as_raw(), |name| env::var_os(name).map(PathBuf::from), can_be_made)
}

fn state_dir_from(
    user: u32,
    variable: impl Fn(&str) -> Option<PathBuf>,
    can_be_made: impl Fn(&Path) -> bool,
) -> PathBuf {
    // The specification asks for relative paths to be ignored.
    let absolute = |name| variable(name).filter(|path| path.is_absolute());
    absolute("IOTAX_STATE_DIR")
        .or_else(|| (user == 0).then(|| PathBuf::from("/var/lib/iotax")))
        .or_else(|| absolute("XDG_STATE_HOME").map(|path| path.join("iotax")))
        .or_else(|| {
            let home = absolute("HOME").map(|path| path.join(".local/state/iotax"));
            home.filter(|home| can_be_made(home))
        })
        .unwrap_or_else(|| PathBuf::from(format!("/var/tmp/iotax-{user}")))
}

/// Whether this user may write to the part of the path that exists.
fn can_be_made(path: &Path) -> bool {
    let there = path.ancestors().find(|part| part.exists());
    there.is_some_and(|part| access(part, Access::WRITE_OK).is_ok())
}

/// The directory of the arms' mount points and sockets, without symbolic links. Created if
/// necessary.
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
    /// Makes `name` in the state directory, if necessary, and holds it.
    pub(crate) fn make(state_dir: &Path, name: &str) -> Result<Self, Error> {
        let path = state_dir.join(name);
        let failed = |source| Error::Journal { directory: path.clone(), source };
        // The existing part of the path is checked first, so that nothing is made in a wrong place.
        if let Some(there) = state_dir.ancestors().find_map(|part| fs::canonicalize(part).ok()) {
            match Walk::to(&there).and_then(|walk| walk.is_way()) {
                // The attempt to create it gives a better error.
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
        // After links are resolved, the path is checked part by part.
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
    /// A description of what is in its place, if that must not be obeyed.
    pub(crate) fn open(&self, name: &OsStr) -> Result<Option<File>, String> {
        // Checked before it is opened, because opening a device may have effects, and after.
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
/// Fails with a description unless it is a regular file of ours that others cannot write.
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
        return Err(format!("is writable by other users (mode {mode:04o})"));
    }
    Ok(())
}

/// Opens a path from the root, part by part.
struct Walk {
    path: PathBuf,
    directory: OwnedFd,
}

impl Walk {
    /// To a directory, absolute and without links. Fails if others can replace a part of the path.
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

    /// A descriptor for reading it; to pass through it, the permission to search is enough.
    fn readable(&self) -> Result<OwnedFd, Errno> {
        open_directory(&self.directory, OsStr::new("."), OFlags::RDONLY)
    }

    /// Fails if others can replace files in it.
    fn is_way(&self) -> Result<(), Error> {
        let (stat, mode) = self.look()?;
        let is_safe = !mode.intersects(OTHERS_WRITE)
            || mode.contains(Mode::SVTX)
            || !mode.contains(Mode::WOTH) && self.has_private_group(&stat);
        if is_safe { Ok(()) } else { Err(self.open_to_others(mode)) }
    }

    /// Fails if others can write to it at all.
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

    /// Whether the group is the owner's private group, with the user's number. Then directories are
    /// writable for the group by default, as `~/.local/state` is. With an access list, these bits
    /// mean more.
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
