//! Which bytes of the target are meant.

use super::buffers::PAGE_BYTES;

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
