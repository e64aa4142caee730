//! `pread` and `pwrite`: one system call per I/O.

use std::fs::File;

use rustix::io::{Errno, pread, pwrite};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::engine::supplies::{Buffers, Trim};
use crate::engine::thread::Thread;
use crate::engine::{Engine, Io, Op, Submitted, forget_pages};
use crate::error::Error;
use crate::file_assignment::Span;

pub(crate) struct Psync {
    files: Vec<File>,
    buffers: Buffers,
    trim: Trim,
}

impl Psync {
    /// The engine of a thread, which is the one that calls this: see below.
    pub(crate) fn of(thread: &Thread<'_>) -> Result<Self, Error> {
        // With a descriptor table of its own, as a process of its own would have (fio forks), the
        // thread looks up its file without atomic operations on a counter: some 20 ns per call.
        //
        // SAFETY: what this thread opens from here on it uses and closes itself, before it ends;
        // what others have opened before stays valid in both tables; it is handed no descriptors
        // later.
        let own_table = unsafe { unshare_unsafe(UnshareFlags::FILES) };
        // A sandbox may forbid it; sharing the table is only slower.
        let _ = own_table;
        let files = thread.open()?;
        let trim = Trim::of(thread, &files)?;
        Ok(Self { files, buffers: thread.buffers()?, trim })
    }
}

impl Engine for Psync {
    const SUBMIT_COSTS: bool = true;

    #[inline]
    fn submit(&mut self, slot: u32, io: Io) -> Submitted {
        if io.op == Op::Trim {
            return Submitted::Done(self.trim.perform(&self.files[usize::from(io.file)], io));
        }
        let len = io.bytes as usize;
        let file = &self.files[usize::from(io.file)];
        let moved = loop {
            let result = match io.op {
                Op::Read => pread(file, &mut self.buffers.read_mut(slot)[..len], io.offset),
                Op::Write => pwrite(file, &self.buffers.write(slot)[..len], io.offset),
                Op::Sync => rustix::fs::fdatasync(file).map(|()| 0),
                Op::Trim | Op::Pause | Op::Forget => unreachable!("no I/O"),
            };
            if result != Err(Errno::INTR) {
                break result;
            }
        };
        #[expect(clippy::cast_possible_truncation, reason = "at most io.bytes, which is a u32")]
        Submitted::Done(moved.map(|bytes| bytes as u32))
    }

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
