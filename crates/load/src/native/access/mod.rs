//! Which I/O comes next: offset, size and direction.
//!
//! I/Os are drawn in batches through one virtual call, so that the loop that issues them is
//! compiled once per engine rather than once per combination of pattern, sizes and mix, and still
//! takes no decision that was settled when the job started.

mod generator;
mod marks;
mod order;
mod shuffle;
mod sizes;
mod skew;

use iotax_spec::{BlockSizes, Bound, Job, Pattern, RunLength, Skew};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

use super::io::Io;
use super::span::Span;
use generator::{Draw, Generator};
use order::{Backward, Jumps, Once, Order, Runs, Sequential, Strided, Turns, Uniform};
use shuffle::{Shuffled, ShuffledParts};
use sizes::{FixedSize, RangeSizes, Sizes, SplitSizes};
use skew::{Normal, Pareto, Skewed, Zipf};

/// I/Os drawn by one virtual call.
const BATCH: usize = 64;

/// Bytes from one offset that `job` may choose to the next.
pub(crate) fn unit_bytes(job: &Job) -> u64 {
    match (job.pattern, job.align_bytes) {
        // Strides are what is aligned, and they may be any number of bytes.
        (Pattern::Strided(_), _) => 1,
        // So that the first one, at the end of the span, is aligned as all others.
        (Pattern::Backward(_), _) => job.granule_bytes(),
        (_, Some(align_bytes)) => align_bytes,
        (_, None) => u64::from(job.block_sizes.min_bytes()),
    }
}

/// The I/Os of one thread, in order.
pub(crate) struct Accesses {
    batch: [Io; BATCH],
    next: usize,
    len: usize,
    started: bool,
    draw: Box<dyn Draw>,
}

impl Accesses {
    /// The accesses of one thread of `job` within `span` of each of its files.
    pub(crate) fn new(job: &Job, span: Span, seed: u64) -> Self {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let draw = Thread { job, span, unit: unit_bytes(job), rng }.draw();
        Self { batch: [Io::SYNC; BATCH], next: 0, len: 0, started: false, draw }
    }

    /// The next I/O, or `None` when a size-bound thread has moved its bytes.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Io> {
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
    unit: u64,
    rng: Xoshiro256PlusPlus,
}

impl Thread<'_> {
    fn draw(self) -> Box<dyn Draw> {
        let positions = self.span.bytes / self.unit;
        let largest = u64::from(self.job.block_sizes.max_bytes());
        match self.job.pattern {
            Pattern::Random => self.of_order(|_| Uniform { positions }),
            Pattern::Shuffled if largest <= self.unit => {
                self.of_order(|rng| Shuffled::new(positions, rng))
            }
            Pattern::Shuffled => self.of_order(|rng| ShuffledParts::new(positions, rng)),
            Pattern::Skewed(Skew::Zipf(theta)) => {
                self.of_order(|rng| Skewed::new(Zipf::new(positions, theta), positions, rng))
            }
            Pattern::Skewed(Skew::Pareto(power)) => {
                self.of_order(|rng| Skewed::new(Pareto::new(positions, power), positions, rng))
            }
            Pattern::Skewed(Skew::Normal(percent)) => {
                self.of_order(|rng| Skewed::new(Normal::new(positions, percent), positions, rng))
            }
            Pattern::Sequential if self.job.bound == Bound::Span => {
                self.of_order(|_| Once::new(positions))
            }
            Pattern::Sequential => self.of_order(|_| Sequential::new(positions)),
            Pattern::Strided(stride) => {
                let units = stride / self.unit;
                self.of_order(|_| Strided::new(positions, units))
            }
            Pattern::Backward(step) => {
                let units = step / self.unit;
                self.of_order(|_| Backward::new(positions, units))
            }
            Pattern::Runs(RunLength::Fixed(length)) => {
                self.of_order(|_| Runs::new(positions, length.max(1)))
            }
            Pattern::Runs(RunLength::Geometric(mean)) => {
                self.of_order(|rng| Jumps::from_anywhere(positions, 1.0 / mean, rng))
            }
            Pattern::Mixed { random_percent } => {
                self.of_order(|_| Jumps::new(positions, f64::from(random_percent) / 100.0))
            }
        }
    }

    fn of_order<O: Order>(self, order: impl Fn(&mut Xoshiro256PlusPlus) -> O) -> Box<dyn Draw> {
        let unit = self.unit;
        match &self.job.block_sizes {
            BlockSizes::Fixed(bytes) => self.of_sizes(FixedSize::new(*bytes, unit), order),
            BlockSizes::Range { min, max } => {
                self.of_sizes(RangeSizes::new(*min, *max, unit), order)
            }
            sizes @ BlockSizes::Split(_) => self.of_sizes(SplitSizes::new(sizes, unit), order),
        }
    }

    fn of_sizes<O: Order, S: Sizes>(
        mut self,
        sizes: S,
        order: impl Fn(&mut Xoshiro256PlusPlus) -> O,
    ) -> Box<dyn Draw> {
        let place = (self.span, self.unit);
        let takes_turns = self.job.bound != Bound::Span;
        if self.job.files_per_thread > 1 && takes_turns {
            let turns = Turns::new((0..self.job.files_per_thread).map(|_| order(&mut self.rng)));
            return Box::new(Generator::new(self.job, place, turns, sizes, self.rng));
        }
        let order = order(&mut self.rng);
        Box::new(Generator::new(self.job, place, order, sizes, self.rng))
    }
}

#[cfg(test)]
mod tests;
