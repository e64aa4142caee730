//! Filling a new disk with data that does not compress, dedupe or read as a hole.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::buffer::AlignedBuffer;
use crate::disk::VirtualDisk;
use crate::error::Error;
use crate::xts;

const CHUNK_BYTES: usize = 1 << 20;

/// What [`VirtualDisk::prepare`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prepared {
    /// Every block now holds random data.
    Filled,
    /// Nothing: the file existed before, and its content is the user's.
    KeptExisting,
    /// It was told to stop half-way.
    Cancelled,
}

impl VirtualDisk {
    /// Writes random data to every block of a new disk, below all layers (random data stays random
    /// when an `aes` layer decrypts it), without simulated time, and makes it durable.
    ///
    /// Reading what was never written measures nothing: a hole in a file needs no device, and all
    /// of untouched memory is one page. The data differ from disk to disk, so that two arms do not
    /// dedupe. An existing file is left alone.
    ///
    /// `progress` is called with bytes done and bytes in all, after each MiB; setting `cancel`
    /// stops at the next. Call it before I/O starts: it overwrites.
    pub fn prepare(
        &self,
        mut progress: impl FnMut(u64, u64),
        cancel: &AtomicBool,
    ) -> Result<Prepared, Error> {
        let base = self.0.base();
        if !base.facts().created {
            return Ok(Prepared::KeptExisting);
        }
        let size_bytes = self.size_bytes();
        let failed = |offset, source| Error::Fill {
            path: base.facts().path.unwrap_or_else(|| PathBuf::from(self.to_string())),
            offset,
            source,
        };
        let mut seed = [0; 32];
        xts::random(&mut seed);
        let mut random = Xoshiro256PlusPlus::from_seed(seed);
        let mut buffer = AlignedBuffer::zeroed(CHUNK_BYTES)
            .ok_or_else(|| failed(0, rustix::io::Errno::NOMEM))?;
        for offset in (0..size_bytes).step_by(CHUNK_BYTES) {
            if cancel.load(Ordering::Relaxed) {
                return Ok(Prepared::Cancelled);
            }
            let left = usize::try_from(size_bytes - offset).unwrap_or(usize::MAX);
            let chunk = &mut buffer.bytes_mut()[..left.min(CHUNK_BYTES)];
            random.fill_bytes(chunk);
            base.fill(offset, chunk).map_err(|errno| failed(offset, errno))?;
            progress(offset + chunk.len() as u64, size_bytes);
        }
        base.sync().map_err(|errno| failed(size_bytes, errno))?;
        Ok(Prepared::Filled)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use super::*;
    use crate::{FileConfig, LayerConfig, ManualClock, MemConfig, Session};

    fn open(layer: LayerConfig) -> VirtualDisk {
        VirtualDisk::open(&[layer], Arc::new(ManualClock::default())).unwrap()
    }

    #[test]
    fn every_block_is_written_and_no_two_are_alike() {
        let dir = tempfile::tempdir().unwrap();
        let (path, size_bytes) = (None, (2 << 20) + 512);
        let dir = dir.path().to_owned();
        let file = FileConfig { path, dir, size_bytes: Some(size_bytes), direct: false };
        let layers = [LayerConfig::Mem(MemConfig { size_bytes }), LayerConfig::File(file)];
        let mut blocks = HashSet::new();
        let mut count = 0;
        for layer in layers {
            let disk = open(layer);
            let mut last = 0;
            let progress = |done, total| {
                assert!(done > last && total == size_bytes);
                last = done;
            };
            let prepared = disk.prepare(progress, &AtomicBool::new(false)).unwrap();
            assert_eq!((prepared, last), (Prepared::Filled, size_bytes));
            let mut session = Session::new(&disk, 1, 512).unwrap();
            for offset in (0..size_bytes).step_by(512) {
                let mut block = [0; 512];
                session.read_at(offset, &mut block).unwrap();
                blocks.insert(block.to_vec());
                count += 1;
            }
        }
        assert_eq!(blocks.len(), count);
    }

    #[test]
    fn it_stops_when_told_to() {
        let disk = open(LayerConfig::Mem(MemConfig { size_bytes: 4 << 20 }));
        let cancel = AtomicBool::new(false);
        let stop_after_two = |done, _| cancel.store(done >= 2 << 20, Ordering::Relaxed);
        assert_eq!(disk.prepare(stop_after_two, &cancel).unwrap(), Prepared::Cancelled);
        let mut session = Session::new(&disk, 1, 4096).unwrap();
        let mut block = [1; 4096];
        session.read_at(2 << 20, &mut block).unwrap();
        assert_eq!(block, [0; 4096]);
    }

    #[test]
    fn an_existing_file_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        std::fs::write(&path, [4; 8192]).unwrap();
        let (dir, size_bytes) = (dir.path().to_owned(), Some(8192));
        let file = FileConfig { path: Some(path.clone()), dir, size_bytes, direct: false };
        let disk = open(LayerConfig::File(file));
        let no_progress = |_, _| unreachable!("nothing to do");
        let prepared = disk.prepare(no_progress, &AtomicBool::new(false)).unwrap();
        assert_eq!(prepared, Prepared::KeptExisting);
        assert_eq!(std::fs::read(path).unwrap(), [4; 8192]);
    }
}
