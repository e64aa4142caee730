//! Versions as files in a directory: written aside, made durable, renamed into place; loaded
//! through a shared mapping.
//!
//! Pages of a published version are dropped from the page cache once they are durable. Otherwise a
//! load would find in memory what the driver has just written. In production, the version is larger
//! than the cache and comes from the device.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use iotax_experiment::IndexLoads;
use iotax_vdisk::{Session, VirtualDisk};
use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{Advice, fadvise};

use super::{CHUNK_BYTES, IndexStore};
use crate::engine::sigbus::Guarded;
use crate::engine::supplies::Buffers;
use crate::engine::{Io, Op, sigbus};
use crate::error::Error;
use crate::file_assignment::{PAGE_BYTES, slot_bytes};
use crate::target::within;
use crate::verify::{MAGIC, WriteVerifier};

/// Name of the version in place.
pub(crate) const NAME: &str = "index";

pub(crate) struct FileIndex {
    directory: PathBuf,
    index_bytes: u64,
    buffers: Buffers,
    verifier: WriteVerifier,
    opened: Option<Mapped>,
    loaded: Option<Mapped>,
}

struct Mapped {
    // Before the mapping: its range must not be guarded any more once it is unmapped.
    guard: Guarded,
    mapping: MmapRaw,
}

impl FileIndex {
    /// Versions of `index_bytes` in `directory`.
    pub(crate) fn new(directory: &Path, index_bytes: u64, seed: u64) -> Result<Self, Error> {
        let chunk = u32::try_from(CHUNK_BYTES).expect("a chunk");
        Ok(Self {
            directory: directory.to_owned(),
            index_bytes,
            buffers: Buffers::new(1, chunk, false, true, seed)?,
            verifier: WriteVerifier::new(seed),
            opened: None,
            loaded: None,
        })
    }

    fn write(&mut self, path: &Path, give_up: &dyn Fn() -> bool) -> io::Result<bool> {
        // A version of a run that was killed may be there.
        let file = within().write(true).create(true).truncate(true).open(path)?;
        let mut offset = 0;
        while offset < self.index_bytes {
            if give_up() {
                return Ok(false);
            }
            let bytes = (self.index_bytes - offset).min(CHUNK_BYTES as u64);
            let bytes = u32::try_from(bytes).expect("at most a chunk");
            let chunk = &mut self.buffers.write_mut(0)[..bytes as usize];
            self.verifier
                .prepare(Io { offset, bytes, file: 0, op: Op::Write, check: false }, chunk);
            file.write_all_at(chunk, offset)?;
            offset += u64::from(bytes);
        }
        file.sync_all()?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
        Ok(true)
    }
}

impl IndexStore for FileIndex {
    fn has_version(&mut self) -> bool {
        let path = self.directory.join(NAME);
        let right_size = fs::metadata(&path).is_ok_and(|facts| facts.len() == self.index_bytes);
        right_size && is_ours(&path)
    }

    fn publish(&mut self, version: u64, give_up: &dyn Fn() -> bool) -> io::Result<bool> {
        let aside = self.directory.join(format!("{NAME}.{version}.tmp"));
        let written = self.write(&aside, give_up);
        if !matches!(written, Ok(true)) {
            // The error to report, if there is one, is the first.
            let _ = fs::remove_file(&aside);
            return written;
        }
        fs::rename(&aside, self.directory.join(NAME))?;
        File::open(&self.directory)?.sync_all()?;
        Ok(true)
    }

    fn open(&mut self, _version: u64) -> io::Result<()> {
        let file = within().read(true).open(self.directory.join(NAME))?;
        let mapping = MmapOptions::new().map_raw_read_only(&file)?;
        let guard = sigbus::guard(mapping.as_ptr().addr(), mapping.len())?;
        self.opened = Some(Mapped { guard, mapping });
        Ok(())
    }

    fn touch(&mut self) -> io::Result<()> {
        let Some(mapped) = self.opened.take() else {
            return Err(io::Error::other("no version was opened"));
        };
        for at in (0..mapped.mapping.len()).step_by(PAGE_BYTES) {
            // SAFETY: inside the mapping. A page that cannot be had is replaced by `sigbus`.
            unsafe { mapped.mapping.as_ptr().add(at).read_volatile() };
        }
        if mapped.guard.faults() > 0 {
            return Err(io::Error::from(rustix::io::Errno::IO));
        }
        self.loaded = Some(mapped);
        Ok(())
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let Some(mapped) = &self.loaded else {
            return Err(io::Error::other("no version was loaded"));
        };
        let at = usize::try_from(offset).map_err(io::Error::other)?;
        let len = buffer.len().min(mapped.mapping.len().saturating_sub(at));
        // SAFETY: inside the mapping, as computed; published versions are never written to, and
        // a page that cannot be had is replaced by `sigbus`.
        unsafe {
            let source = mapped.mapping.as_ptr().add(at.min(mapped.mapping.len()));
            std::ptr::copy_nonoverlapping(source, buffer.as_mut_ptr(), len);
        }
        if mapped.guard.faults() > 0 { Err(rustix::io::Errno::IO.into()) } else { Ok(()) }
    }
}

/// Publishes a version to start from, if there is none.
pub(crate) fn lay_out(directory: &Path, loads: IndexLoads) -> Result<(), Error> {
    let mut index = FileIndex::new(directory, loads.index_bytes, 1)?;
    if !index.has_version() {
        index.publish(1, &|| false).map_err(|source| Error::Index { source })?;
    }
    Ok(())
}

/// Whether `path` is something that this crate wrote.
pub(crate) fn is_ours(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    within().read(true).open(path).and_then(|file| file.read_exact_at(&mut start, 0)).is_ok()
        && start == MAGIC
}

// Versions on a virtual disk: two slots at its end play the part of files. A version is written
// to the slot that is not in place, flushed, and then put in place by its number alone.

/// Size of the reads that load a version: the kernel's default for reading ahead in a mapping.
const LOAD_BYTES: usize = 128 << 10;

pub(crate) struct SlotIndex {
    session: Session,
    first_slot: u64,
    index_bytes: u64,
    block_bytes: u64,
    chunk: Vec<u8>,
    verifier: WriteVerifier,
    opened: u64,
    loaded: u64,
}

impl SlotIndex {
    /// Versions of `index_bytes` at the end of `disk`.
    pub(crate) fn new(
        disk: &VirtualDisk,
        index_bytes: u64,
        seed: u64,
    ) -> Result<Self, iotax_vdisk::Error> {
        use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
        let mut chunk = vec![0; CHUNK_BYTES];
        rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut chunk);
        let block_bytes = u64::from(disk.block_bytes());
        let end = disk.size_bytes() - disk.size_bytes() % block_bytes;
        Ok(Self {
            session: Session::new(disk, 1, CHUNK_BYTES)?,
            first_slot: (end - 2 * slot_bytes(index_bytes)).next_multiple_of(block_bytes),
            index_bytes: index_bytes.next_multiple_of(block_bytes),
            block_bytes,
            chunk,
            verifier: WriteVerifier::new(seed),
            opened: 0,
            loaded: 0,
        })
    }

    fn slot(&self, version: u64) -> u64 {
        self.first_slot + version % 2 * slot_bytes(self.index_bytes)
    }
}

impl IndexStore for SlotIndex {
    fn has_version(&mut self) -> bool {
        let mut start = vec![0; LOAD_BYTES.min(CHUNK_BYTES)];
        let at = self.slot(1);
        self.session.read_at(at, &mut start).is_ok() && start.starts_with(&MAGIC)
    }

    fn publish(&mut self, version: u64, give_up: &dyn Fn() -> bool) -> io::Result<bool> {
        let start = self.slot(version);
        let mut offset = 0;
        while offset < self.index_bytes {
            if give_up() {
                return Ok(false);
            }
            let bytes = (self.index_bytes - offset).min(CHUNK_BYTES as u64);
            let bytes = u32::try_from(bytes).expect("at most a chunk");
            let chunk = &mut self.chunk[..bytes as usize];
            self.verifier
                .prepare(Io { offset, bytes, file: 0, op: Op::Write, check: false }, chunk);
            let moved = self.session.write_at(start + offset, chunk)?;
            if moved < chunk.len() {
                return Err(io::ErrorKind::WriteZero.into());
            }
            offset += u64::from(bytes);
        }
        self.session.flush()?;
        Ok(true)
    }

    fn open(&mut self, version: u64) -> io::Result<()> {
        self.opened = version;
        Ok(())
    }

    fn touch(&mut self) -> io::Result<()> {
        let start = self.slot(self.opened);
        let mut offset = 0;
        while offset < self.index_bytes {
            let bytes = (self.index_bytes - offset).min(LOAD_BYTES as u64);
            let len = usize::try_from(bytes).expect("a read's length");
            let moved = self.session.read_at(start + offset, &mut self.chunk[..len])?;
            if moved < len {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            offset += bytes;
        }
        self.loaded = self.opened;
        Ok(())
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let first = offset - offset % self.block_bytes;
        let end = (offset + buffer.len() as u64).next_multiple_of(self.block_bytes);
        let end = end.min(self.index_bytes);
        let at = self.slot(self.loaded);
        let mut done = first;
        while done < end {
            let len = usize::try_from((end - done).min(CHUNK_BYTES as u64)).expect("a chunk");
            let moved = self.session.read_at(at + done, &mut self.chunk[..len])?;
            if moved < len {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            done += len as u64;
        }
        Ok(())
    }
}
