//! Memory that is a device.
//!
//! Threads read and write the same memory at the same time, as they do with a real device, and
//! what overlapping writes leave behind is theirs to order. In Rust such a race is only defined
//! on atomics, so the memory is a slice of them, read and written with relaxed 8-byte accesses:
//! no lock, and on x86-64 and aarch64 the same plain moves as any other copy. A word is never
//! torn; anything larger can be.

use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapMut, MmapRaw};

const WORD_BYTES: usize = size_of::<AtomicU64>();

/// Nobody has a reference to its bytes: there is no `&mut` of what others change.
pub(crate) struct SharedMemory(MmapRaw);

impl SharedMemory {
    pub(crate) fn new(memory: MmapMut) -> Self {
        Self(memory.into())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    #[expect(clippy::cast_ptr_alignment, reason = "mappings are page-aligned")]
    fn words(&self, offset: u64, len: usize) -> &[AtomicU64] {
        let words = self.0.as_mut_ptr().cast::<AtomicU64>();
        // SAFETY: the mapping is aligned to pages and lives as long as `self`, and its length is
        // divided by the word size. AtomicU64 has the size and validity of u64, for which any
        // bytes will do. All accesses to the mapping go through this function, so all are atomic.
        let words = unsafe { std::slice::from_raw_parts(words, self.0.len() / WORD_BYTES) };
        let start = usize::try_from(offset).expect("the offset is inside the mapping") / WORD_BYTES;
        &words[start..start + len / WORD_BYTES]
    }

    pub(crate) fn read(&self, offset: u64, target: &mut [u8]) {
        let words = self.words(offset, target.len());
        for (word, bytes) in words.iter().zip(target.as_chunks_mut::<WORD_BYTES>().0) {
            *bytes = word.load(Ordering::Relaxed).to_ne_bytes();
        }
    }

    pub(crate) fn write(&self, offset: u64, payload: &[u8]) {
        let words = self.words(offset, payload.len());
        for (word, bytes) in words.iter().zip(payload.as_chunks::<WORD_BYTES>().0) {
            word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also under miri, which knows of races and of pointers that are not good for what they do.
    #[test]
    fn threads_may_race_for_the_same_words_and_none_is_torn() {
        let memory = SharedMemory::new(MmapMut::map_anon(4096).unwrap());
        std::thread::scope(|scope| {
            for byte in [1, 2] {
                let memory = &memory;
                scope.spawn(move || memory.write(512, &[byte; 64]));
            }
            let mut read = [0; 64];
            memory.read(512, &mut read);
            assert!(read.as_chunks::<8>().0.iter().all(|word| *word == [word[0]; 8]));
        });
        let mut read = [0; 4096];
        memory.read(0, &mut read);
        assert!(read[512..576].iter().all(|byte| [1, 2].contains(byte)));
        assert!(read[..512].iter().chain(&read[576..]).all(|byte| *byte == 0));
    }
}
