//! Completes every I/O at once: measures the load generator itself.

use crate::engine::supplies::Buffers;
use crate::engine::thread::Thread;
use crate::engine::{Engine, Io, Submitted};
use crate::error::Error;

pub(crate) struct Null {
    buffers: Buffers,
}

impl Null {
    /// The engine of a thread.
    pub(crate) fn of(thread: &Thread<'_>) -> Result<Self, Error> {
        Ok(Self::new(thread.buffers()?))
    }

    /// An engine with the given buffers, of which only the write stamps are used.
    pub(crate) fn new(buffers: Buffers) -> Self {
        Self { buffers }
    }
}

impl Engine for Null {
    const SUBMIT_COSTS: bool = true;

    #[inline]
    fn submit(&mut self, _: u32, io: Io) -> Submitted {
        Submitted::Done(Ok(io.bytes))
    }

    fn write_buffer(&mut self, slot: u32, bytes: u32) -> &mut [u8] {
        &mut self.buffers.write_mut(slot)[..bytes as usize]
    }

    fn read_buffer(&mut self, slot: u32) -> &[u8] {
        self.buffers.read(slot)
    }
}
