//! When I/Os are meant to start: an absolute schedule, so that a slow I/O delays the ones behind
//! it but never the schedule, and no arrival is skipped (no coordinated omission).

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// Intended starts drawn by one virtual call.
const BATCH: usize = 64;

/// The intended starts of one thread's I/Os, ascending, in nanoseconds on the trial's clock.
pub struct Schedule {
    batch: [u64; BATCH],
    next: usize,
    /// Intended starts before this batch.
    drawn_before: u64,
    arrivals: Box<dyn Arrivals>,
}

impl Schedule {
    /// Thread `index` of `threads` that together offer `iops` at fixed intervals: the threads
    /// take turns.
    pub fn even(start_ns: u64, iops: f64, index: u32, threads: u32) -> Self {
        let gap_ns = 1e9 / iops;
        Self::of(Even {
            start_ns,
            phase_ns: gap_ns * f64::from(index),
            gap_ns: gap_ns * f64::from(threads),
            issued: 0,
        })
    }

    /// A Poisson process of rate `iops / threads`: `threads` of them together are one of `iops`.
    pub fn poisson(start_ns: u64, iops: f64, threads: u32, seed: u64) -> Self {
        Self::of(Poisson {
            start_ns,
            mean_gap_ns: 1e9 * f64::from(threads) / iops,
            elapsed_ns: 0.0,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        })
    }

    fn of(arrivals: impl Arrivals + 'static) -> Self {
        let mut schedule =
            Self { batch: [0; BATCH], next: 0, drawn_before: 0, arrivals: Box::new(arrivals) };
        schedule.arrivals.fill(&mut schedule.batch);
        schedule
    }

    /// The next intended start.
    #[inline]
    pub fn peek(&self) -> u64 {
        self.batch[self.next]
    }

    /// Moves on to the one after.
    #[inline]
    pub fn advance(&mut self) {
        self.next += 1;
        if self.next == BATCH {
            self.next = 0;
            self.drawn_before += BATCH as u64;
            self.arrivals.fill(&mut self.batch);
        }
    }

    /// How many intended starts were taken so far.
    pub fn taken(&self) -> u64 {
        self.drawn_before + self.next as u64
    }

    /// Passes over the intended starts before `instant_ns` and says how many there were in all.
    pub fn count_before(&mut self, instant_ns: u64) -> u64 {
        while self.peek() < instant_ns {
            self.advance();
        }
        self.taken()
    }
}

trait Arrivals: Send {
    fn fill(&mut self, batch: &mut [u64]);
}

struct Even {
    start_ns: u64,
    phase_ns: f64,
    gap_ns: f64,
    issued: u64,
}

impl Arrivals for Even {
    fn fill(&mut self, batch: &mut [u64]) {
        for instant in batch {
            // From the count, not from the previous instant: rounding cannot add up to a drift.
            *instant = self.start_ns + whole_ns(self.phase_ns + self.gap_ns * self.issued as f64);
            self.issued += 1;
        }
    }
}

struct Poisson {
    start_ns: u64,
    mean_gap_ns: f64,
    elapsed_ns: f64,
    rng: Xoshiro256PlusPlus,
}

impl Arrivals for Poisson {
    fn fill(&mut self, batch: &mut [u64]) {
        for instant in batch {
            // Inversion of the exponential distribution; the uniform is in (0, 1].
            let uniform = ((self.rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
            self.elapsed_ns -= uniform.ln() * self.mean_gap_ns;
            *instant = self.start_ns + whole_ns(self.elapsed_ns);
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times are >= 0")]
fn whole_ns(ns: f64) -> u64 {
    ns as u64
}
