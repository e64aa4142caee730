//! An in-process virtual disk.
//!
//! The disk does the real work of an I/O inside `submit` or on its own threads, and returns the
//! instant from which the completion counts. This engine holds completions back until then.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use iotax_vdisk::{Clock, Completion, Request, Session, VirtualDisk};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use rustix::io::Errno;

use crate::engine::thread::{SEED_OF_DATA, Thread};
use crate::engine::{Deadline, Engine, Io, Op, Outcome, Submitted};
use crate::error::Error;

/// The last stretch before an instant is spun through, because a sleeping thread is woken late:
/// by 20 to 60 us in a virtual machine.
const SPIN_NS: u64 = 60_000;

pub(crate) struct Vdisk {
    session: Session,
    clock: Arc<dyn Clock>,
    /// Completions kept back, the earliest on top: (instant, slot).
    held: BinaryHeap<Reverse<(u64, usize)>>,
    /// By slot: the outcome of a completion that is kept back.
    outcomes: Box<[Outcome]>,
    /// What a write may find in its buffer is what a read has fetched, which may compress; in a
    /// mixed load each write is copied from here.
    random: Option<Box<[u8]>>,
}

impl Vdisk {
    /// The engine of a thread on a disk.
    pub(crate) fn of(thread: &Thread<'_>, disk: &VirtualDisk) -> Result<Self, Error> {
        let job = thread.job;
        if job.write_through {
            let what = format!(
                "{disk} does not support write-through; leave out `write-through`, or use \
                 `fsync-every = 1`"
            );
            return Err(Error::unsuitable(job, what));
        }
        if job.trims.is_some() {
            let what = format!(
                "{disk} is simulated inside iotax and does not support trim; choose a directory or \
                 a block device"
            );
            return Err(Error::unsuitable(job, what));
        }
        let smallest = job.granule_bytes();
        if !smallest.is_multiple_of(disk.block_bytes().into()) {
            let what = format!(
                "block sizes or offsets in multiples of {smallest} bytes do not fit the {}-byte \
                 units of {disk}; use multiples of the unit size",
                disk.block_bytes()
            );
            return Err(Error::unsuitable(job, what));
        }
        let block_bytes = job.max_block_bytes();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(thread.seed ^ SEED_OF_DATA);
        let reads = job.reads() || job.verify_every.is_some();
        let random = (reads && job.writes()).then(|| {
            let mut data = vec![0; block_bytes as usize].into_boxed_slice();
            rng.fill_bytes(&mut data);
            data
        });
        let mut engine =
            Self::new(disk, thread.depth(), block_bytes, random).map_err(|source| Error::Disk {
                job: job.name.clone(),
                disk: disk.to_string(),
                source,
            })?;
        engine.fill_buffers(|buffer| rng.fill_bytes(buffer));
        Ok(engine)
    }

    /// An engine on `disk`. `random` is data for writes that share their buffers with reads.
    pub(crate) fn new(
        disk: &VirtualDisk,
        depth: u32,
        block_bytes: u32,
        random: Option<Box<[u8]>>,
    ) -> Result<Self, iotax_vdisk::Error> {
        // The buffer must take a whole number of the disk's blocks; each I/O is checked when it
        // is submitted.
        let buffer_bytes = (block_bytes as usize).next_multiple_of(disk.block_bytes() as usize);
        let depth = depth as usize;
        Ok(Self {
            session: Session::new(disk, depth, buffer_bytes)?,
            clock: Arc::clone(disk.clock()),
            held: BinaryHeap::with_capacity(depth),
            outcomes: vec![Ok(0); depth].into_boxed_slice(),
            random,
        })
    }

    /// Fills all buffers, so that writes start from random data.
    pub(crate) fn fill_buffers(&mut self, mut fill: impl FnMut(&mut [u8])) {
        for slot in 0..self.session.depth() {
            fill(self.session.buffer_mut(slot));
        }
    }

    #[inline]
    fn hold(&mut self, completion: Completion) {
        self.outcomes[completion.slot] = outcome(completion.result);
        self.held.push(Reverse((completion.ready_at_ns, completion.slot)));
    }

    fn next_ready_ns(&self) -> u64 {
        self.held.peek().map_or(u64::MAX, |Reverse((ready_at_ns, _))| *ready_at_ns)
    }

    /// Worker threads still have I/Os: their completions must be noticed while waiting.
    fn wait_for_workers(&mut self, deadline: Deadline) {
        let ready_ns = self.next_ready_ns();
        let sleep_until_ns = if ready_ns <= deadline.until_ns {
            ready_ns.saturating_sub(SPIN_NS)
        } else if deadline.precise {
            deadline.until_ns.saturating_sub(SPIN_NS)
        } else {
            deadline.until_ns
        };
        if let Some(completion) = self.session.wait_until(sleep_until_ns) {
            self.hold(completion);
            return;
        }
        let spin_until_ns = ready_ns.min(deadline.until_ns);
        while self.clock.now_ns() < spin_until_ns {
            if let Some(completion) = self.session.poll() {
                self.hold(completion);
                return;
            }
            std::hint::spin_loop();
        }
    }
}

impl Engine for Vdisk {
    const SUBMIT_COSTS: bool = true;

    #[inline]
    fn submit(&mut self, slot: u32, io: Io) -> Submitted {
        let request = match io.op {
            Op::Read => Request::read(io.offset, io.bytes as usize),
            Op::Write => Request::write(io.offset, io.bytes as usize),
            Op::Sync => Request::flush(),
            Op::Trim | Op::Pause | Op::Forget => unreachable!("no I/O"),
        };
        match self.session.submit(slot as usize, request) {
            iotax_vdisk::Submitted::Done(completion) if completion.ready_at_ns == 0 => {
                Submitted::Done(outcome(completion.result))
            }
            iotax_vdisk::Submitted::Done(completion) => {
                self.hold(completion);
                Submitted::InFlight
            }
            iotax_vdisk::Submitted::InFlight => Submitted::InFlight,
        }
    }

    fn wait(&mut self, deadline: Deadline) {
        if self.next_ready_ns() <= self.clock.now_ns() {
            return;
        }
        if self.session.in_flight() > 0 {
            self.wait_for_workers(deadline);
        } else {
            self.clock.sleep_until(self.next_ready_ns().min(deadline.until_ns));
        }
    }

    fn reap(&mut self, now_ns: u64, mut completed: impl FnMut(u32, Outcome)) {
        while let Some(completion) = self.session.poll() {
            self.hold(completion);
        }
        while let Some(&Reverse((ready_at_ns, slot))) = self.held.peek() {
            if ready_at_ns > now_ns {
                break;
            }
            self.held.pop();
            let number = u32::try_from(slot).expect("slot numbers fit in a u32");
            completed(number, self.outcomes[slot]);
        }
    }

    #[inline]
    fn write_buffer(&mut self, slot: u32, bytes: u32) -> &mut [u8] {
        let buffer = &mut self.session.buffer_mut(slot as usize)[..bytes as usize];
        if let Some(random) = &self.random {
            buffer.copy_from_slice(&random[..bytes as usize]);
        }
        buffer
    }

    fn read_buffer(&mut self, slot: u32) -> &[u8] {
        self.session.buffer(slot as usize)
    }
}

#[inline]
fn outcome(result: Result<usize, Errno>) -> Outcome {
    #[expect(clippy::cast_possible_truncation, reason = "at most the requested u32 bytes")]
    result.map(|bytes| bytes as u32)
}
