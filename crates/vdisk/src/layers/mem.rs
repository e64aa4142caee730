//! `mem`: a device in memory.
//!
//! Threads read and write the same memory at the same time, as they do with a real device, and
//! what overlapping writes leave behind is theirs to order. In Rust such a race is only defined
//! on atomics, so the memory is a slice of them, read and written with relaxed 8-byte accesses:
//! no lock, and on x86-64 and aarch64 the same plain moves as any other copy. A word is never
//! torn; anything larger can be.

use std::sync::atomic::{AtomicU64, Ordering};

use iotax_layers::Mem;
use memmap2::{Advice, MmapMut};

use crate::error::Error;
use crate::io::{Op, Parcel};
use crate::layer::{Base, BuildPlace, Flow, OpenLayer, Recipe};
use crate::memory;
use crate::stats::BackingFacts;

const NAME: &str = "mem";
const BLOCK_BYTES: u32 = 512;
const WORD_BYTES: usize = size_of::<AtomicU64>();

impl Recipe for Mem {
    fn build(&self, _place: &BuildPlace<'_>) -> Result<Box<dyn OpenLayer>, Error> {
        Error::check_size(NAME, self.size_bytes, BLOCK_BYTES)?;
        let len = memory::check(NAME, self.size_bytes)?;
        let memory = MmapMut::map_anon(len).map_err(|_| memory::lacking(NAME, len))?;
        // Fewer TLB misses where the kernel has huge pages to give; nothing depends on it.
        let _ = memory.advise(Advice::HugePage);
        Ok(Box::new(OpenMem { memory }))
    }
}

struct OpenMem {
    memory: MmapMut,
}

impl OpenMem {
    #[expect(clippy::cast_ptr_alignment, reason = "a mapping is aligned to pages")]
    fn words(&self, offset: u64, len: usize) -> &[AtomicU64] {
        let words = self.memory.as_ptr().cast::<AtomicU64>();
        // SAFETY: the mapping is aligned to pages and lives as long as `self`, and its length is
        // divided by the word size. AtomicU64 has the size and validity of u64, for which any
        // bytes will do. All accesses to the mapping go through this function, so all are atomic.
        let words = unsafe { std::slice::from_raw_parts(words, self.memory.len() / WORD_BYTES) };
        let start = usize::try_from(offset).expect("an offset inside the mapping") / WORD_BYTES;
        &words[start..start + len / WORD_BYTES]
    }

    fn read(&self, offset: u64, target: &mut [u8]) {
        let words = self.words(offset, target.len());
        for (word, bytes) in words.iter().zip(target.as_chunks_mut::<WORD_BYTES>().0) {
            *bytes = word.load(Ordering::Relaxed).to_ne_bytes();
        }
    }

    fn write(&self, offset: u64, payload: &[u8]) {
        let words = self.words(offset, payload.len());
        for (word, bytes) in words.iter().zip(payload.as_chunks::<WORD_BYTES>().0) {
            word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
        }
    }
}

impl OpenLayer for OpenMem {
    fn down(&self, mut io: Parcel) -> Flow {
        let offset = io.request.offset;
        match io.request.op {
            Op::Read => self.read(offset, io.target()),
            Op::Write => self.write(offset, io.payload()),
            Op::Flush => {}
        }
        Flow::Turn(io)
    }

    fn block_bytes(&self) -> u32 {
        BLOCK_BYTES
    }

    fn base(&self) -> Option<&dyn Base> {
        Some(self)
    }
}

impl Base for OpenMem {
    fn size_bytes(&self) -> u64 {
        self.memory.len() as u64
    }

    fn fill(&self, offset: u64, data: &[u8]) {
        self.write(offset, data);
    }

    fn waits(&self) -> bool {
        false
    }

    fn facts(&self) -> BackingFacts {
        BackingFacts::memory(self.size_bytes())
    }
}
