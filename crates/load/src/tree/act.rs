//! One operation: the system calls.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use iotax_experiment::Operation;
use rustix::fs::{AtFlags, Mode, OFlags, RawDir, openat, renameat, statat, unlinkat};
use rustix::io::{Errno, read, write};

use super::names::Names;

/// Entries of a directory are read in pieces of this size, as the C library does.
const LIST_BYTES: usize = 32 << 10;

/// A thread's tree, ready to be worked on.
pub(super) struct Actor {
    pub root: OwnedFd,
    pub names: Names,
    content: Vec<u8>,
    buffer: Vec<u8>,
    entries: Box<[MaybeUninit<u8>]>,
}

impl Actor {
    /// With files of this content.
    pub(super) fn new(root: OwnedFd, names: Names, content: Vec<u8>) -> Self {
        let buffer = vec![0; content.len().max(1)];
        Self { root, names, content, buffer, entries: Box::new_uninit_slice(LIST_BYTES) }
    }

    /// Does `operation` to the file `slot`; a rename gives it the name of `other`. Returns bytes
    /// read or written.
    pub(super) fn act(
        &mut self,
        operation: Operation,
        slot: u32,
        other: u32,
    ) -> Result<u64, Errno> {
        let file = self.names.file(slot);
        match operation {
            Operation::Create => create(&self.root, file, &self.content),
            Operation::Stat => statat(&self.root, file, AtFlags::SYMLINK_NOFOLLOW).map(|_| 0),
            Operation::Open => {
                let opened =
                    openat(&self.root, file, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
                let mut bytes = 0;
                loop {
                    match read(&opened, &mut self.buffer)? {
                        0 => return Ok(bytes),
                        more => bytes += more as u64,
                    }
                }
            }
            Operation::List => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                let opened =
                    openat(&self.root, self.names.directory_of(slot), flags, Mode::empty())?;
                let mut entries = RawDir::new(&opened, &mut self.entries);
                while let Some(entry) = entries.next() {
                    entry?;
                }
                Ok(0)
            }
            Operation::Rename => {
                renameat(&self.root, file, &self.root, self.names.file(other)).map(|()| 0)
            }
            Operation::Delete => unlinkat(&self.root, file, AtFlags::empty()).map(|()| 0),
        }
    }
}

/// A new file with its content; none if that fails.
pub(super) fn create(root: &OwnedFd, file: &CStr, content: &[u8]) -> Result<u64, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let opened = openat(root, file, flags, Mode::from_raw_mode(0o644))?;
    let mut written = 0;
    while written < content.len() {
        match write(&opened, &content[written..]) {
            Ok(more) if more > 0 => written += more,
            failed => {
                let _ = unlinkat(root, file, AtFlags::empty());
                return Err(failed.err().unwrap_or(Errno::IO));
            }
        }
    }
    Ok(written as u64)
}
