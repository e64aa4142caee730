//! Draws I/Os by order, sizes and direction, each settled when the thread starts.

use iotax_experiment::{Bound, Job, Pattern, Trims};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng as _;

use super::order::Order;
use super::{Sizes, unit_bytes};
use crate::engine::{Io, Op};
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
            u32::try_from(spot.covered * self.unit).expect("less than the requested size")
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

// What comes between I/Os: syncs, pauses, and the end of a pass over the span.

/// Puts marks between the I/Os of one thread.
pub(super) struct Marks {
    /// Writes from one sync to the next; 0: never.
    sync_every: u32,
    writes: u32,
    /// Files to be synced each time.
    files: u16,
    /// Of those, still to come.
    syncs_due: u16,
    /// I/Os from one pause to the next; 0: never.
    think_every: u32,
    ios: u32,
    pause_due: bool,
    /// Whether the cache is dropped at the end of a pass.
    forgets: bool,
    /// The first I/O of a pass, after the mark that the last one is over.
    held: Option<Io>,
    /// Whether the cache is dropped after each I/O.
    uncached: bool,
    /// What was touched last, and is to be dropped.
    touched: Option<Io>,
}

impl Marks {
    /// Those that `job` asks for, if any.
    pub(super) fn of(job: &Job) -> Option<Self> {
        let sync_every = job.fsync_every.unwrap_or(0);
        let think_every = job.think.map_or(0, |think| think.after_ios);
        // These never come to an end of a pass.
        let is_endless =
            |pattern: &Pattern| *pattern == Pattern::Random || pattern.has_hot_places();
        let endless = job.stretches.is_none() && job.patterns().any(is_endless);
        let forgets = job.invalidate && !job.direct && !endless;
        (sync_every > 0 || think_every > 0 || forgets || job.uncached).then(|| Self {
            sync_every,
            writes: 0,
            files: u16::try_from(job.files_per_thread).unwrap_or(u16::MAX).max(1),
            syncs_due: 0,
            think_every,
            ios: 0,
            pause_due: false,
            forgets,
            held: None,
            uncached: job.uncached,
            touched: None,
        })
    }

    /// What comes before the next I/O is drawn.
    pub(super) fn due(&mut self) -> Option<Io> {
        if let Some(io) = self.held.take() {
            return Some(io);
        }
        if self.syncs_due > 0 {
            self.syncs_due -= 1;
            return Some(Io { file: self.syncs_due, ..Io::SYNC });
        }
        if let Some(touched) = self.touched.take() {
            return Some(Io { op: Op::Forget, ..touched });
        }
        std::mem::take(&mut self.pause_due).then_some(Io::PAUSE)
    }

    /// Counts an I/O that was drawn, and says what comes now: it, or a mark before it.
    pub(super) fn pass(&mut self, io: Io, wrapped: bool) -> Io {
        if io.op == Op::Write {
            self.writes += 1;
            if self.writes == self.sync_every {
                (self.writes, self.syncs_due) = (0, self.files);
            }
        }
        self.ios += 1;
        if self.ios == self.think_every {
            (self.ios, self.pause_due) = (0, true);
        }
        self.touched = self.uncached.then_some(io);
        if wrapped && self.forgets {
            self.held = Some(io);
            return Io { file: io.file, ..Io::FORGET };
        }
        io
    }
}

// Checks of what was written, between the writes (fio: `verify_backlog`).

/// After every N writes, N reads check the same places in the same order.
struct Backlog {
    written: Box<[Io]>,
    len: usize,
    /// Of these, those that are checked; all are when none is to be checked.
    checked: usize,
}

impl Backlog {
    /// For this many writes.
    pub(super) fn new(every: u32) -> Self {
        let written = vec![Io::SYNC; every as usize].into_boxed_slice();
        Self { written, len: 0, checked: 0 }
    }

    /// The check that comes next, if it is time for one.
    #[inline]
    pub(super) fn due(&mut self) -> Option<Io> {
        if self.len < self.written.len() {
            return None;
        }
        let io = self.written[self.checked];
        self.checked += 1;
        if self.checked == self.len {
            (self.len, self.checked) = (0, 0);
        }
        Some(Io { op: Op::Read, check: true, ..io })
    }

    /// Remembers an I/O that was drawn.
    #[inline]
    pub(super) fn drawn(&mut self, io: Io) {
        if io.op == Op::Write {
            self.written[self.len] = io;
            self.len += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a queue: each full lot of writes is checked, in its order, before anything else.
        #[test]
        fn writes_are_checked_once_and_in_order(
            every in 1..9_u32, kinds in prop::collection::vec(0..3_u8, 1..200)
        ) {
            let mut backlog = Backlog::new(every);
            let mut queue = VecDeque::new();
            for (nth, kind) in (0..).zip(kinds) {
                prop_assert_eq!(backlog.due(), None);
                let op = [Op::Write, Op::Read, Op::Trim][usize::from(kind)];
                let io = Io { offset: nth * 4096, bytes: 4096, op, ..Io::SYNC };
                backlog.drawn(io);
                if op == Op::Write {
                    queue.push_back(Io { op: Op::Read, check: true, ..io });
                }
                if queue.len() == every as usize {
                    for check in queue.drain(..) {
                        prop_assert_eq!(backlog.due(), Some(check));
                    }
                }
            }
        }
    }
}
