//! The least that reading blocks at random through `io_uring` can cost: submit, wait, reap, and
//! nothing else. No clock per I/O, no counters, no histograms, no errors beyond "it failed".
//!
//! Same offsets, same registered file and buffers, and the same ring flags as the engine
//! `io_uring` of this crate, which `versus_fio` measures against it.
//!
//! ```text
//! cargo run --release -p iotax-load --example bare_uring -- FILE [DEPTH [SECONDS]]
//! ```

use std::fs::File;
use std::os::fd::AsRawFd;
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
        let block = (u128::from(self.rng.next_u64()) * u128::from(self.blocks)) >> 64;
        let offset = u64::try_from(block).expect("below a u64") * u64::from(BLOCK_BYTES);
        let at = usize::from(slot) * BLOCK_BYTES as usize;
        opcode::ReadFixed::new(Fixed(0), self.buffers[at..].as_mut_ptr(), BLOCK_BYTES, slot)
            .offset(offset)
            .build()
            .user_data(u64::from(slot))
    }
}

/// Reads 4 KiB blocks of `path` at random for `time`, `depth` at a time.
pub(crate) fn run(path: &Path, depth: u16, time: Duration, seed: u64) -> std::io::Result<Bare> {
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
    let wall_ns = u64::try_from(start.elapsed().as_nanos()).expect("less than 584 years");
    Ok(Bare { ios, cpu_ns: cpu_ns() - cpu_start_ns, wall_ns })
}

fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

#[allow(dead_code, reason = "`versus_fio` includes this file as a module")]
#[expect(clippy::print_stdout, reason = "a program")]
fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("usage: bare_uring FILE [DEPTH [SECONDS]]");
    let depth = arguments.next().map_or(32, |text| text.parse().expect("DEPTH is a number"));
    let seconds = arguments.next().map_or(2, |text| text.parse().expect("SECONDS is a number"));
    let bare = run(Path::new(&path), depth, Duration::from_secs(seconds), 1)?;
    println!(
        "{} I/Os, {:.0} per second, {:.1} ns of CPU each",
        bare.ios,
        bare.ios as f64 * 1e9 / bare.wall_ns as f64,
        bare.cpu_ns as f64 / bare.ios as f64
    );
    Ok(())
}
