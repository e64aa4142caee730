//! Versions on a virtual disk: two slots at its end play the part of files. A version is written
//! to the slot that is not in place, flushed, and then put in place by its number alone.

use std::io;

use iotax_vdisk::{Session, VirtualDisk};

use super::{CHUNK_BYTES, IndexStore};
use crate::engine::io::{Io, Op};
use crate::file_assignment::slot_bytes;
use crate::verify::{MAGIC, WriteVerifier};

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
