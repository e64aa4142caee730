//! `file`: a device in a file.
//!
//! The file exists, and is used as it is: never truncated, extended or filled. The page cache is
//! bypassed if the file system supports that: see [`BackingFacts::direct_effective`].

use std::fs::File as StdFile;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use iotax_layers::File;
use rustix::fs::{Advice, OFlags, fadvise, fcntl_getfl, fcntl_setfl, fdatasync, fstat, fstatfs};
use rustix::io::{Errno, pread, pwrite};

use crate::io::AlignedBuffer;
use crate::layer::prelude::*;
use crate::names::shown;

const NAME: &str = "file";
const BUFFERED_BLOCK_BYTES: u32 = 512;
/// A file system in memory; from the kernel's `uapi/linux/magic.h`.
const TMPFS_MAGIC: i64 = 0x0102_1994;

impl Recipe for File {
    fn build(&self, _place: &BuildPlace<'_>) -> Result<Box<dyn OpenLayer>, Error> {
        let path = self.path.as_deref().unwrap_or(Path::new(""));
        let inner = open(path, self.size_bytes)?;
        Error::check_size(NAME, self.size_bytes, BUFFERED_BLOCK_BYTES)?;
        let direct_block_bytes = go_direct(&inner, self.size_bytes);
        Ok(Box::new(OpenFile {
            inner,
            path: shown(path),
            size_bytes: self.size_bytes,
            direct_block_bytes,
        }))
    }
}

/// A file of others, which is as large as it has to be.
fn open(path: &Path, size_bytes: u64) -> Result<StdFile, Error> {
    let failed = |action| move |error| Error::file(path, action, &error);
    let file = StdFile::options().read(true).write(true).open(path).map_err(failed("open"))?;
    let metadata = file.metadata().map_err(failed("inspect"))?;
    if !metadata.is_file() {
        let device = metadata.file_type().is_block_device();
        return Err(Error::NotAFile { path: shown(path), device });
    }
    let file_bytes = metadata.len();
    if file_bytes < size_bytes {
        return Err(Error::FileTooSmall { path: shown(path), file_bytes, size_bytes });
    }
    Ok(file)
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

struct OpenFile {
    inner: StdFile,
    path: PathBuf,
    size_bytes: u64,
    direct_block_bytes: Option<u32>,
}

impl OpenFile {
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

impl OpenLayer for OpenFile {
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
            .map_err(|errno| Error::file(&self.path, "drop the cached pages of", &errno.into()))
    }
}

impl Base for OpenFile {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn waits(&self) -> bool {
        fstatfs(&self.inner).is_ok_and(|found| found.f_type != TMPFS_MAGIC)
    }

    fn facts(&self) -> BackingFacts {
        let blocks = fstat(&self.inner).map_or(0, |stat| stat.st_blocks.unsigned_abs());
        BackingFacts {
            path: Some(self.path.clone()),
            created: false,
            direct_effective: self.direct_block_bytes.is_some(),
            allocated_bytes: blocks * 512,
        }
    }
}

#[cfg(test)]
mod tests;
