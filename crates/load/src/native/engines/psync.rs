//! `pread` and `pwrite`: one system call per I/O.

use std::fs::File;

use rustix::io::{Errno, pread, pwrite};

use super::{Deadline, Engine, Submitted, forget_pages};
use crate::native::access::Span;
use crate::native::buffers::Buffers;
use crate::native::io::{Io, Op, Outcome};

/// See the module.
pub struct Psync {
    files: Vec<File>,
    buffers: Buffers,
}

impl Psync {
    /// An engine on `files`.
    pub fn new(files: Vec<File>, buffers: Buffers) -> Self {
        Self { files, buffers }
    }
}

impl Engine for Psync {
    const SUBMIT_COSTS: bool = true;

    #[inline]
    fn submit(&mut self, slot: u32, io: Io) -> Submitted {
        let len = io.bytes as usize;
        let file = &self.files[usize::from(io.file)];
        let moved = loop {
            let result = match io.op {
                Op::Read => pread(file, &mut self.buffers.read_mut(slot)[..len], io.offset),
                Op::Write => pwrite(file, &self.buffers.write(slot)[..len], io.offset),
                Op::Sync => rustix::fs::fdatasync(file).map(|()| 0),
                Op::Pause | Op::Forget => unreachable!("no I/O"),
            };
            if result != Err(Errno::INTR) {
                break result;
            }
        };
        #[expect(clippy::cast_possible_truncation, reason = "moved at most io.bytes, a u32")]
        Submitted::Done(moved.map(|bytes| bytes as u32))
    }

    fn wait(&mut self, _: Deadline) {}

    fn reap(&mut self, _: u64, _: impl FnMut(u32, Outcome)) {}

    fn write_buffer(&mut self, slot: u32, bytes: u32) -> &mut [u8] {
        &mut self.buffers.write_mut(slot)[..bytes as usize]
    }

    fn read_buffer(&mut self, slot: u32) -> &[u8] {
        self.buffers.read(slot)
    }

    fn forget(&mut self, file: u16, span: Span) {
        forget_pages(&self.files[usize::from(file)], span);
    }
}
