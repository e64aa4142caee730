//! `io_uring`: many I/Os per system call, with registered files and buffers.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring as Ring, opcode, squeue};
use rustix::io::Errno;

use crate::engine::supplies::{Buffers, Priorities, Trim};
use crate::engine::thread::Thread;
use crate::engine::{
    Deadline, Engine, Io, Op, Outcome, Submitted, build, end_waits_on_time, forget_pages,
};
use crate::error::Error;
use crate::file_assignment::Span;

/// The kernel registers up to 16384 buffers, two for each I/O in flight.
const MAX_URING_DEPTH: u16 = 8192;
/// See the module. `FIXED` is whether the buffers could be registered too.
pub(crate) struct Uring<const FIXED: bool> {
    // Dropped before the buffers that the kernel may still be working on; see `drop`.
    ring: Ring,
    buffers: Buffers,
    in_flight: u32,
    /// Entries that the kernel has not been told of; at `batch` of them it is.
    held: u32,
    batch: u32,
    depth: u16,
    can_time_out: bool,
    files: Vec<File>,
    priorities: Priorities,
    trim: Trim,
}

/// A ring, and what could be had of it.
pub(crate) struct Made {
    ring: Ring,
    buffers: Buffers,
    depth: u16,
    files: Vec<File>,
    trim: Trim,
    /// Whether to use it with registered buffers.
    pub fixed: bool,
}

impl Made {
    /// The ring of a thread.
    pub(crate) fn of(thread: &Thread<'_>) -> Result<Self, Error> {
        let depth = u16::try_from(thread.depth()).ok().filter(|depth| *depth <= MAX_URING_DEPTH);
        let Some(depth) = depth else {
            let what = format!(
                "a queue depth of {} is too large for io_uring with registered buffers; the \
                 maximum is {MAX_URING_DEPTH}",
                thread.depth()
            );
            return Err(Error::unsuitable(thread.job, what));
        };
        let (files, buffers) = (thread.open()?, thread.buffers()?);
        let trim = Trim::of(thread, &files)?;
        let made = make(files, buffers, depth, thread.job.sqpoll).map_err(|source| {
            let advice = advice(&source);
            Error::NoIoUring { job: thread.job.name.clone(), source, advice }
        })?;
        Ok(Self { trim, ..made })
    }
}

/// Makes a ring for `depth` I/Os at a time, on the thread that will use it.
pub(crate) fn make(
    files: Vec<File>,
    mut buffers: Buffers,
    depth: u16,
    sqpoll: bool,
) -> io::Result<Made> {
    let ring = build(u32::from(depth), sqpoll)?;
    let descriptors: Vec<i32> = files.iter().map(File::as_raw_fd).collect();
    ring.submitter().register_files(&descriptors)?;
    let vectors = buffers.io_vectors();
    // SAFETY: the buffers live as long as the ring, in one struct, and never move.
    let registered = unsafe { ring.submitter().register_buffers(&vectors) };
    let fixed = match registered {
        Ok(()) => true,
        // Pinned memory counts against RLIMIT_MEMLOCK; without privilege that may be little.
        Err(error) if error.raw_os_error() == Some(libc::ENOMEM) => false,
        Err(error) => return Err(error),
    };
    end_waits_on_time();
    Ok(Made { ring, buffers, depth, files, trim: Trim::Punch, fixed })
}

/// What to do about a ring that cannot be had, in words.
pub(crate) fn advice(error: &io::Error) -> &'static str {
    let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
    match (error.raw_os_error(), disabled.as_deref().map(str::trim)) {
        (_, Ok("2")) => {
            "the administrator has disabled io_uring (kernel.io_uring_disabled = 2): set the \
             sysctl to 0, or use `engine = \"psync\"`"
        }
        (Some(libc::EPERM), Ok("1")) => {
            "only privileged processes can use io_uring (kernel.io_uring_disabled = 1): run as \
             root, set the sysctl to 0, or use `engine = \"psync\"`"
        }
        (Some(libc::EPERM | libc::EACCES), _) => {
            "a sandbox blocks io_uring (container runtimes use seccomp): allow io_uring_setup, \
             io_uring_enter and io_uring_register, or use `engine = \"psync\"`"
        }
        (Some(libc::ENOSYS), _) => {
            "the kernel does not support io_uring (added in Linux 5.1), or a sandbox hides it: \
             use `engine = \"psync\"`"
        }
        (Some(libc::ENOMEM), _) => {
            "the io_uring buffers exceed the limit on locked memory: raise `ulimit -l`, or lower \
             the queue depth"
        }
        _ => "use `engine = \"psync\"` instead",
    }
}

impl<const FIXED: bool> Uring<FIXED> {
    /// An engine on a ring, whose [`Made::fixed`] has chosen `FIXED`.
    /// By one system call go at most `batch` I/Os.
    pub(crate) fn new(made: Made, batch: u32, priorities: Priorities) -> Self {
        let Made { ring, buffers, depth, files, trim, fixed } = made;
        debug_assert_eq!(fixed, FIXED);
        let can_time_out = ring.params().is_feature_ext_arg();
        let (in_flight, held) = (0, 0);
        Self { ring, buffers, in_flight, held, batch, depth, can_time_out, files, priorities, trim }
    }

    #[inline]
    fn entry(&mut self, slot: u32, io: Io) -> squeue::Entry {
        #[expect(clippy::cast_possible_truncation, reason = "slot numbers are below the u16 depth")]
        let index = slot as u16;
        let file = Fixed(io.file.into());
        let priority = self.priorities.draw(io);
        match io.op {
            Op::Read => {
                let buffer = self.buffers.read_mut(slot).as_mut_ptr();
                if FIXED {
                    opcode::ReadFixed::new(file, buffer, io.bytes, index)
                        .offset(io.offset)
                        .ioprio(priority)
                        .build()
                } else {
                    opcode::Read::new(file, buffer, io.bytes)
                        .offset(io.offset)
                        .ioprio(priority)
                        .build()
                }
            }
            Op::Write => {
                let buffer = self.buffers.write(slot).as_ptr();
                if FIXED {
                    let index = self.buffers.first_write_vector(self.depth) + index;
                    opcode::WriteFixed::new(file, buffer, io.bytes, index)
                        .offset(io.offset)
                        .ioprio(priority)
                        .build()
                } else {
                    opcode::Write::new(file, buffer, io.bytes)
                        .offset(io.offset)
                        .ioprio(priority)
                        .build()
                }
            }
            Op::Sync => opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build(),
            Op::Trim | Op::Pause | Op::Forget => unreachable!("no I/O"),
        }
    }

    #[inline(never)]
    fn hand_over(&mut self) {
        self.held = 0;
        // What the kernel does not take now, it is offered again.
        let _ = self.ring.submit();
    }

    fn enter(&self, timeout_ns: u64) -> io::Result<usize> {
        if !self.can_time_out {
            return self.ring.submit_and_wait(1);
        }
        let timeout = Timespec::new()
            .sec(timeout_ns / 1_000_000_000)
            .nsec(u32::try_from(timeout_ns % 1_000_000_000).expect("below 10^9"));
        self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&timeout))
    }
}

impl<const FIXED: bool> Engine for Uring<FIXED> {
    const SUBMIT_COSTS: bool = false;

    #[inline]
    fn submit(&mut self, slot: u32, io: Io) -> Submitted {
        if io.op == Op::Trim {
            // What came before it does not wait for it.
            if self.held > 0 {
                self.hand_over();
            }
            return Submitted::Done(self.trim.perform(&self.files[usize::from(io.file)], io));
        }
        // Not before another comes: the last ones go with the call that waits for them.
        if self.held >= self.batch {
            self.hand_over();
        }
        let entry = self.entry(slot, io).user_data(u64::from(slot));
        // SAFETY: the entry points into `self.buffers`, which outlives the ring, and `drive` does
        // not touch a slot's buffers before its completion is reaped.
        match unsafe { self.ring.submission().push(&entry) } {
            Ok(()) => {
                self.in_flight += 1;
                self.held += 1;
                Submitted::InFlight
            }
            Err(_) => Submitted::Full,
        }
    }

    #[inline]
    fn wait(&mut self, deadline: Deadline) {
        self.held = 0;
        // ETIME is the deadline and EINTR a signal; after EBUSY and EAGAIN there are completions
        // to reap first. In every case the loop comes back.
        let _ = self.enter(deadline.sleep_ns());
    }

    #[inline]
    fn reap(&mut self, _: u64, mut completed: impl FnMut(u32, Outcome)) {
        for entry in self.ring.completion() {
            self.in_flight -= 1;
            #[expect(clippy::cast_possible_truncation, reason = "`submit` made it from a u32")]
            completed(entry.user_data() as u32, outcome(entry.result()));
        }
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

impl<const FIXED: bool> Drop for Uring<FIXED> {
    /// The kernel must be through with the buffers before they go. Only a panic gets here with
    /// I/Os in flight.
    fn drop(&mut self) {
        while self.in_flight > 0 && self.ring.submit_and_wait(1).is_ok() {
            self.reap(0, |_, _| {});
        }
    }
}

#[inline]
fn outcome(result: i32) -> Outcome {
    u32::try_from(result).map_err(|_| Errno::from_raw_os_error(-result))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::FileExt as _;

    use proptest::prelude::*;

    use super::*;

    const DEPTH: u16 = 16;
    const FILE_BYTES: usize = 1 << 20;

    fn none() -> Priorities {
        Priorities::of(&crate::engine::testing::job(), 1)
    }

    fn engine(file: File) -> Uring<true> {
        let buffers = Buffers::new(DEPTH.into(), 8192, true, true, 1).unwrap();
        Uring::new(make(vec![file], buffers, DEPTH, false).unwrap(), 3, none())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Against the slow oracle: `pread` of the same range of the same file.
        #[test]
        fn it_reads_and_writes_what_pread_and_pwrite_would(
            ios in prop::collection::vec(
                (any::<bool>(), 0..(FILE_BYTES as u64 - 8192), 1..8192u32), 1..100
            )
        ) {
            let mut file = tempfile::tempfile().unwrap();
            let mut model: Vec<u8> = (0..=250).cycle().take(FILE_BYTES).collect();
            file.write_all(&model).unwrap();
            let mut engine = engine(file.try_clone().unwrap());
            for chunk in ios.chunks(DEPTH.into()) {
                // Writes and reads in flight at once have no order: one kind per round.
                for op in [Op::Write, Op::Read] {
                    let of_kind = chunk.iter().filter(|(write, ..)| *write == (op == Op::Write));
                    let mut disjoint: Vec<Io> = Vec::new();
                    for &(_, offset, bytes) in of_kind {
                        let clear = disjoint.iter().all(|other| {
                            offset + u64::from(bytes) <= other.offset
                                || other.offset + u64::from(other.bytes) <= offset
                        });
                        if clear || op == Op::Read {
                            disjoint.push(Io { offset, bytes, file: 0, op, check: false });
                        }
                    }
                    for (slot, io) in (0..).zip(&disjoint) {
                        if op == Op::Write {
                            let data = engine.write_buffer(slot, io.bytes);
                            data.fill(u8::try_from(slot).unwrap() + 1);
                            let at = usize::try_from(io.offset).unwrap();
                            model[at..at + data.len()].copy_from_slice(data);
                        }
                        prop_assert_eq!(engine.submit(slot, *io), Submitted::InFlight);
                    }
                    let mut done = 0;
                    while done < disjoint.len() {
                        engine.wait(Deadline { now_ns: 0, until_ns: 1 << 30, precise: false });
                        engine.reap(0, |slot, outcome| {
                            assert_eq!(outcome, Ok(disjoint[slot as usize].bytes));
                            done += 1;
                        });
                    }
                    for (slot, io) in (0..).zip(&disjoint) {
                        let len = io.bytes as usize;
                        let mut oracle = vec![0; len];
                        file.read_exact_at(&mut oracle, io.offset).unwrap();
                        let at = usize::try_from(io.offset).unwrap();
                        prop_assert_eq!(&oracle[..], &model[at..at + len]);
                        if op == Op::Read {
                            prop_assert_eq!(&engine.read_buffer(slot)[..len], &oracle[..]);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn reading_past_the_end_and_syncing_are_answered_too() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(6000).unwrap();
        let mut engine = engine(file);
        for (slot, offset) in [(0, 4096), (1, 8192)] {
            engine.submit(slot, Io { offset, bytes: 4096, file: 0, op: Op::Read, check: false });
        }
        engine.submit(2, Io::SYNC);
        let mut outcomes = [None; 3];
        while outcomes.contains(&None) {
            engine.wait(Deadline { now_ns: 0, until_ns: 1 << 30, precise: false });
            engine.reap(0, |slot, outcome| outcomes[slot as usize] = Some(outcome));
        }
        assert_eq!(outcomes, [Some(Ok(1904)), Some(Ok(0)), Some(Ok(0))]);
    }

    #[test]
    fn without_registered_buffers_it_does_the_same() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[9; 8192]).unwrap();
        let buffers = Buffers::new(2, 4096, true, false, 1).unwrap();
        let made = Made { fixed: false, ..make(vec![file], buffers, 2, false).unwrap() };
        let mut engine = Uring::<false>::new(made, 4, none());
        engine.submit(1, Io { offset: 4096, bytes: 4096, file: 0, op: Op::Read, check: false });
        let mut outcome = None;
        while outcome.is_none() {
            engine.wait(Deadline { now_ns: 0, until_ns: 1 << 30, precise: false });
            engine.reap(0, |slot, result| outcome = Some((slot, result)));
        }
        assert_eq!(outcome, Some((1, Ok(4096))));
        assert_eq!(engine.read_buffer(1), [9; 4096]);
    }

    #[test]
    fn refusals_come_with_advice() {
        let advice = |errno| advice(&io::Error::from_raw_os_error(errno));
        assert!(advice(libc::ENOSYS).contains("Linux 5.1"));
        assert!(advice(libc::ENOMEM).contains("ulimit -l"));
        for errno in [libc::EPERM, libc::ENOSYS, libc::EINVAL] {
            assert!(advice(errno).contains("psync"));
        }
    }
}
