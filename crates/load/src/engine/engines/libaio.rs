//! `libaio`: the kernel's older asynchronous I/O, as fio's engine of that name uses it. Sandboxes
//! that forbid `io_uring`, as container runtimes do by default, allow it. Asynchronous with direct
//! I/O only.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::{io, ptr};

use rustix::io::Errno;

use crate::engine::supplies::{Buffers, Priorities, Trim};
use crate::engine::thread::Thread;
use crate::engine::{
    Deadline, Engine, Io, Op, Outcome, Submitted, end_waits_on_time, forget_pages,
};
use crate::error::Error;
use crate::file_assignment::Span;

/// What an I/O is to do: `IOCB_CMD_*` of `linux/aio_abi.h`.
const PREAD: u16 = 0;
const PWRITE: u16 = 1;
const FDSYNC: u16 = 3;

/// `struct iocb` of `linux/aio_abi.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Iocb {
    data: u64,
    /// Which is the first of them depends on the byte order; both are 0.
    key_and_flags: [u32; 2],
    opcode: u16,
    priority: i16,
    descriptor: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_descriptor: u32,
}

/// `struct io_event` of `linux/aio_abi.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Event {
    data: u64,
    iocb: u64,
    result: i64,
    further: i64,
}

/// `IOCB_FLAG_IOPRIO`.
const WITH_PRIORITY: u32 = 2;

/// A queue of the kernel's; its I/Os are over when it is dropped.
struct Context(libc::c_ulong);

impl Context {
    fn new(depth: u32) -> io::Result<Self> {
        let mut context = 0;
        // SAFETY: the kernel writes one number to `context`.
        succeeded(unsafe { libc::syscall(libc::SYS_io_setup, depth, &raw mut context) })?;
        Ok(Self(context))
    }

    /// Hands over I/Os; how many of them were taken.
    ///
    /// # Safety
    /// They, and the memory that they move data to and from, stay where they are until they are
    /// over.
    #[inline]
    unsafe fn submit(&self, iocbs: &[*const Iocb]) -> io::Result<usize> {
        // SAFETY: as the caller promises; the kernel reads the pointers, and what they point to.
        succeeded(unsafe {
            libc::syscall(libc::SYS_io_submit, self.0, iocbs.len(), iocbs.as_ptr())
        })
    }

    /// Waits until one I/O is over; how many are.
    #[inline]
    fn wait(&self, events: &mut [Event], timeout_ns: u64) -> io::Result<usize> {
        let timeout = libc::timespec {
            tv_sec: (timeout_ns / 1_000_000_000).try_into().unwrap_or(i64::MAX),
            tv_nsec: (timeout_ns % 1_000_000_000).try_into().expect("below 10^9"),
        };
        let (first, most) = (events.as_mut_ptr(), events.len());
        // SAFETY: the kernel writes to `most` events at most, and reads the time.
        succeeded(unsafe {
            libc::syscall(libc::SYS_io_getevents, self.0, 1, most, first, &raw const timeout)
        })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: nobody uses the context again. The kernel returns when no I/O is under way.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.0) };
    }
}

fn succeeded(result: libc::c_long) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

pub(crate) struct Libaio {
    // Dropped before what the kernel may still be working on.
    context: Context,
    buffers: Buffers,
    /// By slot.
    iocbs: Box<[Iocb]>,
    /// Those that the kernel has not been told of; at `batch` of them it is.
    held: Vec<*const Iocb>,
    batch: usize,
    /// The first `ready` of them are to be reported.
    events: Box<[Event]>,
    ready: usize,
    files: Vec<File>,
    priorities: Priorities,
    trim: Trim,
}

impl Libaio {
    /// The engine of a thread.
    pub(crate) fn of(thread: &Thread<'_>) -> Result<Self, Error> {
        let (depth, batch) = (thread.depth(), thread.job.submit_batch());
        let priorities = Priorities::of(thread.job, thread.seed);
        let files = thread.open()?;
        let trim = Trim::of(thread, &files)?;
        let made = Self::new(files, thread.buffers()?, depth, batch, priorities)
            .map_err(|source| Error::NoLibaio { job: thread.job.name.clone(), source })?;
        Ok(Self { trim, ..made })
    }

    fn new(
        files: Vec<File>,
        buffers: Buffers,
        depth: u32,
        batch: u32,
        priorities: Priorities,
    ) -> io::Result<Self> {
        let context = Context::new(depth)?;
        end_waits_on_time();
        let slots = depth as usize;
        Ok(Self {
            context,
            buffers,
            iocbs: vec![Iocb::default(); slots].into(),
            held: Vec::with_capacity(slots),
            batch: batch as usize,
            events: vec![Event::default(); slots].into(),
            ready: 0,
            files,
            priorities,
            trim: Trim::Punch,
        })
    }

    #[inline(never)]
    fn hand_over(&mut self) {
        while !self.held.is_empty() {
            // SAFETY: blocks and buffers are in boxes and maps that never move, and outlive the
            // context; `drive` does not touch a slot before its completion is reaped.
            match unsafe { self.context.submit(&self.held) } {
                Ok(taken) if taken > 0 => drop(self.held.drain(..taken)),
                Err(error) if !may_pass(&error) => self.fail_first(&error),
                // It is offered again.
                _ => break,
            }
        }
    }

    /// The kernel refuses the first of those that are held: it is over.
    fn fail_first(&mut self, error: &io::Error) {
        let first = self.held.remove(0);
        let is_first = |iocb: &&Iocb| ptr::eq(*iocb, first);
        let data = self.iocbs.iter().find(is_first).expect("one of ours").data;
        let result = -i64::from(error.raw_os_error().unwrap_or(libc::EIO));
        self.events[self.ready] = Event { data, result, ..Event::default() };
        self.ready += 1;
    }
}

/// Whether the kernel has no room now, or was interrupted.
fn may_pass(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR))
}

impl Engine for Libaio {
    const SUBMIT_COSTS: bool = false;

    #[inline]
    fn submit(&mut self, slot: u32, io: Io) -> Submitted {
        if io.op == Op::Trim {
            // What came before it does not wait for it.
            self.hand_over();
            return Submitted::Done(self.trim.perform(&self.files[usize::from(io.file)], io));
        }
        // Not before another comes: the last ones go with the call that waits for them.
        if self.held.len() >= self.batch {
            self.hand_over();
        }
        if self.held.len() >= self.iocbs.len() {
            return Submitted::Full;
        }
        let (opcode, buffer) = match io.op {
            Op::Read => (PREAD, self.buffers.read_mut(slot).as_mut_ptr().cast_const()),
            Op::Write => (PWRITE, self.buffers.write(slot).as_ptr()),
            Op::Sync => (FDSYNC, ptr::null()),
            Op::Trim | Op::Pause | Op::Forget => unreachable!("no I/O"),
        };
        let is_sync = io.op == Op::Sync;
        let priority = self.priorities.draw(io);
        let iocb = &mut self.iocbs[slot as usize];
        *iocb = Iocb {
            data: slot.into(),
            opcode,
            priority: priority.cast_signed(),
            flags: if priority == 0 { 0 } else { WITH_PRIORITY },
            descriptor: self.files[usize::from(io.file)].as_raw_fd().cast_unsigned(),
            buffer: buffer.addr() as u64,
            bytes: if is_sync { 0 } else { io.bytes.into() },
            offset: if is_sync { 0 } else { io.offset.cast_signed() },
            ..Iocb::default()
        };
        self.held.push(ptr::from_ref(iocb));
        Submitted::InFlight
    }

    #[inline]
    fn wait(&mut self, deadline: Deadline) {
        self.hand_over();
        if self.ready == 0 {
            // What is interrupted is tried again: the loop comes back.
            self.ready = self.context.wait(&mut self.events, deadline.sleep_ns()).unwrap_or(0);
        }
    }

    #[inline]
    fn reap(&mut self, _: u64, mut completed: impl FnMut(u32, Outcome)) {
        for event in &self.events[..self.ready] {
            #[expect(clippy::cast_possible_truncation, reason = "`submit` made it from a u32")]
            completed(event.data as u32, outcome(event.result));
        }
        self.ready = 0;
    }

    #[inline]
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

#[inline]
fn outcome(result: i64) -> Outcome {
    u32::try_from(result)
        .map_err(|_| Errno::from_raw_os_error(i32::try_from(-result).unwrap_or(libc::EIO)))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn engine(file: File) -> Libaio {
        let buffers = Buffers::new(4, 4096, true, true, 1).unwrap();
        let none = Priorities::of(&crate::engine::testing::job(), 1);
        Libaio::new(vec![file], buffers, 4, 2, none).unwrap()
    }

    fn outcomes<const N: usize>(engine: &mut Libaio) -> [Outcome; N] {
        let mut outcomes = [None; N];
        while outcomes.contains(&None) {
            engine.wait(Deadline { now_ns: 0, until_ns: 1 << 30, precise: false });
            engine.reap(0, |slot, outcome| outcomes[slot as usize] = Some(outcome));
        }
        outcomes.map(Option::unwrap)
    }

    #[test]
    fn reads_writes_and_syncs_are_answered_past_the_end_too() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[9; 6000]).unwrap();
        let mut engine = engine(file.try_clone().unwrap());
        engine.write_buffer(3, 4096).fill(7);
        for (slot, offset) in [(0, 4096), (1, 8192)] {
            engine.submit(slot, Io { offset, bytes: 4096, file: 0, op: Op::Read, check: false });
        }
        engine.submit(2, Io::SYNC);
        assert_eq!(outcomes(&mut engine), [Ok(1904), Ok(0), Ok(0)]);
        assert_eq!(engine.read_buffer(0)[..1904], [9; 1904]);
        engine.submit(0, Io { offset: 0, bytes: 4096, file: 0, op: Op::Read, check: false });
        assert_eq!(outcomes(&mut engine), [Ok(4096)]);
        assert_eq!(engine.read_buffer(0), [9; 4096]);
    }

    /// The kernel takes those before one that it refuses, and says no to that one alone.
    #[test]
    fn one_that_is_refused_fails_and_the_others_do_not() {
        let path = tempfile::NamedTempFile::new().unwrap();
        path.as_file().set_len(8192).unwrap();
        // Not open for reading.
        let file = File::options().write(true).open(path.path()).unwrap();
        let mut engine = engine(file);
        engine.submit(0, Io { offset: 0, bytes: 4096, file: 0, op: Op::Write, check: false });
        engine.submit(1, Io { offset: 0, bytes: 4096, file: 0, op: Op::Read, check: false });
        engine.submit(2, Io { offset: 4096, bytes: 4096, file: 0, op: Op::Write, check: false });
        assert_eq!(outcomes(&mut engine), [Ok(4096), Err(Errno::BADF), Ok(4096)]);
    }
}
