//! The I/O on its way through the layers, and the promise that none is ever lost.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use rustix::io::Errno;

use crate::clock::Clock;
use crate::handoff::Handoff;

/// What an I/O does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Device to buffer.
    Read,
    /// Buffer to device.
    Write,
    /// Everything written and completed so far becomes durable, where the base can promise that.
    Flush,
}

/// One I/O to do: operation and byte range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The operation.
    pub op: Op,
    /// First byte on the device; a multiple of the disk's block size.
    pub offset: u64,
    /// Bytes; a multiple of the disk's block size.
    pub len: usize,
}

impl Request {
    /// A read of `len` bytes at `offset`.
    pub const fn read(offset: u64, len: usize) -> Self {
        Self { op: Op::Read, offset, len }
    }

    /// A write of `len` bytes at `offset`.
    pub const fn write(offset: u64, len: usize) -> Self {
        Self { op: Op::Write, offset, len }
    }

    pub const fn flush() -> Self {
        Self { op: Op::Flush, offset: 0, len: 0 }
    }
}

/// The answer to one submitted request; there is exactly one for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The slot the request was submitted in; free again.
    pub slot: usize,
    /// Bytes transferred (fewer than asked for is a short read), or the error.
    pub result: Result<usize, Errno>,
    /// The instant on the disk's clock from which on the completion counts, nanoseconds: the time
    /// the real work was done plus the simulated time. 0 when no layer added simulated time: it
    /// counts at once, and no clock was read.
    pub ready_at_ns: u64,
}

/// Where worker threads hand back the finished I/Os of a submitter.
pub(crate) trait Port: Send + Sync {
    /// Takes a finished I/O: called once for each that a worker thread has finished or lost.
    fn arrive(&self, io: Box<Io>);
}

/// A submitter that picks its I/Os up itself.
impl Port for Handoff<Box<Io>> {
    fn arrive(&self, io: Box<Io>) {
        self.push(io);
    }
}

/// One preallocated I/O: reused for every request of its slot.
pub(crate) struct Io {
    pub(crate) request: Request,
    pub(crate) result: Result<usize, Errno>,
    /// Simulated time so far.
    pub(crate) extra_ns: u64,
    pub(crate) ready_at_ns: u64,
    /// A `tier` holds what is read: the layers below it charge nothing. Cleared on the way up.
    pub(crate) passes_free: bool,
    pub(crate) slot: usize,
    /// Index of the lowest layer reached.
    pub(crate) deepest: usize,
    /// One word per layer, for what it must remember between down and up.
    pub(crate) notes: Box<[u64]>,
    /// The submitter's buffer. Layers write to it in reads only.
    pub(crate) data: AlignedBuffer,
    scratch: AlignedBuffer,
    /// A layer has transformed the data to be written: the payload is in `scratch`.
    in_scratch: bool,
    port: Arc<dyn Port>,
    clock: Arc<dyn Clock>,
}

impl Io {
    pub(crate) fn new(
        slot: usize,
        layers: usize,
        data_bytes: usize,
        scratch_bytes: usize,
        port: Arc<dyn Port>,
        clock: Arc<dyn Clock>,
    ) -> Option<Self> {
        Some(Self {
            request: Request::flush(),
            result: Ok(0),
            extra_ns: 0,
            ready_at_ns: 0,
            passes_free: false,
            slot,
            deepest: 0,
            notes: vec![0; layers].into_boxed_slice(),
            data: AlignedBuffer::zeroed(data_bytes)?,
            scratch: AlignedBuffer::zeroed(scratch_bytes)?,
            in_scratch: false,
            port,
            clock,
        })
    }

    pub(crate) fn start(&mut self, request: Request) {
        self.request = request;
        self.result = Ok(request.len);
        self.extra_ns = 0;
        self.ready_at_ns = 0;
        self.passes_free = false;
        self.deepest = self.notes.len() - 1;
        self.in_scratch = false;
    }

    /// The bytes to write, as the layers above have left them.
    pub(crate) fn payload(&self) -> &[u8] {
        let buffer = if self.in_scratch { &self.scratch } else { &self.data };
        &buffer.bytes()[..self.request.len]
    }

    /// The part of the buffer that a read fills.
    pub(crate) fn target(&mut self) -> &mut [u8] {
        &mut self.data.bytes_mut()[..self.request.len]
    }

    /// Transforms the payload into the scratch buffer, never in the submitter's. `transform` gets
    /// the source, or `None` if a layer above has transformed it already: then in place.
    pub(crate) fn transform_payload(&mut self, transform: impl FnOnce(Option<&[u8]>, &mut [u8])) {
        let len = self.request.len;
        let source = (!self.in_scratch).then(|| &self.data.bytes()[..len]);
        transform(source, &mut self.scratch.bytes_mut()[..len]);
        self.in_scratch = true;
    }

    /// Called once, when the walk is over, by the thread that ended it.
    pub(crate) fn stamp(&mut self) {
        if self.extra_ns > 0 {
            self.ready_at_ns = self.clock.now_ns().saturating_add(self.extra_ns);
        }
    }

    pub(crate) fn completion(&self) -> Completion {
        Completion { slot: self.slot, result: self.result, ready_at_ns: self.ready_at_ns }
    }
}

/// Sole owner of an I/O under way.
///
/// Dropping it without [`Parcel::into_io`] fails the I/O with `EIO` and hands it back, so that a
/// panic in a layer or a queue that is torn down never leaves a submitter waiting.
pub(crate) struct Parcel(Option<Box<Io>>);

const HELD: &str = "a parcel holds its I/O until the parcel is consumed";

impl Parcel {
    pub(crate) fn new(io: Box<Io>) -> Self {
        Self(Some(io))
    }

    /// Ends the walk on the submitter's own thread.
    pub(crate) fn into_io(mut self) -> Box<Io> {
        self.0.take().expect(HELD)
    }

    /// Ends the walk on a worker thread.
    pub(crate) fn deliver(self) {
        let mut io = self.into_io();
        io.stamp();
        let port = Arc::clone(&io.port);
        port.arrive(io);
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        if let Some(mut io) = self.0.take() {
            io.result = Err(Errno::IO);
            let port = Arc::clone(&io.port);
            port.arrive(io);
        }
    }
}

impl Deref for Parcel {
    type Target = Io;

    fn deref(&self) -> &Io {
        self.0.as_deref().expect(HELD)
    }
}

impl DerefMut for Parcel {
    fn deref_mut(&mut self) -> &mut Io {
        self.0.as_deref_mut().expect(HELD)
    }
}

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
    /// At least `len_bytes` bytes, rounded up to whole pages; `None` if there is no memory for
    /// that.
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
mod buffer_tests {
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
