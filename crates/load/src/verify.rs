//! What is written: data that neither compresses nor dedupes, and that can be checked.

use crate::native::io::{Io, Outcome};

/// Granularity of stamps in written data, bytes.
pub const PAGE_BYTES: usize = 4096;

/// Starts every stamped page: how a file laid out by this crate is recognised.
pub const MAGIC: [u8; 8] = *b"iotax\x00\x01\xf7";

/// Prepares the data of every write of one thread.
pub struct Scribe {
    counter: u64,
}

impl Scribe {
    /// For one thread; `seed` tells its data from that of all others.
    pub fn new(seed: u64) -> Self {
        Self { counter: seed }
    }

    /// Makes `buffer`, which holds random data, unlike anything written before, in place: every
    /// page starts with the magic and a number that no page has had. False means that this write
    /// must not be issued now.
    #[inline]
    pub fn prepare(&mut self, io: Io, buffer: &mut [u8]) -> bool {
        for page in buffer[..io.bytes as usize].chunks_mut(PAGE_BYTES) {
            self.counter = self.counter.wrapping_add(0x9E37_79B9_7F4A_7C15);
            if let Some(stamp) = page.first_chunk_mut::<16>() {
                stamp[..8].copy_from_slice(&MAGIC);
                stamp[8..].copy_from_slice(&self.counter.to_le_bytes());
            }
        }
        true
    }

    /// A write is over.
    #[inline]
    pub fn wrote(&mut self, _io: Io, _outcome: Outcome) {}
}
