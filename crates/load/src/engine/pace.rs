//! The intended starts of I/Os. The schedule is absolute: a slow I/O delays the ones behind it but
//! never the schedule, and no arrival is skipped (no coordinated omission). Also the proportions
//! between threads (fio's `flow`).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use iotax_experiment::{Flow, Workload};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// Intended starts drawn by one virtual call.
const BATCH: usize = 64;

/// The intended starts of one thread's I/Os, ascending, in nanoseconds on the trial's clock.
pub(crate) struct Schedule {
    batch: [u64; BATCH],
    next: usize,
    /// Intended starts before this batch.
    drawn_before: u64,
    arrivals: Box<dyn Arrivals>,
}

impl Schedule {
    /// Thread `index` of `threads` that together offer `iops` at fixed intervals: the threads
    /// take turns.
    pub(crate) fn even(start_ns: u64, iops: f64, index: u32, threads: u32) -> Self {
        let gap_ns = 1e9 / iops;
        Self::of(Even {
            start_ns,
            phase_ns: gap_ns * f64::from(index),
            gap_ns: gap_ns * f64::from(threads),
            issued: 0,
        })
    }

    /// A Poisson process of rate `iops / threads`: `threads` of them together are one of `iops`.
    pub(crate) fn poisson(start_ns: u64, iops: f64, threads: u32, seed: u64) -> Self {
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
    pub(crate) fn peek(&self) -> u64 {
        self.batch[self.next]
    }

    /// Moves on to the one after.
    #[inline]
    pub(crate) fn advance(&mut self) {
        self.next += 1;
        if self.next == BATCH {
            self.next = 0;
            self.drawn_before += BATCH as u64;
            self.arrivals.fill(&mut self.batch);
        }
    }

    /// How many intended starts were taken so far.
    pub(crate) fn taken(&self) -> u64 {
        self.drawn_before + self.next as u64
    }

    /// Passes over the intended starts before `instant_ns` and says how many there were in all.
    pub(crate) fn count_before(&mut self, instant_ns: u64) -> u64 {
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

// Threads that keep their I/Os in proportion to each other, by fio's rule (`flow.c` of 3.33): a
// thread whose share of all I/Os of its group is above its share of the weights waits.

/// What the threads of one group count together.
#[derive(Debug)]
pub(crate) struct Group {
    ios: AtomicU64,
    weights: AtomicU64,
}

/// The groups of a load, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Groups(BTreeMap<u32, Group>);

impl Groups {
    /// All threads are in before the first begins.
    pub(crate) fn of(workload: &Workload, threads: &[usize]) -> Self {
        let mut groups = BTreeMap::new();
        for (job, threads) in workload.jobs.iter().zip(threads) {
            let Some(flow) = job.flow else { continue };
            let group = groups.entry(flow.group).or_insert_with(|| Group {
                // So that there is a share of it from the start.
                ios: AtomicU64::new(1),
                weights: AtomicU64::new(0),
            });
            *group.weights.get_mut() += u64::from(flow.weight) * *threads as u64;
        }
        Self(groups)
    }

    /// The turn of one thread.
    pub(crate) fn turn(&self, flow: Option<Flow>) -> Option<Turn<'_>> {
        let flow = flow?;
        let group = self.0.get(&flow.group)?;
        Some(Turn { group, weight: flow.weight.into(), sleep_ns: flow.sleep_ns, ios: 0 })
    }
}

/// One thread of a group; it leaves when this is dropped.
pub(crate) struct Turn<'a> {
    group: &'a Group,
    weight: u64,
    /// How long it sleeps when it is ahead.
    pub sleep_ns: u64,
    ios: u64,
}

impl Turn<'_> {
    /// Whether others have to catch up first.
    #[inline]
    pub(crate) fn is_ahead(&self) -> bool {
        let all = self.group.ios.load(Ordering::Relaxed);
        let weights = self.group.weights.load(Ordering::Relaxed);
        u128::from(self.ios) * u128::from(weights) > u128::from(self.weight) * u128::from(all)
    }

    /// It has begun another I/O.
    #[inline]
    pub(crate) fn count(&mut self) {
        self.ios += 1;
        self.group.ios.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.group.ios.fetch_sub(self.ios, Ordering::Relaxed);
        self.group.weights.fetch_sub(self.weight, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn instants(schedule: &mut Schedule, count: usize) -> Vec<u64> {
        (0..count)
            .map(|_| {
                let instant = schedule.peek();
                schedule.advance();
                instant
            })
            .collect()
    }

    proptest! {
        #[test]
        fn an_even_schedule_does_not_drift(
            iops in 0.1f64..3_000_000.0, start: u32, n in 0..5000u32
        ) {
            let mut schedule = Schedule::even(start.into(), iops, 0, 1);
            let last = *instants(&mut schedule, n as usize + 1).last().unwrap();
            let exact = f64::from(start) + f64::from(n) * 1e9 / iops;
            prop_assert!((last as f64 - exact).abs() <= 1.0 + exact * 1e-12);
        }

        #[test]
        fn threads_with_an_even_schedule_take_turns(threads in 1..9u32) {
            let mut all: Vec<u64> = (0..threads)
                .flat_map(|index| {
                    instants(&mut Schedule::even(100, 1000.0, index, threads), 50)
                })
                .collect();
            all.sort_unstable();
            for (n, instant) in (0..).zip(&all) {
                prop_assert_eq!(*instant, 100 + n * 1_000_000);
            }
        }

        #[test]
        fn counting_equals_walking(seed: u64, until in 0..50_000_000u64) {
            let fresh = || Schedule::poisson(0, 10_000.0, 2, seed);
            let walked = instants(&mut fresh(), 2000);
            let expected = walked.iter().filter(|instant| **instant < until).count() as u64;
            prop_assert_eq!(fresh().count_before(until), expected);
        }
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_variance_of_an_exponential_distribution() {
        let count = 200_000;
        let mut schedule = Schedule::poisson(0, 1_000_000.0, 4, 9);
        let instants = instants(&mut schedule, count);
        let gaps: Vec<f64> = instants.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // Standard errors are 0.22 % of the mean and 0.63 % of the variance.
        assert!((mean / 4000.0 - 1.0).abs() < 0.012, "{mean}");
        assert!((variance / 16e6 - 1.0).abs() < 0.04, "{variance}");
        let short = gaps.iter().filter(|gap| **gap < 4000.0).count() as f64 / gaps.len() as f64;
        assert!((short - 0.6321).abs() < 0.008, "1 - 1/e of the gaps are below the mean: {short}");
    }
}

#[cfg(test)]
mod tests_of_flow {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::testing::{job, workload};

    fn groups(weights: &[u32]) -> Groups {
        let jobs = weights.iter().map(|weight| {
            let mut job = job();
            job.flow = Some(Flow { weight: *weight, group: 0, sleep_ns: 0 });
            job
        });
        let workload = workload(jobs.collect());
        Groups::of(&workload, &vec![1; weights.len()])
    }

    proptest! {
        /// Threads that are tried in any order end up with I/Os in proportion to their weights.
        #[test]
        fn ios_are_in_proportion_to_weights(
            weights in proptest::collection::vec(1..20_u32, 2..5),
            tries in proptest::collection::vec(any::<usize>(), 4000),
        ) {
            let groups = groups(&weights);
            let flow = |weight: &u32| Some(Flow { weight: *weight, group: 0, sleep_ns: 0 });
            let mut turns: Vec<_> =
                weights.iter().map(|weight| groups.turn(flow(weight)).unwrap()).collect();
            for at in tries {
                let at = at % turns.len();
                if !turns[at].is_ahead() {
                    turns[at].count();
                }
            }
            let all: u64 = turns.iter().map(|turn| turn.ios).sum();
            let sum: u32 = weights.iter().sum();
            prop_assert!(all > 100);
            for (turn, weight) in turns.iter().zip(&weights) {
                let due = all as f64 * f64::from(*weight) / f64::from(sum);
                // Never more than two ahead of what is due; behind by what others may be ahead.
                prop_assert!(turn.ios as f64 <= due + 2.0, "{} of {due}", turn.ios);
            }
        }
    }

    #[test]
    fn who_leaves_holds_nobody_up() {
        let groups = groups(&[1, 8]);
        let flow = |weight| Some(Flow { weight, group: 0, sleep_ns: 0 });
        let (mut one, mut eight) = (groups.turn(flow(1)).unwrap(), groups.turn(flow(8)).unwrap());
        for turn in [&mut one, &mut eight] {
            while !turn.is_ahead() {
                turn.count();
            }
        }
        drop(one);
        for _ in 0..100 {
            assert!(!eight.is_ahead());
            eight.count();
        }
        let other = Flow { weight: 1, group: 5, sleep_ns: 0 };
        assert!(groups.turn(Some(other)).is_none() && groups.turn(None).is_none());
    }
}
