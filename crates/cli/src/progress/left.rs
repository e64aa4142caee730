//! Estimates the time to a verdict: the blocks that the slowest comparison still needs, at the pace
//! so far.

use std::time::{Duration, Instant};

/// Blocks after which a new pace counts as much as the old one.
const INERTIA: f64 = 4.0;

/// Finished and remaining blocks, and the time that they take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Left {
    /// Time limit, after which no block starts.
    ends: Option<Instant>,
    /// Time of a block; until some have finished, only ramp and measured time.
    block: Duration,
    /// The length of trials has changed, so the next block shows how long a block takes.
    is_new: bool,
    /// Finished blocks, and when the last one finished.
    done: u32,
    at: Instant,
    /// When the verdict is expected; `None` if not within the limits of the run.
    verdict: Option<Instant>,
    most: u32,
}

/// The remaining time, to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Remaining {
    /// Until the verdict; `None` if none is expected.
    pub verdict: Option<Duration>,
    /// Until the limit; `None` if that is the same.
    pub limit: Option<Duration>,
}

impl Left {
    /// `block`: time without switching; `first`: blocks until the first look; `most`: maximum
    /// number of blocks; `limit`: time limit.
    pub(super) fn new(
        started: Instant,
        block: Duration,
        [first, most]: [u32; 2],
        limit: Option<Duration>,
    ) -> Self {
        let ends = limit.and_then(|limit| started.checked_add(limit));
        let new = Self { ends, block, is_new: true, done: 0, at: started, verdict: None, most };
        new.expecting(Some(first))
    }

    /// Sets the number of finished blocks.
    pub(super) fn done(&mut self, blocks: u32, now: Instant) {
        let since = blocks.saturating_sub(self.done);
        if since == 0 {
            return;
        }
        let pace = now.saturating_duration_since(self.at) / since;
        self.block = if self.is_new {
            pace
        } else {
            let weight = f64::from(since) / (f64::from(since) + INERTIA);
            pace.mul_f64(weight) + self.block.mul_f64(1.0 - weight)
        };
        (self.done, self.at, self.is_new) = (blocks, now, false);
    }

    /// Forgets the pace, because blocks take another time from now on.
    pub(super) fn forget_pace(&mut self) {
        (self.is_new, self.verdict) = (true, None);
    }

    /// Sets the total number of blocks for a verdict; `None` if no number is enough.
    pub(super) fn expect(&mut self, blocks: Option<u32>) {
        *self = self.expecting(blocks);
    }

    fn expecting(self, blocks: Option<u32>) -> Self {
        // At least one block follows, or the run would have ended.
        let blocks = blocks.map(|blocks| blocks.max(self.done + 1)).filter(|n| *n <= self.most);
        let more = blocks.map(|blocks| self.block.saturating_mul(blocks - self.done));
        let verdict = more.and_then(|more| self.at.checked_add(more));
        Self { verdict: verdict.filter(|at| self.ends.is_none_or(|ends| *at <= ends)), ..self }
    }

    pub(super) fn remaining(&self, now: Instant) -> Remaining {
        let until = |at: Instant| at.saturating_duration_since(now);
        let blocks = self.block.saturating_mul(self.most.saturating_sub(self.done));
        let all = self.at.checked_add(blocks).map(until).filter(|_| !self.is_new || self.done == 0);
        let limit = [all, self.ends.map(until)].into_iter().flatten().min();
        let verdict = self.verdict.map(until);
        Remaining { verdict, limit: limit.filter(|limit| verdict.is_none_or(|own| own < *limit)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn pairs_of_a_quarter(limit: Duration) -> (Instant, Left) {
        let start = Instant::now();
        (start, Left::new(start, SECOND / 4, [20, 5120], Some(limit)))
    }

    #[test]
    fn it_shrinks_between_looks_and_follows_each_look() {
        let (start, mut left) = pairs_of_a_quarter(600 * SECOND);
        let at = |seconds: u32| start + seconds * SECOND;
        let verdict = |left: &Left, seconds| left.remaining(at(seconds)).verdict;
        assert_eq!(verdict(&left, 0), Some(5 * SECOND), "20 pairs, before anything is known");
        assert_eq!(verdict(&left, 3), Some(2 * SECOND));
        left.done(20, at(10));
        left.expect(Some(60));
        assert_eq!(verdict(&left, 10), Some(20 * SECOND), "a pair took half a second");
        assert_eq!(verdict(&left, 25), Some(5 * SECOND));
        assert_eq!(verdict(&left, 40), Some(Duration::ZERO), "never below nothing");
        left.expect(Some(10));
        assert_eq!(verdict(&left, 10), Some(SECOND / 2), "another pair, at least");
        assert_eq!(left.remaining(at(10)).limit, Some(590 * SECOND));
    }

    #[test]
    fn no_verdict_is_promised_beyond_the_limits() {
        let (start, mut left) = pairs_of_a_quarter(60 * SECOND);
        left.done(20, start + 5 * SECOND);
        left.expect(Some(400));
        let remaining = left.remaining(start + 5 * SECOND);
        assert_eq!(remaining, Remaining { verdict: None, limit: Some(55 * SECOND) });
        left.expect(None);
        assert_eq!(left.remaining(start + 5 * SECOND), remaining);
        left.expect(Some(6000));
        assert_eq!(left.remaining(start + 5 * SECOND), remaining, "more pairs than may be run");
    }

    #[test]
    fn a_fixed_number_of_trials_has_one_end() {
        let start = Instant::now();
        let left = Left::new(start, 7 * SECOND, [3, 3], None);
        let remaining = left.remaining(start);
        assert_eq!(remaining, Remaining { verdict: Some(21 * SECOND), limit: None });
    }

    #[test]
    fn blocks_that_become_shorter_are_noticed() {
        let (start, mut left) = pairs_of_a_quarter(600 * SECOND);
        left.done(20, start + 20 * SECOND);
        left.done(60, start + 40 * SECOND);
        left.expect(Some(100));
        let verdict = left.remaining(start + 40 * SECOND).verdict.unwrap();
        assert!(verdict > 20 * SECOND && verdict < 23 * SECOND, "{verdict:?}");
        left.forget_pace();
        let limit = Some(560 * SECOND);
        assert_eq!(left.remaining(start + 40 * SECOND), Remaining { verdict: None, limit });
        left.done(61, start + 54 * SECOND);
        left.expect(Some(64));
        let verdict = left.remaining(start + 54 * SECOND).verdict;
        assert_eq!(verdict, Some(42 * SECOND), "three whole trials of each arm");
    }
}
