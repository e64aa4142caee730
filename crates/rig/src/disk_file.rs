//! Files that iotax makes for virtual disks: anonymous ones, and new ones at a path that the user
//! named.

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, StatxFlags, linkat, open, renameat_with, statx,
};
use rustix::io::Errno;

use crate::entry::Entry;
use crate::error::Error;
use crate::held::Held;
use crate::identity::{FileSystem, Identity};
use crate::journal::Journal;
use crate::scratch;

/// Name of a file before it is moved to its own name.
const BORN: &str = "disk";

/// A file made by this run. Keeps an anonymous one alive.
#[derive(Debug)]
pub(crate) struct DiskFile {
    pub(crate) file: File,
    /// How to open it again, and its name in messages.
    pub(crate) held: Held,
}

impl DiskFile {
    fn new(file: File, shown: &Path) -> Result<Self, Error> {
        let held = file.try_clone().and_then(|copy| Held::new(copy, shown));
        Ok(Self { held: held.map_err(Error::cannot("keep this file open", shown))?, file })
    }
}

/// Makes a file without a name in `directory`. It disappears with its last descriptor, however this
/// process ends, and needs no journal. If the file system does not support that (NFS, FAT), it is
/// an ordinary file in a private directory.
pub(crate) fn anonymous(directory: &Path, journal: &mut Journal) -> Result<DiskFile, Error> {
    let failed = Error::cannot("create a file in it", directory);
    let held = Held::at(directory).map_err(failed)?;
    let file = match unnamed(held.path()) {
        Ok(file) => file,
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {
            scratch::make_in(&held, journal)?.create(BORN).map_err(failed)?
        }
        Err(error) => return Err(failed(error.into())),
    };
    DiskFile::new(file, &directory.join("(nameless file)"))
}

/// Makes a sparse file of `size_bytes` without a name in `directory`. The size may exceed that of
/// the file system.
pub(crate) fn thin(
    directory: &Path,
    size_bytes: u64,
    journal: &mut Journal,
) -> Result<DiskFile, Error> {
    let made = anonymous(directory, journal)?;
    let failed = Error::cannot("create a sparse file of the disk's size in it", directory);
    made.file.set_len(size_bytes).map_err(failed)?;
    Ok(made)
}

/// Makes a file in a private directory in `directory`.
pub(crate) fn private(directory: &Path, journal: &mut Journal) -> Result<DiskFile, Error> {
    let private = scratch::make(directory, journal)?;
    let file = private.create(BORN).map_err(Error::cannot("create a file in it", directory))?;
    DiskFile::new(file, &private.shown().join(BORN))
}

/// Makes a new file at `path` (its directory absolute, without symbolic links).
///
/// The file is made in a private directory and then moved. So the journal has its identity before
/// it is in a place where another user could have put a file.
pub(crate) fn make(path: &Path, journal: &mut Journal) -> Result<DiskFile, Error> {
    let failed = Error::cannot("create this file", path);
    let parent = Held::at(path.parent().unwrap_or(Path::new("/"))).map_err(failed)?;
    let name = path.file_name().unwrap_or_default();
    let cradle = scratch::make_in(&parent, journal)?;
    let file = cradle.create(BORN).map_err(failed)?;
    journal.announce(Entry::File {
        path: path.to_owned(),
        identity: Identity::within(&cradle, BORN).map_err(|error| failed(error.into()))?,
        parent_inode: parent.inode().map_err(failed)?,
        file_system: FileSystem::of(&parent),
    })?;
    match renameat_with(&cradle, BORN, &parent, name, RenameFlags::NOREPLACE) {
        // File systems that do not know the flag (NFS): a hard link replaces nothing either.
        Err(Errno::INVAL | Errno::NOSYS) => linkat(&cradle, BORN, &parent, name, AtFlags::empty()),
        other => other,
    }
    .map_err(|error| {
        journal.withdraw();
        failed(error.into())
    })?;
    DiskFile::new(file, path)
}

/// Whether direct I/O is possible in a directory, and its alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DirectIo {
    pub(crate) possible: bool,
    /// The unit of offsets and lengths, if the kernel says.
    pub(crate) align_bytes: Option<u32>,
}

/// Tries direct I/O on a file without a name, which leaves nothing behind. `None` if the file
/// system does not support such files.
pub(crate) fn direct_in(directory: &Path) -> Option<DirectIo> {
    let file = unnamed(directory).ok()?;
    let possible = opens_directly(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())));
    let stat = statx(&file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok();
    let align_bytes = stat.map(|stat| stat.stx_dio_offset_align).filter(|bytes| *bytes > 0);
    Some(DirectIo { possible, align_bytes })
}

fn unnamed(directory: &Path) -> Result<File, Errno> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    open(directory, flags, Mode::RUSR | Mode::WUSR).map(File::from)
}

/// Makes a file in a private directory.
pub(crate) fn create(path: &Path) -> Result<File, Error> {
    let options = &mut OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(Error::cannot("create this file", path))
}

/// Whether a file can be opened for direct I/O.
pub(crate) fn opens_directly(path: &Path) -> bool {
    open(path, OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC, Mode::empty()).is_ok()
}
