//! How long it takes to a verdict: the blocks that the slowest comparison still needs, at the pace so far.

use std::time::{Duration, Instant};

/// Blocks after which a change of pace is believed by half.
const INERTIA: f64 = 4.0;

/// Blocks done and to be done, and the time that they take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Left {
    /// After which nothing new begins.
    ends: Option<Instant>,
    /// Time of a block: ramp and measured time only, until some are over.
    block: Duration,
    /// Trials are not as long as they were, so that the next block tells how long a block takes.
    is_new: bool,
    /// Blocks that are over, and when the last was.
    done: u32,
    at: Instant,
    /// When the verdict is expected; `None`: not within what the run may take.
    verdict: Option<Instant>,
    most: u32,
}

/// What is left, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Remaining {
    /// Until there is a verdict; `None` if none is in sight.
    pub verdict: Option<Duration>,
    /// Until the limit; `None` if that is the same.
    pub limit: Option<Duration>,
}

impl Left {
    /// `block`: without switching; `first`: blocks until something is known; `most`: blocks that may be run;
    /// `limit`: time that is left for all.
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

    /// So many blocks are over now.
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

    /// Blocks take another time from now on, so that nothing is known of the end.
    pub(super) fn forget_pace(&mut self) {
        (self.is_new, self.verdict) = (true, None);
    }

    /// A verdict takes so many blocks in all; `None`: no number of them would do.
    pub(super) fn expect(&mut self, blocks: Option<u32>) {
        *self = self.expecting(blocks);
    }

    fn expecting(self, blocks: Option<u32>) -> Self {
        // There is another block at least, or this would be over.
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
