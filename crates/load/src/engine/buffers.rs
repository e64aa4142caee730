//! The memory that I/Os move to and from.

use memmap2::MmapMut;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use crate::error::Error;
use crate::file_assignment::PAGE_BYTES;

/// Buffers are whole pages at page boundaries, which satisfies `O_DIRECT` on every device whose
/// logical blocks are at most a page long.
///
/// One read buffer and one write buffer per slot. They are apart so that a write never sends what
/// a read has just fetched, which may be compressible.
pub(crate) struct Buffers {
    memory: MmapMut,
    /// Distance between slots, bytes.
    stride: usize,
    /// Of all write buffers from the start of the memory; 0 if there are none.
    writes_at: usize,
}

impl Buffers {
    /// Buffers of at least `block_bytes` for `slots` slots; the write buffers hold random data.
    pub(crate) fn new(
        slots: u32,
        block_bytes: u32,
        reads: bool,
        writes: bool,
        seed: u64,
    ) -> Result<Self, Error> {
        let stride = (block_bytes as usize).next_multiple_of(PAGE_BYTES);
        let one_kind = stride * slots as usize;
        let writes_at = if reads { one_kind } else { 0 };
        let total = writes_at + if writes { one_kind } else { 0 };
        let mut memory = MmapMut::map_anon(total.max(stride))
            .map_err(|source| Error::Memory { bytes: total as u64, source })?;
        // Touch every page now: a first touch inside the measurement would be a page fault.
        if writes {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            rng.fill_bytes(&mut memory[writes_at..]);
        }
        if reads {
            memory[..writes_at].fill(0xA5);
        }
        Ok(Self { memory, stride, writes_at })
    }

    /// All buffers, one each: first the read buffers by slot, then the write buffers. For
    /// registration with the kernel, which keeps the addresses as long as `self` lives.
    pub(crate) fn io_vectors(&mut self) -> Vec<libc::iovec> {
        let chunks = self.memory.chunks_mut(self.stride);
        chunks
            .map(|chunk| libc::iovec { iov_base: chunk.as_mut_ptr().cast(), iov_len: chunk.len() })
            .collect()
    }

    /// Index of the first write buffer among [`Buffers::io_vectors`].
    #[inline]
    pub(crate) fn first_write_vector(&self, slots: u16) -> u16 {
        if self.writes_at == 0 { 0 } else { slots }
    }

    /// What a read of `slot` fetched.
    #[inline]
    pub(crate) fn read(&self, slot: u32) -> &[u8] {
        let at = slot as usize * self.stride;
        &self.memory[at..at + self.stride]
    }

    /// Where a read of `slot` goes.
    #[inline]
    pub(crate) fn read_mut(&mut self, slot: u32) -> &mut [u8] {
        let at = slot as usize * self.stride;
        &mut self.memory[at..at + self.stride]
    }

    /// What a write of `slot` sends.
    #[inline]
    pub(crate) fn write(&self, slot: u32) -> &[u8] {
        let at = self.writes_at + slot as usize * self.stride;
        &self.memory[at..at + self.stride]
    }

    /// Where to put what a write of `slot` is to send.
    #[inline]
    pub(crate) fn write_mut(&mut self, slot: u32) -> &mut [u8] {
        let at = self.writes_at + slot as usize * self.stride;
        &mut self.memory[at..at + self.stride]
    }
}
