//! Trims of files and block devices: one system call each, done when it returns, as in fio.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileTypeExt as _;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use super::io::{Io, Outcome};
use super::thread::Thread;
use crate::error::Error;
use crate::file_assignment::PAGE_BYTES;
use crate::target::shown;

/// `_IO(0x12, 119)` of `linux/fs.h`.
const BLKDISCARD: libc::Ioctl = 0x1277;

/// How a thread trims: its files are all files, or one block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trim {
    /// `BLKDISCARD`: the device discards the range.
    Discard,
    /// The range of the file becomes a hole.
    Punch,
}

impl Trim {
    /// For these files of a thread.
    ///
    /// # Errors
    /// If its job trims, and one of them cannot.
    pub(crate) fn of(thread: &Thread<'_>, files: &[File]) -> Result<Self, Error> {
        let mut way = Self::Punch;
        if thread.job.trims.is_none() {
            return Ok(way);
        }
        for (file, test_file) in files.iter().zip(&thread.files) {
            let facts = file.metadata().map_err(Error::path("examine", &test_file.path))?;
            if facts.file_type().is_block_device() {
                way = Self::Discard;
            }
            match way.harmless(file, facts.len()) {
                // The block device says that the range is none.
                Ok(()) | Err(Errno::INVAL) => {}
                Err(errno) => {
                    let (path, source) = (shown(&test_file.path), io::Error::from(errno));
                    return Err(Error::NoTrims { job: thread.job.name.clone(), path, source });
                }
            }
        }
        Ok(way)
    }

    /// A trim that changes nothing: of a range that no sector begins at, or behind the end.
    fn harmless(self, file: &File, file_bytes: u64) -> Result<(), Errno> {
        match self {
            Self::Discard => discard(file, 1, 0),
            Self::Punch => {
                let page = PAGE_BYTES as u64;
                punch(file, file_bytes.next_multiple_of(page), page)
            }
        }
    }

    /// Trims what `io` covers.
    #[inline(never)]
    pub(crate) fn perform(self, file: &File, io: Io) -> Outcome {
        let trimmed = match self {
            Self::Discard => discard(file, io.offset, io.bytes.into()),
            Self::Punch => punch(file, io.offset, io.bytes.into()),
        };
        trimmed.map(|()| io.bytes)
    }
}

fn punch(file: &File, offset: u64, bytes: u64) -> Result<(), Errno> {
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    rustix::io::retry_on_intr(|| fallocate(file, hole, offset, bytes))
}

fn discard(file: &File, offset: u64, bytes: u64) -> Result<(), Errno> {
    let range = [offset, bytes];
    rustix::io::retry_on_intr(|| {
        // SAFETY: the kernel reads two numbers from `range`.
        let result = unsafe { libc::ioctl(file.as_raw_fd(), BLKDISCARD, range.as_ptr()) };
        let error = || io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        if result == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(error())) }
    })
}
