//! The least that reading blocks at random can cost: no clock per I/O, no counters, no histograms,
//! no errors beyond "it failed". Same offsets as the engines of this crate; with `io_uring` the
//! same registered file and buffers and the same flags of the ring, too.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use io_uring::{IoUring, opcode, squeue, types::Fixed};
use memmap2::MmapMut;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rustix::time::{ClockId, clock_gettime};

const BLOCK_BYTES: u32 = 4096;

/// What one run of the loop has shown.
pub(crate) struct Bare {
    /// I/Os completed.
    pub ios: u64,
    /// CPU time of the loop, in nanoseconds.
    pub cpu_ns: u64,
    /// Time it took, in nanoseconds.
    pub wall_ns: u64,
}

struct Reads {
    rng: Xoshiro256PlusPlus,
    blocks: u64,
    buffers: MmapMut,
}

impl Reads {
    fn next(&mut self, slot: u16) -> squeue::Entry {
        let offset = offset(&mut self.rng, self.blocks);
        let at = usize::from(slot) * BLOCK_BYTES as usize;
        opcode::ReadFixed::new(Fixed(0), self.buffers[at..].as_mut_ptr(), BLOCK_BYTES, slot)
            .offset(offset)
            .build()
            .user_data(u64::from(slot))
    }
}

/// Reads 4 KiB blocks of `path` at random for `time`, one after the other, with `pread`.
pub(crate) fn psync(path: &Path, time: Duration, seed: u64) -> std::io::Result<Bare> {
    let file = File::open(path)?;
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random)?;
    let blocks = file.metadata()?.len() / u64::from(BLOCK_BYTES);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut buffer = [0xA5; BLOCK_BYTES as usize];
    let (start, cpu_start_ns, mut ios) = (Instant::now(), cpu_ns(), 0_u64);
    while !ios.is_multiple_of(1024) || start.elapsed() < time {
        file.read_exact_at(&mut buffer, offset(&mut rng, blocks))?;
        ios += 1;
    }
    Ok(Bare { ios, cpu_ns: cpu_ns() - cpu_start_ns, wall_ns: nanos(start) })
}

/// Reads 4 KiB blocks of `path` at random for `time`, `depth` at a time, with `io_uring`.
pub(crate) fn uring(path: &Path, depth: u16, time: Duration, seed: u64) -> std::io::Result<Bare> {
    let file = File::open(path)?;
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random)?;
    let mut ring: IoUring = IoUring::builder()
        .setup_single_issuer()
        .setup_coop_taskrun()
        .setup_defer_taskrun()
        .build(u32::from(depth))?;
    ring.submitter().register_files(&[file.as_raw_fd()])?;
    let mut buffers = MmapMut::map_anon(usize::from(depth) * BLOCK_BYTES as usize)?;
    buffers.fill(0xA5);
    let vectors: Vec<libc::iovec> = buffers
        .chunks_mut(BLOCK_BYTES as usize)
        .map(|chunk| libc::iovec { iov_base: chunk.as_mut_ptr().cast(), iov_len: chunk.len() })
        .collect();
    // SAFETY: the buffers live in `reads` until the end of this function, when nothing is in
    // flight any more.
    unsafe { ring.submitter().register_buffers(&vectors)? };
    let mut reads = Reads {
        rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        blocks: file.metadata()?.len() / u64::from(BLOCK_BYTES),
        buffers,
    };
    let (start, cpu_start_ns) = (Instant::now(), cpu_ns());
    let (mut ios, mut turns) = (0, 0_u32);
    let mut issuing = true;
    let mut in_flight = u64::from(depth);
    let (submitter, mut submissions, mut completions) = ring.split();
    for slot in 0..depth {
        // SAFETY: the entry points into `reads.buffers`, see above.
        unsafe { submissions.push(&reads.next(slot)).expect("as many entries as slots") };
    }
    while in_flight > 0 {
        submissions.sync();
        submitter.submit_and_wait(1)?;
        submissions.sync();
        completions.sync();
        for completion in &mut completions {
            assert_eq!(completion.result(), BLOCK_BYTES.cast_signed(), "a read of the whole block");
            ios += 1;
            if issuing {
                let slot = u16::try_from(completion.user_data()).expect("a slot");
                // SAFETY: the entry points into `reads.buffers`, see above.
                unsafe { submissions.push(&reads.next(slot)).expect("one came free") };
            } else {
                in_flight -= 1;
            }
        }
        turns += 1;
        if turns.is_multiple_of(1024) {
            issuing = start.elapsed() < time;
        }
    }
    Ok(Bare { ios, cpu_ns: cpu_ns() - cpu_start_ns, wall_ns: nanos(start) })
}

fn offset(rng: &mut Xoshiro256PlusPlus, blocks: u64) -> u64 {
    let block = (u128::from(rng.next_u64()) * u128::from(blocks)) >> 64;
    u64::try_from(block).expect("below a u64") * u64::from(BLOCK_BYTES)
}

fn nanos(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).expect("less than 584 years")
}

fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
