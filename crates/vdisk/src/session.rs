//! A session: one thread's way to submit I/O.

use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;

use crate::disk::VirtualDisk;
use crate::error::Error;
use crate::handoff::Handoff;
use crate::io::{Completion, Io, Op, Parcel, Port, Request};
use crate::stats::Shard;

const MAX_DEPTH: usize = 65_536;

/// The result of submitting a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the completion of a finished request is returned only here"]
pub enum Submitted {
    /// It is finished, and the slot is free.
    Done(Completion),
    /// A worker thread has it; [`Session::poll`] or [`Session::wait`] will return its completion.
    InFlight,
}

/// One thread's submitter: `depth` slots, each with its own buffer and everything an I/O needs on
/// its way, allocated once.
///
/// A slot is free, or has one request in flight. A stack without `queue` finishes every request
/// inside [`Session::submit`]; simulated time is left to the submitter, which holds a completion
/// back until [`Completion::ready_at_ns`]. Dropping a session abandons what is in flight.
pub struct Session {
    disk: VirtualDisk,
    /// `None` while in flight.
    slots: Box<[Option<Box<Io>>]>,
    port: Arc<Handoff<Box<Io>>>,
    shard: Arc<Shard>,
    in_flight: usize,
    max_io_bytes: usize,
}

impl Session {
    /// A session on `disk` with `depth` slots for I/Os of up to `max_io_bytes`, which must be a
    /// multiple of the disk's block size.
    pub fn new(disk: &VirtualDisk, depth: usize, max_io_bytes: usize) -> Result<Self, Error> {
        if depth == 0 || depth > MAX_DEPTH {
            return Err(Error::Depth { depth, max: MAX_DEPTH });
        }
        let block_bytes = disk.block_bytes();
        if max_io_bytes == 0 || !max_io_bytes.is_multiple_of(block_bytes as usize) {
            return Err(Error::IoSize { max_io_bytes, block_bytes });
        }
        let layers = &disk.0.stack.layers;
        for queue in layers.iter().filter_map(|layer| layer.work_queue()) {
            queue.parcels.expect_more(depth);
        }
        let port = Arc::new(Handoff::with_capacity(depth));
        let scratch_bytes = if disk.needs_scratch() { max_io_bytes } else { 0 };
        let no_memory = || Error::NoMemoryForIo { depth, io_bytes: max_io_bytes };
        let slots = (0..depth)
            .map(|slot| {
                let port = Arc::clone(&port) as Arc<dyn Port>;
                let clock = Arc::clone(disk.clock());
                let io = Io::new(slot, layers.len(), max_io_bytes, scratch_bytes, port, clock);
                io.map(|io| Some(Box::new(io))).ok_or_else(no_memory)
            })
            .collect::<Result<_, _>>()?;
        let shard = disk.0.add_shard();
        Ok(Self { disk: disk.clone(), slots, port, shard, in_flight: 0, max_io_bytes })
    }

    /// Number of slots.
    pub fn depth(&self) -> usize {
        self.slots.len()
    }

    /// Number of slots whose request is in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// The disk this session submits to.
    pub fn disk(&self) -> &VirtualDisk {
        &self.disk
    }

    /// A free slot's buffer, page-aligned: what the last read of this slot returned.
    ///
    /// # Panics
    /// If the slot is in flight or does not exist.
    pub fn buffer(&self, slot: usize) -> &[u8] {
        let io = self.slots[slot].as_deref().expect(IN_FLIGHT);
        &io.data.bytes()[..self.max_io_bytes]
    }

    /// A free slot's buffer: the first `len` bytes are what a write of this slot writes. No layer
    /// changes it in a write.
    ///
    /// # Panics
    /// If the slot is in flight or does not exist.
    pub fn buffer_mut(&mut self, slot: usize) -> &mut [u8] {
        let io = self.slots[slot].as_deref_mut().expect(IN_FLIGHT);
        &mut io.data.bytes_mut()[..self.max_io_bytes]
    }

    /// Starts `request` in a free slot. Never waits.
    ///
    /// A range that is unaligned, larger than the buffer or not inside the device is answered
    /// with `EINVAL`, a write to a disk opened for reading only with `EROFS`.
    ///
    /// # Panics
    /// If the slot is in flight or does not exist.
    pub fn submit(&mut self, slot: usize, request: Request) -> Submitted {
        let mut io = self.slots[slot].take().expect(IN_FLIGHT);
        io.start(request);
        if let Err(errno) = self.check(request) {
            io.result = Err(errno);
            let completion = io.completion();
            self.slots[slot] = Some(io);
            return Submitted::Done(completion);
        }
        if let Some(parcel) = self.disk.0.stack.walk(Parcel::new(io)) {
            let mut io = parcel.into_io();
            io.stamp();
            Submitted::Done(self.pick_up(io))
        } else {
            self.in_flight += 1;
            Submitted::InFlight
        }
    }

    /// The completion of a request in flight, if one has finished. Never waits.
    pub fn poll(&mut self) -> Option<Completion> {
        if self.in_flight == 0 {
            return None;
        }
        let io = self.port.try_take()?;
        Some(self.land(io))
    }

    /// Sleeps until a request in flight has finished; `None` if none is in flight.
    pub fn wait(&mut self) -> Option<Completion> {
        if self.in_flight == 0 {
            return None;
        }
        let io = self.port.take()?;
        Some(self.land(io))
    }

    /// Sleeps until a request in flight has finished, at most until the disk's clock reads
    /// `deadline_ns`. `None` if none is in flight, or none finished by then.
    ///
    /// Wakes up as late as a condition variable does, by some ten microseconds: to hit the
    /// deadline itself, come back earlier and use [`Clock::sleep_until`](crate::Clock).
    pub fn wait_until(&mut self, deadline_ns: u64) -> Option<Completion> {
        if self.in_flight == 0 {
            return None;
        }
        let left_ns = deadline_ns.saturating_sub(self.disk.clock().now_ns());
        let io = self.port.take_within(Duration::from_nanos(left_ns))?;
        Some(self.land(io))
    }

    /// Reads into `buffer` and waits until the completion counts; returns the bytes read. Uses
    /// slot 0, with nothing else in flight.
    ///
    /// # Panics
    /// If a request is in flight.
    pub fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
        let len = self.run(Request::read(offset, buffer.len()))?;
        buffer[..len].copy_from_slice(&self.buffer(0)[..len]);
        Ok(len)
    }

    /// Writes `data` and waits until the completion counts; returns the bytes written. Uses slot
    /// 0, with nothing else in flight.
    ///
    /// # Panics
    /// If a request is in flight.
    pub fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<usize, Errno> {
        let buffer = self.buffer_mut(0);
        buffer.get_mut(..data.len()).ok_or(Errno::INVAL)?.copy_from_slice(data);
        self.run(Request::write(offset, data.len()))
    }

    /// Flushes and waits until the completion counts. Uses slot 0, with nothing else in flight.
    ///
    /// # Panics
    /// If a request is in flight.
    pub fn flush(&mut self) -> Result<(), Errno> {
        self.run(Request::flush()).map(drop)
    }

    fn run(&mut self, request: Request) -> Result<usize, Errno> {
        assert_eq!(self.in_flight, 0, "blocking I/O requires a session with no requests in flight");
        let completion = match self.submit(0, request) {
            Submitted::Done(completion) => completion,
            Submitted::InFlight => self.wait().expect("a request is in flight"),
        };
        if completion.ready_at_ns > 0 {
            self.disk.clock().sleep_until(completion.ready_at_ns);
        }
        completion.result
    }

    fn check(&self, request: Request) -> Result<(), Errno> {
        if request.op == Op::Flush {
            return Ok(());
        }
        let block_bytes = u64::from(self.disk.block_bytes());
        let len_bytes = request.len as u64;
        let end = request.offset.checked_add(len_bytes).ok_or(Errno::INVAL)?;
        let aligned = (request.offset | len_bytes) & (block_bytes - 1) == 0;
        let fits = 0 < request.len && request.len <= self.max_io_bytes;
        if aligned && fits && end <= self.disk.size_bytes() { Ok(()) } else { Err(Errno::INVAL) }
    }

    fn land(&mut self, io: Box<Io>) -> Completion {
        self.in_flight -= 1;
        self.pick_up(io)
    }

    fn pick_up(&mut self, io: Box<Io>) -> Completion {
        self.shard.count(&io);
        let completion = io.completion();
        self.slots[completion.slot] = Some(io);
        completion
    }
}

const IN_FLIGHT: &str = "the slot's request is still in flight";

impl Drop for Session {
    fn drop(&mut self) {
        let layers = &self.disk.0.stack.layers;
        for queue in layers.iter().filter_map(|layer| layer.work_queue()) {
            queue.parcels.expect_fewer(self.depth());
        }
        self.disk.0.retire_shard(&self.shard);
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("disk", &self.disk)
            .field("depth", &self.depth())
            .field("in_flight", &self.in_flight)
            .finish_non_exhaustive()
    }
}
