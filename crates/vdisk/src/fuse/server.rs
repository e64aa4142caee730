//! From the kernel's requests to the stack's I/Os, and back.
//!
//! A request takes a slot, becomes an I/O of whole blocks, and walks the stack on the thread that
//! received it. Whichever thread ends the I/O answers the request: that one, a worker of a `queue`,
//! or, when there is simulated time to wait for, the one that holds I/Os back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_utils::CachePadded;
use fuser::{ReplyData, ReplyEmpty, ReplyWrite};
use rustix::io::Errno;

use super::held::Held;
use super::ranges::{Ranges, Touch};
use super::slots::Slots;
use crate::clock::Clock;
use crate::disk::VirtualDisk;
use crate::io::{Io, Parcel, Port, Request};
use crate::stack::Stack;
use crate::stats::Shard;

/// The largest request that is asked of the kernel, bytes; more than its usual limit of 256 pages
/// would not be granted.
pub(crate) const MAX_REQUEST_BYTES: u32 = 1 << 20;
/// Requests in flight at most; further ones wait in the kernel. With one buffer each they could
/// take 256 MiB, twice that with encryption.
pub(crate) const MAX_IN_FLIGHT: u16 = 256;

/// What a request waits for, and how it is answered.
enum Pending {
    /// The bytes asked for begin `skip` bytes into the I/O's first block.
    Read { skip: usize, len: usize, reply: ReplyData },
    /// As the read.
    Write { skip: usize, len: usize, reply: ReplyWrite },
    /// The read of a read, modify, write: `patch` belongs `skip` bytes into the blocks.
    Modify { skip: usize, patch: Vec<u8>, reply: ReplyWrite },
    /// Until it is written.
    Flush { reply: ReplyEmpty },
}

/// Serves the requests of one mount.
///
/// It holds the stack but not the disk, because the last to let go of it may be a worker thread of
/// the disk, and the disk waits for its workers when it closes.
pub(crate) struct Server {
    stack: Arc<Stack>,
    clock: Arc<dyn Clock>,
    size_bytes: u64,
    block_bytes: u64,
    read_only: bool,
    io_bytes: usize,
    scratch_bytes: usize,
    slots: Slots,
    /// By slot.
    pending: Box<[CachePadded<Mutex<Option<Pending>>>]>,
    /// By slot: whoever has the slot's I/O is the only one to count on its shard.
    shards: Box<[Arc<Shard>]>,
    /// Reads and writes.
    in_flight: Mutex<Ranges<Box<Io>>>,
    held: Held,
}

impl Server {
    pub(crate) fn new(disk: &VirtualDisk, read_only: bool) -> Self {
        let limit = usize::from(MAX_IN_FLIGHT);
        for queue in disk.0.stack.layers.iter().filter_map(|layer| layer.work_queue()) {
            queue.parcels.expect_more(limit);
        }
        let block_bytes = disk.block_bytes();
        // A request that begins and ends inside blocks touches two more than it has.
        let io_bytes = (MAX_REQUEST_BYTES + 2 * block_bytes) as usize;
        Self {
            stack: Arc::clone(&disk.0.stack),
            clock: Arc::clone(disk.clock()),
            size_bytes: disk.size_bytes(),
            block_bytes: u64::from(block_bytes),
            read_only,
            io_bytes,
            scratch_bytes: if disk.needs_scratch() { io_bytes } else { 0 },
            slots: Slots::new(limit),
            pending: (0..limit).map(|_| CachePadded::default()).collect(),
            shards: (0..limit).map(|_| disk.0.add_shard()).collect(),
            in_flight: Mutex::new(Ranges::new(limit)),
            held: Held::new(Arc::clone(disk.clock()), limit),
        }
    }

    /// The life of the thread that holds I/Os back.
    pub(crate) fn hold(&self) {
        self.held.run(|io| self.carry_on(|todo| self.answer(io, todo)));
    }

    /// Ends every wait: I/Os held back are answered now, and no more are held.
    pub(crate) fn release_held(&self) {
        self.held.close();
    }

    /// Waits for I/Os under way, once no more requests come, and leaves the disk.
    pub(crate) fn leave(&self, disk: &VirtualDisk) {
        self.slots.clear();
        for queue in self.stack.layers.iter().filter_map(|layer| layer.work_queue()) {
            queue.parcels.expect_fewer(usize::from(MAX_IN_FLIGHT));
        }
        self.shards.iter().for_each(|shard| disk.0.retire_shard(shard));
    }

    pub(crate) fn read(self: &Arc<Self>, offset: u64, len: u32, reply: ReplyData) {
        let end = self.size_bytes.min(offset.saturating_add(u64::from(len)));
        if offset >= end {
            return reply.data(&[]);
        }
        let (bytes, skip, len) = self.whole_blocks(offset, end);
        let mut io = self.slot();
        io.start(Request::read(bytes.start, length(&bytes)));
        self.expect(&io, Pending::Read { skip, len, reply });
        self.enter(io, Touch { bytes, alone: false });
    }

    pub(crate) fn write(self: &Arc<Self>, offset: u64, data: &[u8], reply: ReplyWrite) {
        if self.read_only {
            // The mount is read-only too, until somebody remounts it.
            return reply.error(fuser::Errno::EROFS);
        }
        if data.is_empty() {
            return reply.written(0);
        }
        let end = self.size_bytes.min(offset.saturating_add(data.len() as u64));
        if offset >= end {
            // What a block device answers to a write beyond its end.
            return reply.error(fuser::Errno::ENOSPC);
        }
        let (bytes, skip, len) = self.whole_blocks(offset, end);
        let data = &data[..len];
        let mut io = self.slot();
        let whole = length(&bytes) == len;
        let pending = if whole {
            io.start(Request::write(bytes.start, len));
            io.data.bytes_mut()[..len].copy_from_slice(data);
            Pending::Write { skip, len, reply }
        } else {
            // Everything is read, the blocks in the middle of a long write too: unaligned I/O has
            // to be right, not fast, and this way it is one read.
            io.start(Request::read(bytes.start, length(&bytes)));
            Pending::Modify { skip, patch: data.to_vec(), reply }
        };
        self.expect(&io, pending);
        self.enter(io, Touch { bytes, alone: !whole });
    }

    pub(crate) fn flush(self: &Arc<Self>, reply: ReplyEmpty) {
        let mut io = self.slot();
        io.start(Request::flush());
        self.expect(&io, Pending::Flush { reply });
        self.launch(io);
    }

    /// The blocks that hold the bytes from `offset` to `end`, where the bytes begin in them, and
    /// how many they are.
    fn whole_blocks(&self, offset: u64, end: u64) -> (std::ops::Range<u64>, usize, usize) {
        let start = offset & !(self.block_bytes - 1);
        let stop = end.next_multiple_of(self.block_bytes);
        (start..stop, length(&(start..offset)), length(&(offset..end)))
    }

    fn slot(self: &Arc<Self>) -> Box<Io> {
        self.slots.take(|slot| {
            let port = Arc::clone(self) as Arc<dyn Port>;
            let (io, scratch) = (self.io_bytes, self.scratch_bytes);
            let layers = self.stack.layers.len();
            let made = Io::new(slot, layers, io, scratch, port, Arc::clone(&self.clock));
            // The kernel's I/Os are of a MiB at most.
            Box::new(made.expect("memory for one I/O"))
        })
    }

    fn expect(&self, io: &Io, pending: Pending) {
        let mut expected = self.pending[io.slot].lock().unwrap_or_else(PoisonError::into_inner);
        *expected = Some(pending);
    }

    fn in_flight(&self) -> MutexGuard<'_, Ranges<Box<Io>>> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Launches `io` now, or when those are done that it must not meet.
    fn enter(&self, io: Box<Io>, touch: Touch) {
        let entered = self.in_flight().enter(io.slot, touch, io);
        if let Some(io) = entered {
            self.launch(io);
        }
    }

    fn launch(&self, io: Box<Io>) {
        self.carry_on(|todo| self.walk(io, todo));
    }

    /// Does `first`, and then walks the I/Os that it leaves to do: the write after the read of a
    /// read, modify, write, and I/Os that waited for another one.
    fn carry_on(&self, first: impl FnOnce(&mut Vec<Box<Io>>)) {
        let mut todo = Vec::new();
        first(&mut todo);
        while let Some(io) = todo.pop() {
            self.walk(io, &mut todo);
        }
    }

    /// Walks the stack. What panics there fails the I/O, which then arrives like one from a worker.
    fn walk(&self, io: Box<Io>, todo: &mut Vec<Box<Io>>) {
        let walked = catch_unwind(AssertUnwindSafe(|| self.stack.walk(Parcel::new(io))));
        if let Ok(Some(parcel)) = walked {
            let mut io = parcel.into_io();
            io.stamp();
            self.settle(io, todo);
        }
    }

    /// Counts a finished I/O, and answers it or holds it back.
    fn settle(&self, io: Box<Io>, todo: &mut Vec<Box<Io>>) {
        self.shards[io.slot].count(&io);
        if io.ready_at_ns == 0 {
            self.answer(io, todo);
        } else if let Err(io) = self.held.push(io) {
            self.answer(io, todo);
        }
    }

    /// Answers the request, and lets go of its range and slot: of the range before the answer, so
    /// that the next request to the same place need not wait for this one.
    fn answer(&self, io: Box<Io>, todo: &mut Vec<Box<Io>>) {
        let expected = &self.pending[io.slot];
        let pending = expected.lock().unwrap_or_else(PoisonError::into_inner).take();
        match pending.expect("every I/O in flight has a request waiting for it") {
            Pending::Read { skip, len, reply } => {
                self.in_flight().leave(io.slot, todo);
                match transferred(&io, skip, len) {
                    Ok(len) => reply.data(&io.data.bytes()[skip..skip + len]),
                    Err(errno) => reply.error(told(errno)),
                }
                self.slots.give(io);
            }
            Pending::Write { skip, len, reply } => {
                let result = transferred(&io, skip, len);
                self.end_write(io, result, reply, todo);
            }
            Pending::Modify { skip, patch, reply } => self.modify(io, skip, &patch, reply, todo),
            Pending::Flush { reply } => {
                match io.result {
                    Ok(_) => reply.ok(),
                    Err(errno) => reply.error(told(errno)),
                }
                self.slots.give(io);
            }
        }
    }

    /// Goes from the read to the write of a read, modify, write.
    fn modify(
        &self,
        mut io: Box<Io>,
        skip: usize,
        patch: &[u8],
        reply: ReplyWrite,
        todo: &mut Vec<Box<Io>>,
    ) {
        let Request { offset, len, .. } = io.request;
        match io.result {
            Ok(read) if read == len => {
                io.data.bytes_mut()[skip..skip + patch.len()].copy_from_slice(patch);
                io.start(Request::write(offset, len));
                self.expect(&io, Pending::Write { skip, len: patch.len(), reply });
                todo.push(io);
            }
            // Without the rest of the blocks they cannot be written.
            Ok(_) => self.end_write(io, Err(Errno::IO), reply, todo),
            Err(errno) => self.end_write(io, Err(errno), reply, todo),
        }
    }

    fn end_write(
        &self,
        io: Box<Io>,
        result: Result<usize, Errno>,
        reply: ReplyWrite,
        todo: &mut Vec<Box<Io>>,
    ) {
        self.in_flight().leave(io.slot, todo);
        match result.map(u32::try_from) {
            Ok(Ok(len)) => reply.written(len),
            Ok(Err(_)) => reply.error(fuser::Errno::EIO),
            Err(errno) => reply.error(told(errno)),
        }
        self.slots.give(io);
    }
}

/// Finished or lost by a worker thread.
impl Port for Server {
    fn arrive(&self, io: Box<Io>) {
        self.carry_on(|todo| self.settle(io, todo));
    }
}

/// How many of the `len` bytes, which begin `skip` bytes into the I/O, have been transferred.
fn transferred(io: &Io, skip: usize, len: usize) -> Result<usize, Errno> {
    io.result.map(|done| done.saturating_sub(skip).min(len))
}

fn told(errno: Errno) -> fuser::Errno {
    fuser::Errno::from_i32(errno.raw_os_error())
}

fn length(bytes: &std::ops::Range<u64>) -> usize {
    usize::try_from(bytes.end - bytes.start).expect("at most one request and two blocks")
}
