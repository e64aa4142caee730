//! Page-aligned buffers, as `O_DIRECT` and wide vector instructions want them.

use bytemuck::{Pod, Zeroable};

/// Alignment and granularity of every I/O buffer, bytes.
pub(crate) const PAGE_BYTES: usize = 4096;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(4096))]
struct Page([u8; PAGE_BYTES]);

/// A zeroed buffer whose address is a multiple of [`PAGE_BYTES`].
pub(crate) struct AlignedBuffer {
    pages: Vec<Page>,
}

impl AlignedBuffer {
    /// At least `len_bytes` bytes, rounded up to whole pages; `None` if there is no memory for that.
    pub(crate) fn zeroed(len_bytes: usize) -> Option<Self> {
        let pages = bytemuck::try_zeroed_vec(len_bytes.div_ceil(PAGE_BYTES)).ok()?;
        Some(Self { pages })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.pages)
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_page_aligned_zeroed_and_whole_pages() {
        for len in [0, 1, 512, 4096, 4097] {
            let buffer = AlignedBuffer::zeroed(len).unwrap();
            assert_eq!(buffer.bytes().as_ptr().addr() % PAGE_BYTES, 0);
            assert_eq!(buffer.bytes().len(), len.div_ceil(PAGE_BYTES) * PAGE_BYTES);
            assert!(buffer.bytes().iter().all(|&byte| byte == 0));
        }
        assert!(AlignedBuffer::zeroed(isize::MAX as usize / 2).is_none());
    }
}
