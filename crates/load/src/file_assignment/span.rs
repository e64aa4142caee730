//! Which bytes of a target are meant, and in which units they are.

/// Of memory, and of stamps in written data.
pub(crate) const PAGE_BYTES: usize = 4096;

/// Of each unit of data that is verified: magic, run and writer, offset, number of the write,
/// checksum of the unit without it.
pub(crate) const HEADER_BYTES: usize = 32;

/// A stretch of the target that a thread's offsets stay in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// First byte.
    pub start: u64,
    /// Length in bytes; at least the largest block.
    pub bytes: u64,
}

impl Span {
    /// The pages that it touches.
    pub(crate) fn in_pages(self) -> Self {
        let page = PAGE_BYTES as u64;
        let start = self.start - self.start % page;
        Self { start, bytes: (self.start + self.bytes - start).next_multiple_of(page) }
    }
}

/// The largest power of two that divides both a granule and a page.
pub(crate) fn unit_bytes(granule: u64) -> u32 {
    1 << granule.trailing_zeros().min(PAGE_BYTES.trailing_zeros())
}

/// Whether units of such a granule have room for headers.
pub(crate) fn can_verify(granule: u64) -> bool {
    granule > 0 && unit_bytes(granule) as usize > HEADER_BYTES
}
