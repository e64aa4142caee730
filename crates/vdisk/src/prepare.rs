//! Filling a new disk with data that does not compress, dedupe or read as a hole.

use std::sync::atomic::{AtomicBool, Ordering};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::disk::VirtualDisk;
use crate::xts;

const CHUNK_BYTES: usize = 1 << 20;

impl VirtualDisk {
    /// Writes random data to every block of a disk in memory, below all layers (random data stays
    /// random when an `aes` layer decrypts it), without simulated time. A file is left alone.
    ///
    /// Reading what was never written measures nothing: all of untouched memory is one page. The
    /// data differ from disk to disk, so that two arms do not dedupe.
    ///
    /// `progress` is called with bytes done and bytes in all, after each MiB; setting `stop` ends it
    /// at the next, and it returns false. Call it before I/O starts: it overwrites.
    pub fn fill_memory(&self, mut progress: impl FnMut(u64, u64), stop: &AtomicBool) -> bool {
        let base = self.0.base();
        if !base.facts().created {
            return true;
        }
        let size_bytes = self.size_bytes();
        let mut seed = [0; 32];
        xts::random(&mut seed);
        let mut random = Xoshiro256PlusPlus::from_seed(seed);
        let mut buffer = vec![0; CHUNK_BYTES];
        for offset in (0..size_bytes).step_by(CHUNK_BYTES) {
            if stop.load(Ordering::Relaxed) {
                return false;
            }
            let left = usize::try_from(size_bytes - offset).unwrap_or(usize::MAX);
            let chunk = &mut buffer[..left.min(CHUNK_BYTES)];
            random.fill_bytes(chunk);
            base.fill(offset, chunk);
            progress(offset + chunk.len() as u64, size_bytes);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use iotax_layers::{File, Layer, Mem};

    use super::*;
    use crate::{ManualClock, Session};

    fn open(layer: Layer) -> VirtualDisk {
        VirtualDisk::open(&[layer], Arc::new(ManualClock::default())).unwrap()
    }

    #[test]
    fn every_block_is_written_and_no_two_are_alike() {
        let size_bytes = (2 << 20) + 512;
        let (disk, mut last) = (open(Layer::Mem(Mem { size_bytes })), 0);
        let progress = |done, total| {
            assert!(done > last && total == size_bytes);
            last = done;
        };
        assert!(disk.fill_memory(progress, &AtomicBool::new(false)));
        assert_eq!(last, size_bytes);
        let mut session = Session::new(&disk, 1, 512).unwrap();
        let blocks = (0..size_bytes).step_by(512).map(|offset| {
            let mut block = [0; 512];
            session.read_at(offset, &mut block).unwrap();
            block.to_vec()
        });
        assert_eq!(blocks.collect::<HashSet<_>>().len() as u64, size_bytes / 512);
    }

    #[test]
    fn it_stops_when_told_to() {
        let disk = open(Layer::Mem(Mem { size_bytes: 4 << 20 }));
        let stop = AtomicBool::new(false);
        let stop_after_two = |done, _| stop.store(done >= 2 << 20, Ordering::Relaxed);
        assert!(!disk.fill_memory(stop_after_two, &stop));
        let mut session = Session::new(&disk, 1, 4096).unwrap();
        let mut block = [1; 4096];
        session.read_at(2 << 20, &mut block).unwrap();
        assert_eq!(block, [0; 4096]);
    }

    #[test]
    fn a_file_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        std::fs::write(&path, [4; 8192]).unwrap();
        let file = File { path: Some(path.clone()), size_bytes: 8192, thin: false };
        let no_progress = |_, _| unreachable!("nothing to do");
        assert!(open(Layer::File(file)).fill_memory(no_progress, &AtomicBool::new(false)));
        assert_eq!(std::fs::read(path).unwrap(), [4; 8192]);
    }
}
