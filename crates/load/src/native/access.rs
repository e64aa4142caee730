//! Which I/O comes next: offset, size and direction.
//!
//! I/Os are drawn in batches through one virtual call, so that the loop that issues them is
//! compiled once per engine rather than once per combination of pattern, sizes and mix, and still
//! takes no decision that was settled when the job started.

use iotax_spec::{BlockSizes, Job, Pattern};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::io::{Io, Op};

/// I/Os drawn by one virtual call.
const BATCH: usize = 64;

/// A stretch of the target that a thread's offsets stay in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: u64,
    /// Length in bytes; at least the largest block.
    pub bytes: u64,
}

/// The I/Os of one thread, in order.
pub struct Accesses {
    batch: [Io; BATCH],
    next: usize,
    len: usize,
    started: bool,
    draw: Box<dyn Draw>,
}

impl Accesses {
    /// The accesses of one thread of `job` within `span`.
    pub fn new(job: &Job, span: Span, seed: u64) -> Self {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let draw = match (&job.block_sizes, job.pattern) {
            (BlockSizes::Fixed(_), Pattern::Random) => boxed::<_, true>(job, span, FixedSize, rng),
            (BlockSizes::Fixed(_), Pattern::Sequential) => {
                boxed::<_, false>(job, span, FixedSize, rng)
            }
            (BlockSizes::Range { min, max }, pattern) => {
                let sizes = RangeSizes { multiples: max / min };
                match pattern {
                    Pattern::Random => boxed::<_, true>(job, span, sizes, rng),
                    Pattern::Sequential => boxed::<_, false>(job, span, sizes, rng),
                }
            }
            (BlockSizes::Split(_), pattern) => {
                let sizes = SplitSizes::new(&job.block_sizes);
                match pattern {
                    Pattern::Random => boxed::<_, true>(job, span, sizes, rng),
                    Pattern::Sequential => boxed::<_, false>(job, span, sizes, rng),
                }
            }
        };
        Self { batch: [Io::SYNC; BATCH], next: 0, len: 0, started: false, draw }
    }

    /// The next I/O, or `None` when a size-bound thread has moved its bytes.
    #[inline]
    pub fn next(&mut self) -> Option<Io> {
        if self.next == self.len {
            self.len = self.draw.fill(&mut self.batch);
            self.started = true;
            self.next = 0;
            if self.len == 0 {
                return None;
            }
        }
        let io = self.batch[self.next];
        self.next += 1;
        Some(io)
    }

    /// Offers the I/O taken last once more.
    pub fn put_back(&mut self) {
        self.next -= 1;
    }

    /// Whether all bytes of a size-bound thread were handed out.
    pub fn is_exhausted(&self) -> bool {
        self.len == 0 && self.started
    }
}

trait Draw: Send {
    /// Fills `batch` from its start and says how many; 0 means that there are no more.
    fn fill(&mut self, batch: &mut [Io]) -> usize;
}

/// The sizes of I/Os, as counts of the smallest block.
trait Sizes: Send + 'static {
    /// (bytes, smallest blocks covered, rounded up)
    fn draw(&self, smallest: u32, rng: &mut Xoshiro256PlusPlus) -> (u32, u64);
}

struct FixedSize;

impl Sizes for FixedSize {
    #[inline]
    fn draw(&self, smallest: u32, _: &mut Xoshiro256PlusPlus) -> (u32, u64) {
        (smallest, 1)
    }
}

struct RangeSizes {
    multiples: u32,
}

impl Sizes for RangeSizes {
    #[inline]
    fn draw(&self, smallest: u32, rng: &mut Xoshiro256PlusPlus) -> (u32, u64) {
        let multiple = 1 + below(rng.next_u64(), u64::from(self.multiples));
        let bytes = u64::from(smallest) * multiple;
        (u32::try_from(bytes).expect("at most the largest block, a u32"), multiple)
    }
}

/// One entry per percent.
struct SplitSizes {
    by_percent: Vec<(u32, u64)>,
}

impl SplitSizes {
    fn new(sizes: &BlockSizes) -> Self {
        let BlockSizes::Split(shares) = sizes else { unreachable!("called for splits only") };
        let smallest = sizes.min_bytes();
        let by_percent = shares
            .iter()
            .flat_map(|share| {
                let covered = u64::from(share.bytes.div_ceil(smallest));
                std::iter::repeat_n((share.bytes, covered), usize::from(share.percent))
            })
            .collect();
        Self { by_percent }
    }
}

impl Sizes for SplitSizes {
    #[inline]
    fn draw(&self, _: u32, rng: &mut Xoshiro256PlusPlus) -> (u32, u64) {
        let index = below(rng.next_u64(), self.by_percent.len() as u64);
        self.by_percent[usize::try_from(index).expect("an index of this vector")]
    }
}

struct Generator<S, const RANDOM: bool> {
    rng: Xoshiro256PlusPlus,
    sizes: S,
    smallest: u32,
    start: u64,
    /// Length of the span in smallest blocks.
    positions: u64,
    /// Next position of a sequential thread, in smallest blocks.
    cursor: u64,
    /// Reads in 2^32.
    read_share: u64,
    sync_every: u32,
    writes_since_sync: u32,
    bytes_left: Option<u64>,
}

fn boxed<S: Sizes, const RANDOM: bool>(
    job: &Job,
    span: Span,
    sizes: S,
    rng: Xoshiro256PlusPlus,
) -> Box<dyn Draw> {
    let smallest = job.block_sizes.min_bytes();
    Box::new(Generator::<S, RANDOM> {
        rng,
        sizes,
        smallest,
        start: span.start,
        positions: span.bytes / u64::from(smallest),
        cursor: 0,
        read_share: (u64::from(job.read_percent) << 32) / 100,
        sync_every: job.fsync_every.unwrap_or(0),
        writes_since_sync: 0,
        bytes_left: match job.bound {
            iotax_spec::Bound::Time => None,
            iotax_spec::Bound::Bytes(bytes) => Some(bytes),
        },
    })
}

impl<S: Sizes, const RANDOM: bool> Generator<S, RANDOM> {
    #[inline]
    fn draw(&mut self) -> Io {
        let word = self.rng.next_u64();
        let (bytes, covered) = self.sizes.draw(self.smallest, &mut self.rng);
        let position = if RANDOM {
            below(word, self.positions + 1 - covered)
        } else {
            let at = if self.cursor + covered > self.positions { 0 } else { self.cursor };
            self.cursor = at + covered;
            at
        };
        // `below` uses the high bits; the low ones are free to choose the direction.
        let op = if (word & u64::from(u32::MAX)) < self.read_share { Op::Read } else { Op::Write };
        Io { offset: self.start + position * u64::from(self.smallest), bytes, op }
    }
}

impl<S: Sizes, const RANDOM: bool> Draw for Generator<S, RANDOM> {
    fn fill(&mut self, batch: &mut [Io]) -> usize {
        for (index, next) in batch.iter_mut().enumerate() {
            if self.sync_every > 0 && self.writes_since_sync == self.sync_every {
                self.writes_since_sync = 0;
                *next = Io::SYNC;
                continue;
            }
            if self.bytes_left == Some(0) {
                return index;
            }
            let io = self.draw();
            self.writes_since_sync += u32::from(io.op == Op::Write);
            if let Some(left) = &mut self.bytes_left {
                *left = left.saturating_sub(u64::from(io.bytes));
            }
            *next = io;
        }
        batch.len()
    }
}

/// A number in `0..bound` from 64 random bits, without division: the high half of the product
/// (Lemire, 2019). Its bias is below `bound / 2^64`.
#[inline]
pub fn below(word: u64, bound: u64) -> u64 {
    let product = u128::from(word) * u128::from(bound);
    u64::try_from(product >> 64).expect("the high half of a 128-bit product")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::testing::job;
    use iotax_spec::{Bound, Share};
    use proptest::prelude::*;

    fn sizes() -> impl Strategy<Value = BlockSizes> {
        prop_oneof![
            (0..4u32).prop_map(|shift| BlockSizes::Fixed(512 << shift)),
            (1..9u32).prop_map(|n| BlockSizes::Range { min: 1024, max: 1024 * n }),
            (1..100u8, 1..9u32).prop_map(|(percent, n)| BlockSizes::Split(vec![
                Share { bytes: 512, percent },
                Share { bytes: 512 * n + 512, percent: 100 - percent },
            ])),
        ]
    }

    proptest! {
        #[test]
        fn every_access_lies_in_the_span_aligned_to_the_smallest_block(
            sizes in sizes(),
            random: bool,
            start in (0..100u64).prop_map(|n| n * 4096),
            bytes in 8192..100_000u64,
            seed: u64,
        ) {
            let mut job = job();
            job.block_sizes = sizes;
            job.pattern = if random { Pattern::Random } else { Pattern::Sequential };
            job.read_percent = 50;
            let smallest = u64::from(job.block_sizes.min_bytes());
            let mut accesses = Accesses::new(&job, Span { start, bytes }, seed);
            let mut expected = start;
            for _ in 0..300 {
                let io = accesses.next().unwrap();
                let size = u64::from(io.bytes);
                prop_assert!(io.offset >= start && io.offset + size <= start + bytes);
                prop_assert_eq!((io.offset - start) % smallest, 0);
                prop_assert!(io.bytes <= job.block_sizes.max_bytes() && size >= smallest);
                if !random {
                    prop_assert!(io.offset == expected || io.offset == start);
                    expected = io.offset + size.next_multiple_of(smallest);
                }
            }
        }

        #[test]
        fn a_size_bound_thread_gets_its_bytes_and_no_more(blocks in 0..500u64) {
            let mut job = job();
            job.bound = Bound::Bytes(blocks * 4096);
            let mut accesses = Accesses::new(&job, Span { start: 0, bytes: 1 << 20 }, 1);
            let drawn = std::iter::from_fn(|| accesses.next()).count();
            prop_assert_eq!(drawn as u64, blocks);
            prop_assert!(accesses.is_exhausted());
        }
    }

    #[test]
    fn random_offsets_and_directions_are_uniform_and_independent() {
        let mut job = job();
        job.read_percent = 25;
        let mut accesses = Accesses::new(&job, Span { start: 0, bytes: 16 * 4096 }, 3);
        let mut counts = [[0_u32; 2]; 16];
        for _ in 0..64_000 {
            let io = accesses.next().unwrap();
            counts[usize::try_from(io.offset / 4096).unwrap()][io.op as usize] += 1;
        }
        for [reads, writes] in counts {
            // 1000 and 3000 expected; 6 standard deviations are 190 and 320.
            assert!(reads.abs_diff(1000) < 190 && writes.abs_diff(3000) < 320);
        }
    }

    #[test]
    fn a_sync_follows_every_so_many_writes() {
        let mut job = job();
        (job.read_percent, job.fsync_every) = (50, Some(3));
        let mut accesses = Accesses::new(&job, Span { start: 0, bytes: 1 << 20 }, 3);
        let mut writes = 0;
        for _ in 0..1000 {
            match accesses.next().unwrap().op {
                Op::Read => {}
                Op::Write => writes += 1,
                Op::Sync => assert_eq!(std::mem::take(&mut writes), 3),
            }
            assert!(writes <= 3);
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_and_another_seed_does_not() {
        let span = Span { start: 0, bytes: 1 << 20 };
        let draw = |seed| {
            let mut accesses = Accesses::new(&job(), span, seed);
            std::iter::from_fn(move || accesses.next()).take(200).collect::<Vec<_>>()
        };
        assert_eq!(draw(5), draw(5));
        assert_ne!(draw(5), draw(6));
    }
}
