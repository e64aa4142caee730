//! `file`: a device in a file.
//!
//! Without a path it is an anonymous file (`O_TMPFILE`), which the kernel removes with its last
//! descriptor: nothing is left behind, not even by `kill -9`. With a path, a missing file is
//! created and an existing one is used as it is: never truncated, grown or filled.

use std::fmt;
use std::fs::{File as StdFile, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{
    Advice, FallocateFlags, OFlags, fadvise, fallocate, fcntl_getfl, fcntl_setfl, fdatasync, fstat,
    fstatfs, fstatvfs,
};
use rustix::io::{Errno, pread, pwrite};

use crate::buffer::AlignedBuffer;
use crate::error::Error;
use crate::io::{Op, Parcel};
use crate::layer::{Base, Flow, Layer, Place, Recipe};
use crate::names::shown;
use crate::stats::BackingFacts;
use crate::text::Bytes;

const NAME: &str = "file";
const BUFFERED_BLOCK_BYTES: u32 = 512;
/// A file system in memory; from the kernel's `uapi/linux/magic.h`.
const TMPFS_MAGIC: i64 = 0x0102_1994;

/// Base layer: a device in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileConfig {
    /// The file; `None`: an anonymous one.
    pub path: Option<PathBuf>,
    /// Where an anonymous file lies; unused with a path.
    pub dir: PathBuf,
    /// Size of the device, bytes; a multiple of 512. `None`: the whole of an existing file.
    pub size_bytes: Option<u64>,
    /// Bypass the page cache, if the file system can: [`BackingFacts::direct_effective`] tells.
    pub direct: bool,
}

impl fmt::Display for FileConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.as_ref().map(|path| format!("path={}", shown(path).display()));
        let size = self.size_bytes.map(|size| format!("size={}", Bytes(size)));
        let parts: Vec<String> = path.into_iter().chain(size).collect();
        write!(f, "{NAME}({})", parts.join(", "))
    }
}

impl Recipe for FileConfig {
    fn name(&self) -> &'static str {
        NAME
    }

    fn is_base(&self) -> bool {
        true
    }

    fn build(&self, place: &Place<'_>) -> Result<Box<dyn Layer>, Error> {
        let opened = match &self.path {
            Some(path) if place.read_only => self.open_to_read(path)?,
            Some(path) => self.open_named(path)?,
            None => self.open_anonymous()?,
        };
        Error::check_size(NAME, opened.size_bytes, BUFFERED_BLOCK_BYTES)?;
        let direct_block_bytes =
            if self.direct { go_direct(&opened.file, opened.size_bytes) } else { None };
        Ok(Box::new(File {
            inner: opened.file,
            path: self.path.as_deref().map(shown),
            size_bytes: opened.size_bytes,
            created: opened.created,
            direct_block_bytes,
        }))
    }
}

struct Opened {
    file: StdFile,
    size_bytes: u64,
    created: bool,
}

impl FileConfig {
    fn open_anonymous(&self) -> Result<Opened, Error> {
        let dir = &self.dir;
        let size_bytes = self.size_of_new(dir)?;
        // O_TMPFILE, or create and unlink where the file system does not have it.
        let file =
            tempfile::tempfile_in(dir).map_err(|error| Error::file(dir, "create in", &error))?;
        reserve(&file, dir, size_bytes)?;
        Ok(Opened { file, size_bytes, created: true })
    }

    fn open_named(&self, path: &Path) -> Result<Opened, Error> {
        match OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => self.accept_existing(path, file),
            Err(error) if error.kind() == ErrorKind::NotFound => self.create(path),
            Err(error) => Err(Error::file(path, "open", &error)),
        }
    }

    fn open_to_read(&self, path: &Path) -> Result<Opened, Error> {
        // Not to wait for the other end if it should be a pipe, which is refused next.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(path)
            .map_err(|error| Error::file(path, "open", &error))?;
        self.accept_existing(path, file)
    }

    fn accept_existing(&self, path: &Path, file: StdFile) -> Result<Opened, Error> {
        let metadata = file.metadata().map_err(|error| Error::file(path, "inspect", &error))?;
        if !metadata.is_file() {
            let device = metadata.file_type().is_block_device();
            return Err(Error::NotAFile { path: shown(path), device });
        }
        let file_bytes = metadata.len();
        let size_bytes = self.size_bytes.unwrap_or(file_bytes);
        if file_bytes < size_bytes {
            return Err(Error::FileTooSmall { path: shown(path), file_bytes, size_bytes });
        }
        Ok(Opened { file, size_bytes, created: false })
    }

    fn create(&self, path: &Path) -> Result<Opened, Error> {
        let size_bytes = self.size_of_new(path)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(|error| Error::file(path, "create", &error))?;
        if let Err(error) = reserve(&file, path, size_bytes) {
            // Ours, new and empty; the reason why it failed matters more than a second failure.
            let _ = std::fs::remove_file(path);
            return Err(error);
        }
        Ok(Opened { file, size_bytes, created: true })
    }

    fn size_of_new(&self, path: &Path) -> Result<u64, Error> {
        let size_bytes = self.size_bytes.ok_or_else(|| Error::NoSize { path: path.to_owned() })?;
        Error::check_size(NAME, size_bytes, BUFFERED_BLOCK_BYTES)?;
        Ok(size_bytes)
    }
}

/// Allocates the whole file now, so that a full disk is an error here and not in the middle.
fn reserve(file: &StdFile, path: &Path, size_bytes: u64) -> Result<(), Error> {
    let no_space = |available_bytes| Error::NoSpace {
        path: path.to_owned(),
        wanted_bytes: size_bytes,
        available_bytes,
    };
    let available_bytes = available(file);
    // Asked first, because a failing fallocate may fill the disk on its way.
    if available_bytes.is_some_and(|available| available < size_bytes) {
        return Err(no_space(available_bytes));
    }
    match fallocate(file, FallocateFlags::empty(), 0, size_bytes) {
        Ok(()) => Ok(()),
        // No allocation ahead on this file system; preparing the disk will write every block.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
            file.set_len(size_bytes).map_err(|error| Error::file(path, "set the size of", &error))
        }
        Err(Errno::NOSPC | Errno::DQUOT) => Err(no_space(available(file))),
        Err(errno) => Err(Error::file(path, "allocate space for", &errno.into())),
    }
}

/// Space that an unprivileged user has; `None` where the file system does not tell.
fn available(file: &StdFile) -> Option<u64> {
    let stat = fstatvfs(file).ok().filter(|stat| stat.f_blocks > 0)?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Switches the page cache off. Returns the unit that direct I/O needs, by trial; `None`, and the
/// page cache left on, if the file system cannot.
fn go_direct(file: &StdFile, size_bytes: u64) -> Option<u32> {
    let flags = fcntl_getfl(file).ok()?;
    fcntl_setfl(file, flags | OFlags::DIRECT).ok()?;
    let mut probe = AlignedBuffer::zeroed(4096)?;
    let works = [512_u32, 4096].into_iter().find(|&block_bytes| {
        size_bytes.is_multiple_of(u64::from(block_bytes))
            && pread(file, &mut probe.bytes_mut()[..block_bytes as usize], 0).is_ok()
    });
    if works.is_none() {
        // It was off a moment ago, so it can be switched off.
        let _ = fcntl_setfl(file, flags);
    }
    works
}

struct File {
    inner: StdFile,
    path: Option<PathBuf>,
    size_bytes: u64,
    created: bool,
    direct_block_bytes: Option<u32>,
}

impl File {
    /// Short only where the file has been cut under us.
    fn read(&self, offset: u64, target: &mut [u8]) -> Result<usize, Errno> {
        transfer(target.len(), |done| pread(&self.inner, &mut target[done..], offset + done as u64))
    }

    fn write(&self, offset: u64, payload: &[u8]) -> Result<usize, Errno> {
        transfer(payload.len(), |done| pwrite(&self.inner, &payload[done..], offset + done as u64))
    }
}

/// Repeats a system call that may do part of the work until all is done or nothing is left.
fn transfer(
    len: usize,
    mut step: impl FnMut(usize) -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    let mut done = 0;
    while done < len {
        match step(done) {
            Ok(0) => break,
            Ok(more) => done += more,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(done)
}

impl Layer for File {
    fn down(&self, mut io: Parcel) -> Flow {
        let offset = io.request.offset;
        io.result = match io.request.op {
            Op::Read => self.read(offset, io.target()),
            Op::Write => self.write(offset, io.payload()),
            Op::Flush => fdatasync(&self.inner).map(|()| 0),
        };
        Flow::Turn(io)
    }

    fn block_bytes(&self) -> u32 {
        self.direct_block_bytes.unwrap_or(BUFFERED_BLOCK_BYTES)
    }

    fn base(&self) -> Option<&dyn Base> {
        Some(self)
    }

    fn drop_caches(&self) -> Result<(), Error> {
        // Dirty pages are not dropped, so they must be clean first.
        fdatasync(&self.inner)
            .and_then(|()| fadvise(&self.inner, 0, None, Advice::DontNeed))
            .map_err(|errno| {
                Error::file(self.shown_path(), "drop the cached pages of", &errno.into())
            })
    }
}

impl File {
    fn shown_path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new("(anonymous file)"))
    }
}

impl Base for File {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn fill(&self, offset: u64, data: &[u8]) -> Result<(), Errno> {
        match self.write(offset, data)? {
            len if len == data.len() => Ok(()),
            _ => Err(Errno::IO),
        }
    }

    fn sync(&self) -> Result<(), Errno> {
        fdatasync(&self.inner)
    }

    fn waits(&self) -> bool {
        fstatfs(&self.inner).is_ok_and(|found| found.f_type != TMPFS_MAGIC)
    }

    fn facts(&self) -> BackingFacts {
        let blocks = fstat(&self.inner).map_or(0, |stat| stat.st_blocks.unsigned_abs());
        BackingFacts {
            path: self.path.clone(),
            created: self.created,
            direct_effective: self.direct_block_bytes.is_some(),
            allocated_bytes: blocks * 512,
        }
    }
}

#[cfg(test)]
mod tests;
