//! Which I/O comes next: offset, size and direction.
//!
//! I/Os are drawn in batches through one virtual call, so that the loop that issues them is
//! compiled once per engine rather than once per combination of pattern, sizes and mix, and still
//! takes no decision that was settled when the job started.

mod generator;
mod order;
mod shuffle;
mod skew;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use iotax_experiment::{BlockSizes, Bound, Job, Pattern, RunLength, Skew, Stretches};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::{Io, below};
use crate::file_assignment::Span;
use generator::{Bounded, ByDirection, Draw, Generator, Source};
use order::{
    Backward, InStretches, Interlocked, Jumps, Once, Order, Runs, Sequential, Strided, Turns,
    Uniform, units_of_one,
};
use shuffle::{Shuffled, ShuffledParts};
use skew::{Normal, Pareto, Skewed, Zipf, Zoned, first_at, middle_at};

/// I/Os drawn by one virtual call.
const BATCH: usize = 64;

/// Bytes from one offset that `job` may choose to the next.
pub(crate) fn unit_bytes(job: &Job) -> u64 {
    match (&job.pattern, job.align_bytes) {
        // Strides are what is aligned, and they may be any number of bytes.
        (Pattern::Strided(_) | Pattern::Staggered { .. } | Pattern::Interlocked(_), _) => 1,
        // So that the first one, at the end of the span, is aligned as all others.
        (Pattern::Backward(_), _) => job.granule_bytes(),
        (_, Some(align_bytes)) => align_bytes,
        (_, None) => u64::from(job.block_sizes.min_bytes()),
    }
}

/// Which thread of its job it is, and what all of them share.
#[derive(Clone, Default)]
pub(crate) struct Seat {
    pub index: u32,
    /// I/Os that the threads have taken together, where they take them in turns.
    pub turn: Arc<AtomicU64>,
}

/// The I/Os of one thread, in order.
pub(crate) struct Accesses {
    batch: [Io; BATCH],
    /// I/Os that are drawn ahead: one where other threads draw from the same sequence.
    most: usize,
    next: usize,
    len: usize,
    started: bool,
    draw: Box<dyn Draw>,
}

impl Accesses {
    /// The accesses of the only thread of `job`.
    #[cfg(test)]
    pub(crate) fn new(job: &Job, span: Span, seed: u64) -> Self {
        Self::of_thread(job, span, seed, &Seat::default())
    }

    /// The accesses of one thread of `job` within `span` of each of its files.
    pub(crate) fn of_thread(job: &Job, span: Span, seed: u64, seat: &Seat) -> Self {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let draw = match job.by_direction() {
            None => Thread { job, span, rng, seat }.make(Draws { job, span }),
            Some(directions) => {
                let mut sources = rng.clone();
                let of_one = |alone: &Job| {
                    // Other bits for each of them.
                    sources.jump();
                    Thread { job: alone, span, rng: sources.clone(), seat }.make(Boxed)
                };
                let [reads, writes] = directions.each_ref().map(of_one);
                Draws { job, span }.make(ByDirection::new(job, [reads, writes], rng))
            }
        };
        let most = if matches!(job.pattern, Pattern::Interlocked(_)) { 1 } else { BATCH };
        Self { batch: [Io::SYNC; BATCH], most, next: 0, len: 0, started: false, draw }
    }

    /// The next I/O, or `None` when a size-bound thread has moved its bytes.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Io> {
        if self.next == self.len {
            self.len = self.draw.fill(&mut self.batch[..self.most]);
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
    pub(crate) fn put_back(&mut self) {
        self.next -= 1;
    }

    /// Whether all bytes of a size-bound thread were handed out.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.len == 0 && self.started
    }
}

/// What decides which generator is made.
struct Thread<'a> {
    job: &'a Job,
    span: Span,
    rng: Xoshiro256PlusPlus,
    seat: &'a Seat,
}

/// What becomes of a generator whose type is known.
trait Make {
    type Made: ?Sized;

    fn make(self, source: impl Source + 'static) -> Box<Self::Made>;
}

/// All the I/Os of a job.
struct Draws<'a> {
    job: &'a Job,
    span: Span,
}

impl Make for Draws<'_> {
    type Made = dyn Draw;

    fn make(self, source: impl Source + 'static) -> Box<dyn Draw> {
        Box::new(Bounded::new(self.job, self.span, source))
    }
}

/// Its reads or its writes.
struct Boxed;

impl Make for Boxed {
    type Made = dyn Source;

    fn make(self, source: impl Source + 'static) -> Box<dyn Source> {
        Box::new(source)
    }
}

impl Thread<'_> {
    fn make<M: Make>(self, make: M) -> Box<M::Made> {
        let unit = unit_bytes(self.job);
        let positions = self.span.bytes / unit;
        if let Some(stretches) = self.job.stretches {
            return self.in_stretches(make, stretches, positions);
        }
        let largest = u64::from(self.job.block_sizes.max_bytes());
        match &self.job.pattern {
            Pattern::Random => self.of_order(make, |_| Uniform { positions }),
            Pattern::Shuffled if largest <= unit => {
                self.of_order(make, |rng| Shuffled::new(positions, rng))
            }
            Pattern::Shuffled => self.of_order(make, |rng| ShuffledParts::new(positions, rng)),
            Pattern::Skewed(skew) => self.of_skew(make, *skew, None, positions),
            Pattern::Centred { skew, centre } => {
                self.of_skew(make, *skew, Some(*centre), positions)
            }
            Pattern::Zoned(zones) => self.of_order(make, |_| Zoned::new(zones, positions, unit)),
            Pattern::Sequential if self.job.bound == Bound::Span => {
                self.of_order(make, |_| Once::new(positions))
            }
            Pattern::Sequential => self.of_order(make, |_| Sequential::new(positions)),
            Pattern::Strided(stride) => {
                let units = stride / unit;
                self.of_order(make, |_| Strided::new(positions, units))
            }
            Pattern::Staggered { step_bytes, apart_bytes } => {
                let (step, apart) = (step_bytes / unit, apart_bytes / unit);
                let start = apart.saturating_mul(self.seat.index.into());
                self.of_order(make, |_| Strided::from(positions, step, start))
            }
            Pattern::Interlocked(step) => {
                let (step, covered) = (step / unit, largest.div_ceil(unit));
                let turn = &self.seat.turn;
                self.of_order(make, |_| {
                    Interlocked::new(positions, step, covered, Arc::clone(turn))
                })
            }
            Pattern::Backward(step) => {
                let units = step / unit;
                self.of_order(make, |_| Backward::new(positions, units))
            }
            Pattern::Runs(RunLength::Fixed(length)) => {
                self.of_order(make, |_| Runs::new(positions, (*length).max(1)))
            }
            Pattern::Runs(RunLength::Geometric(mean)) => {
                self.of_order(make, |rng| Jumps::from_anywhere(positions, 1.0 / mean, rng))
            }
            Pattern::Mixed { random_percent } => {
                self.of_order(make, |_| Jumps::new(positions, f64::from(*random_percent) / 100.0))
            }
        }
    }

    fn in_stretches<M: Make>(self, make: M, all: Stretches, positions: u64) -> Box<M::Made> {
        let unit = unit_bytes(self.job);
        let one = units_of_one(all, positions, unit);
        let is_fixed = matches!(self.job.block_sizes, BlockSizes::Fixed(_));
        match &self.job.pattern {
            Pattern::Sequential => self
                .of_order(make, |_| InStretches::new(Sequential::new(one), all, positions, unit)),
            Pattern::Shuffled if is_fixed => self.of_order(make, |rng| {
                InStretches::new(Shuffled::new(one, rng), all, positions, unit)
            }),
            _ => self.of_order(make, |_| {
                InStretches::new(Uniform { positions: one }, all, positions, unit)
            }),
        }
    }

    fn of_skew<M: Make>(
        self,
        make: M,
        skew: Skew,
        centre: Option<f64>,
        positions: u64,
    ) -> Box<M::Made> {
        let first = centre.map(|centre| first_at(centre, positions));
        match skew {
            Skew::Zipf(theta) => {
                let ranks = || Zipf::new(positions, theta);
                self.of_order(make, |rng| Skewed::new(ranks(), positions, first, rng))
            }
            Skew::Pareto(power) => {
                let ranks = || Pareto::new(positions, power);
                self.of_order(make, |rng| Skewed::new(ranks(), positions, first, rng))
            }
            Skew::Normal(percent) => {
                let ranks = || Normal::new(positions, percent);
                let shift = centre.map(|centre| middle_at(centre, positions));
                self.of_order(make, |rng| Skewed::new(ranks(), positions, shift, rng))
            }
        }
    }

    fn of_order<M: Make, O: Order>(
        self,
        make: M,
        order: impl Fn(&mut Xoshiro256PlusPlus) -> O,
    ) -> Box<M::Made> {
        let unit = unit_bytes(self.job);
        match &self.job.block_sizes {
            BlockSizes::Fixed(bytes) => self.of_sizes(make, FixedSize::new(*bytes, unit), order),
            BlockSizes::Range { min, max } => {
                self.of_sizes(make, RangeSizes::new(*min, *max, unit), order)
            }
            sizes @ BlockSizes::Split(_) => {
                self.of_sizes(make, SplitSizes::new(sizes, unit), order)
            }
        }
    }

    fn of_sizes<M: Make, O: Order, S: Sizes>(
        mut self,
        make: M,
        sizes: S,
        order: impl Fn(&mut Xoshiro256PlusPlus) -> O,
    ) -> Box<M::Made> {
        let takes_turns = self.job.bound != Bound::Span;
        if self.job.files_per_thread > 1 && takes_turns {
            let turns = Turns::new((0..self.job.files_per_thread).map(|_| order(&mut self.rng)));
            return make.make(Generator::new(self.job, self.span, turns, sizes, self.rng));
        }
        let order = order(&mut self.rng);
        make.make(Generator::new(self.job, self.span, order, sizes, self.rng))
    }
}

// How large the next I/O is.

/// Draws sizes.
trait Sizes: Send + 'static {
    /// (bytes, units covered, rounded up)
    fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> (u32, u64);
}

struct FixedSize {
    bytes: u32,
    covered: u64,
}

impl FixedSize {
    /// Of `bytes`, where offsets are multiples of `unit`.
    fn new(bytes: u32, unit: u64) -> Self {
        Self { bytes, covered: u64::from(bytes).div_ceil(unit) }
    }
}

impl Sizes for FixedSize {
    #[inline]
    fn draw(&self, _: &mut Xoshiro256PlusPlus) -> (u32, u64) {
        (self.bytes, self.covered)
    }
}

/// Uniform over the multiples of the smallest.
struct RangeSizes {
    smallest: u32,
    multiples: u64,
    unit: u64,
}

impl RangeSizes {
    /// From `min` to `max`, where offsets are multiples of `unit`.
    fn new(min: u32, max: u32, unit: u64) -> Self {
        Self { smallest: min, multiples: u64::from(max / min), unit }
    }
}

impl Sizes for RangeSizes {
    #[inline]
    fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> (u32, u64) {
        let multiple = 1 + below(rng.next_u64(), self.multiples);
        let bytes = u64::from(self.smallest) * multiple;
        // No division in the usual case.
        let covered = if self.unit == u64::from(self.smallest) {
            multiple
        } else {
            bytes.div_ceil(self.unit)
        };
        (u32::try_from(bytes).expect("at most the largest block, a u32"), covered)
    }
}

/// By weight: one entry per percent.
struct SplitSizes {
    by_percent: Vec<(u32, u64)>,
}

impl SplitSizes {
    /// As in `sizes`, where offsets are multiples of `unit`.
    fn new(sizes: &BlockSizes, unit: u64) -> Self {
        let BlockSizes::Split(shares) = sizes else { unreachable!("called for splits only") };
        let by_percent = shares
            .iter()
            .flat_map(|share| {
                let covered = u64::from(share.bytes).div_ceil(unit);
                std::iter::repeat_n((share.bytes, covered), usize::from(share.percent))
            })
            .collect();
        Self { by_percent }
    }
}

impl Sizes for SplitSizes {
    #[inline]
    fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> (u32, u64) {
        let index = below(rng.next_u64(), self.by_percent.len() as u64);
        self.by_percent[usize::try_from(index).expect("an index of this vector")]
    }
}
