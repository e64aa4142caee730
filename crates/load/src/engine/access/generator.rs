//! Draws I/Os by order, sizes and direction, each settled when the thread starts.

use iotax_experiment::{Bound, Job, Trims};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng as _;

use super::backlog::Backlog;
use super::marks::Marks;
use super::order::Order;
use super::sizes::Sizes;
use super::unit_bytes;
use crate::engine::io::{Io, Op};
use crate::file_assignment::Span;

/// Draws I/Os, many at a time.
pub(super) trait Draw: Send {
    /// Fills `batch` from its start and says how many; 0 means that there are no more.
    fn fill(&mut self, batch: &mut [Io]) -> usize;
}

/// Draws one I/O at a time.
pub(super) trait Source: Send {
    /// The next I/O, and whether it begins another pass.
    fn draw(&mut self) -> (Io, bool);
}

pub(super) struct Generator<O, S> {
    rng: Xoshiro256PlusPlus,
    order: O,
    sizes: S,
    start: u64,
    /// Bytes from one place that can be chosen to the next.
    unit: u64,
    /// Reads in 2^32.
    read_share: u64,
    /// What is no read.
    change: Op,
    /// What the last I/O was.
    last: Op,
    /// What it reads is verified.
    check: bool,
}

/// Reads in 2^32 of a job's I/Os.
fn read_share(job: &Job) -> u64 {
    (u64::from(job.read_percent) << 32) / 100
}

impl<O: Order, S: Sizes> Generator<O, S> {
    /// The I/Os of one thread of `job`, at multiples of its unit from the start of `span`.
    pub(super) fn new(job: &Job, span: Span, order: O, sizes: S, rng: Xoshiro256PlusPlus) -> Self {
        Self {
            rng,
            order,
            sizes,
            start: span.start,
            unit: unit_bytes(job),
            read_share: read_share(job),
            change: if job.trims.is_some() { Op::Trim } else { Op::Write },
            last: Op::Read,
            check: job.verify_apart && job.reads(),
        }
    }
}

impl<O: Order, S: Sizes> Source for Generator<O, S> {
    #[inline]
    fn draw(&mut self) -> (Io, bool) {
        let word = self.rng.next_u64();
        let (bytes, covered) = self.sizes.draw(&mut self.rng);
        let spot = self.order.next(word, covered, &mut self.rng);
        let bytes = if spot.covered < covered {
            u32::try_from(spot.covered * self.unit).expect("less than was asked for, a u32")
        } else {
            bytes
        };
        // Orders use the upper bits; the lower ones are free to choose the direction.
        if !spot.same_way {
            let reads = (word & u64::from(u32::MAX)) < self.read_share;
            self.last = if reads { Op::Read } else { self.change };
        }
        let op = self.last;
        let offset = self.start + spot.at * self.unit;
        (Io { offset, bytes, file: spot.file, op, check: self.check }, spot.wrapped)
    }
}

/// Reads and writes that advance each on their own.
pub(super) struct ByDirection {
    rng: Xoshiro256PlusPlus,
    read_share: u64,
    reads: Box<dyn Source>,
    writes: Box<dyn Source>,
}

impl ByDirection {
    /// The I/Os of one thread of `job`, from these.
    pub(super) fn new(
        job: &Job,
        [reads, writes]: [Box<dyn Source>; 2],
        rng: Xoshiro256PlusPlus,
    ) -> Self {
        Self { rng, read_share: read_share(job), reads, writes }
    }
}

impl Source for ByDirection {
    #[inline]
    fn draw(&mut self) -> (Io, bool) {
        let is_read = self.rng.next_u64() >> 32 < self.read_share;
        if is_read { self.reads.draw() } else { self.writes.draw() }
    }
}

/// What a source gives, until the job's bytes are moved, and what comes between its I/Os.
pub(super) struct Bounded<G> {
    source: G,
    /// Each trim is followed by a write to the same place.
    in_pairs: bool,
    /// The trim whose write comes next.
    trimmed: Option<Io>,
    backlog: Option<Backlog>,
    marks: Option<Marks>,
    bytes_left: Option<u64>,
}

impl<G: Source> Bounded<G> {
    /// The I/Os of one thread of `job` in `span`.
    pub(super) fn new(job: &Job, span: Span, source: G) -> Self {
        Self {
            source,
            in_pairs: job.trims == Some(Trims::First),
            trimmed: None,
            backlog: job.verify_every.map(Backlog::new),
            marks: Marks::of(job),
            bytes_left: match job.bound {
                Bound::Time => None,
                Bound::Bytes(bytes) => Some(bytes),
                // What is left at the end is less than can be chosen.
                Bound::Span => {
                    let bytes = span.bytes - span.bytes % unit_bytes(job);
                    Some(bytes * u64::from(job.files_per_thread.max(1)))
                }
            },
        }
    }

    #[inline]
    fn next(&mut self) -> (Io, bool) {
        if !self.in_pairs {
            return self.source.draw();
        }
        if let Some(trim) = self.trimmed.take() {
            return (Io { op: Op::Write, ..trim }, false);
        }
        let (io, wrapped) = self.source.draw();
        self.trimmed = Some(io);
        (io, wrapped)
    }
}

impl<G: Source> Draw for Bounded<G> {
    fn fill(&mut self, batch: &mut [Io]) -> usize {
        for (index, next) in batch.iter_mut().enumerate() {
            if let Some(mark) = self.marks.as_mut().and_then(Marks::due) {
                *next = mark;
                continue;
            }
            if let Some(check) = self.backlog.as_mut().and_then(Backlog::due) {
                *next = check;
                continue;
            }
            if self.bytes_left == Some(0) {
                return index;
            }
            let (io, wrapped) = self.next();
            if let Some(backlog) = &mut self.backlog {
                backlog.drawn(io);
            }
            // As in fio, what is trimmed and then written counts once.
            if let Some(left) = &mut self.bytes_left
                && self.trimmed.is_none()
            {
                *left = left.saturating_sub(u64::from(io.bytes));
            }
            *next = match &mut self.marks {
                None => io,
                Some(marks) => marks.pass(io, wrapped),
            };
        }
        batch.len()
    }
}
