//! Threads that keep their I/Os in proportion to each other, by fio's rule (`flow.c` of 3.33): a
//! thread whose share of all I/Os of its group is above its share of the weights waits.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use iotax_experiment::{Flow, Workload};

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
