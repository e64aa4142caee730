//! What the I/Os of an engine need: their buffers, their priorities, and the system calls for
//! trims.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileTypeExt as _;

use iotax_experiment::{Job, PriorityShare};
use memmap2::MmapMut;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use super::thread::Thread;
use super::{Io, Op, Outcome, below};
use crate::error::Error;
use crate::file_assignment::PAGE_BYTES;
use crate::target::shown;

/// Buffers are whole pages at page boundaries, which satisfies `O_DIRECT` on every device whose
/// logical blocks are at most a page long.
///
/// One read buffer and one write buffer per slot. They are apart so that a write never sends what
/// a read has just fetched, which may be compressible.
pub(crate) struct Buffers {
    memory: MmapMut,
    /// Distance between slots, bytes.
    stride: usize,
    /// Of all write buffers from the start of the memory; 0 if there are none.
    writes_at: usize,
}

impl Buffers {
    /// Buffers of at least `block_bytes` for `slots` slots; the write buffers hold random data.
    pub(crate) fn new(
        slots: u32,
        block_bytes: u32,
        reads: bool,
        writes: bool,
        seed: u64,
    ) -> Result<Self, Error> {
        let stride = (block_bytes as usize).next_multiple_of(PAGE_BYTES);
        let one_kind = stride * slots as usize;
        let writes_at = if reads { one_kind } else { 0 };
        let total = writes_at + if writes { one_kind } else { 0 };
        let mut memory = MmapMut::map_anon(total.max(stride))
            .map_err(|source| Error::Memory { bytes: total as u64, source })?;
        // Touch every page now: a first touch inside the measurement would be a page fault.
        if writes {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            rng.fill_bytes(&mut memory[writes_at..]);
        }
        if reads {
            memory[..writes_at].fill(0xA5);
        }
        Ok(Self { memory, stride, writes_at })
    }

    /// All buffers, one each: first the read buffers by slot, then the write buffers. For
    /// registration with the kernel, which keeps the addresses as long as `self` lives.
    pub(crate) fn io_vectors(&mut self) -> Vec<libc::iovec> {
        let chunks = self.memory.chunks_mut(self.stride);
        chunks
            .map(|chunk| libc::iovec { iov_base: chunk.as_mut_ptr().cast(), iov_len: chunk.len() })
            .collect()
    }

    /// Index of the first write buffer among [`Buffers::io_vectors`].
    #[inline]
    pub(crate) fn first_write_vector(&self, slots: u16) -> u16 {
        if self.writes_at == 0 { 0 } else { slots }
    }

    /// The longest I/O that a slot has room for.
    #[inline]
    pub(crate) const fn slot_bytes(&self) -> usize {
        self.stride
    }

    /// What a read of `slot` fetched.
    #[inline]
    pub(crate) fn read(&self, slot: u32) -> &[u8] {
        let at = slot as usize * self.stride;
        &self.memory[at..at + self.stride]
    }

    /// Where a read of `slot` goes.
    #[inline]
    pub(crate) fn read_mut(&mut self, slot: u32) -> &mut [u8] {
        let at = slot as usize * self.stride;
        &mut self.memory[at..at + self.stride]
    }

    /// What a write of `slot` sends.
    #[inline]
    pub(crate) fn write(&self, slot: u32) -> &[u8] {
        let at = self.writes_at + slot as usize * self.stride;
        &self.memory[at..at + self.stride]
    }

    /// Where to put what a write of `slot` is to send.
    #[inline]
    pub(crate) fn write_mut(&mut self, slot: u32) -> &mut [u8] {
        let at = self.writes_at + slot as usize * self.stride;
        &mut self.memory[at..at + self.stride]
    }
}

// Priorities of single I/Os, drawn as fio draws them (`cmdprio.c`): by direction and size.

/// The kernel takes 0 for the priority of the thread.
const OF_THE_THREAD: u16 = 0;

pub(crate) struct Priorities {
    shares: Box<[PriorityShare]>,
    rng: Xoshiro256PlusPlus,
}

impl Priorities {
    /// Those of a job; `seed` is its thread's.
    pub(crate) fn of(job: &Job, seed: u64) -> Self {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x7072_696f);
        Self { shares: job.priorities.clone().into(), rng }
    }

    /// Of an I/O that begins.
    #[inline]
    pub(crate) fn draw(&mut self, io: Io) -> u16 {
        if self.shares.is_empty() || io.op == Op::Sync {
            return OF_THE_THREAD;
        }
        let mut percent = below(self.rng.next_u64(), 100);
        let is_read = io.op == Op::Read;
        for share in &self.shares {
            if share.reads == is_read && share.bytes.is_none_or(|bytes| bytes == io.bytes) {
                if percent < u64::from(share.percent) {
                    return share.priority.value();
                }
                percent -= u64::from(share.percent);
            }
        }
        OF_THE_THREAD
    }
}

// Trims of files and block devices: one system call each, done when it returns, as in fio.

/// `_IO(0x12, 119)` of `linux/fs.h`.
const BLKDISCARD: libc::Ioctl = 0x1277;

/// How a thread trims: its files are all files, or one block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trim {
    /// `BLKDISCARD`: the device discards the range.
    Discard,
    /// The range of the file becomes a hole.
    Punch,
}

impl Trim {
    /// For these files of a thread.
    ///
    /// # Errors
    /// If its job trims, and one of them cannot.
    pub(crate) fn of(thread: &Thread<'_>, files: &[File]) -> Result<Self, Error> {
        let mut way = Self::Punch;
        if thread.job.trims.is_none() {
            return Ok(way);
        }
        for (file, test_file) in files.iter().zip(&thread.files) {
            let facts = file.metadata().map_err(Error::path("examine", &test_file.path))?;
            if facts.file_type().is_block_device() {
                way = Self::Discard;
            }
            match way.harmless(file, facts.len()) {
                // The block device says that the range is none.
                Ok(()) | Err(Errno::INVAL) => {}
                Err(errno) => {
                    let (path, source) = (shown(&test_file.path), io::Error::from(errno));
                    return Err(Error::NoTrims { job: thread.job.name.clone(), path, source });
                }
            }
        }
        Ok(way)
    }

    /// A trim that changes nothing: of a range that no sector begins at, or behind the end.
    fn harmless(self, file: &File, file_bytes: u64) -> Result<(), Errno> {
        match self {
            Self::Discard => discard(file, 1, 0),
            Self::Punch => {
                let page = PAGE_BYTES as u64;
                punch(file, file_bytes.next_multiple_of(page), page)
            }
        }
    }

    /// Trims what `io` covers.
    #[inline(never)]
    pub(crate) fn perform(self, file: &File, io: Io) -> Outcome {
        let trimmed = match self {
            Self::Discard => discard(file, io.offset, io.bytes.into()),
            Self::Punch => punch(file, io.offset, io.bytes.into()),
        };
        trimmed.map(|()| io.bytes)
    }
}

fn punch(file: &File, offset: u64, bytes: u64) -> Result<(), Errno> {
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    rustix::io::retry_on_intr(|| fallocate(file, hole, offset, bytes))
}

fn discard(file: &File, offset: u64, bytes: u64) -> Result<(), Errno> {
    let range = [offset, bytes];
    rustix::io::retry_on_intr(|| {
        // SAFETY: the kernel reads two numbers from `range`.
        let result = unsafe { libc::ioctl(file.as_raw_fd(), BLKDISCARD, range.as_ptr()) };
        let error = || io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        if result == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(error())) }
    })
}

#[cfg(test)]
mod tests {
    use iotax_experiment::{IoPriority, PriorityClass};

    use super::*;
    use crate::engine::testing::job;

    #[test]
    fn shares_are_drawn_by_direction_and_size() {
        const DRAWS: u32 = 20_000;
        let of = |reads, bytes, percent, class, level| PriorityShare {
            reads,
            bytes,
            percent,
            priority: IoPriority { class, level },
        };
        let mut job = job();
        job.priorities = vec![
            of(true, Some(65_536), 25, PriorityClass::RealTime, 1),
            of(true, Some(65_536), 75, PriorityClass::Idle, 2),
            of(false, None, 40, PriorityClass::BestEffort, 7),
        ];
        let mut priorities = Priorities::of(&job, 9);
        let mut share = |op, bytes, value| {
            let io = Io { offset: 0, bytes, file: 0, op, check: false };
            let drawn = (0..DRAWS).filter(|_| priorities.draw(io) == value).count();
            drawn as f64 / f64::from(DRAWS)
        };
        // Five standard deviations are 0.018.
        assert!((share(Op::Read, 65_536, 1 << 13 | 1) - 0.25).abs() < 0.018);
        assert!((share(Op::Read, 65_536, 3 << 13 | 2) - 0.75).abs() < 0.018);
        assert!((share(Op::Write, 4096, 2 << 13 | 7) - 0.4).abs() < 0.018);
        assert_eq!(share(Op::Read, 4096, 0), 1.0);
        assert_eq!(share(Op::Sync, 0, 0), 1.0);
    }
}
