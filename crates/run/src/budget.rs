//! How much time is left: a block is not started if it would end too late.

use std::time::Duration;

/// The time an experiment may take.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: Option<Duration>,
    longest_block: Duration,
    /// What was over before it started.
    spent: Duration,
}

impl Budget {
    pub(crate) fn new(limit_ns: Option<u64>, expected_block_ns: u64) -> Self {
        let limit = limit_ns.map(Duration::from_nanos);
        let longest_block = Duration::from_nanos(expected_block_ns);
        Self { limit, longest_block, spent: Duration::ZERO }
    }

    /// Counts what was run before: the limit is for all of it.
    pub(crate) fn takes_in(&mut self, spent: Duration) {
        self.spent += spent;
    }

    /// Notes how long a block really took, switching included.
    pub(crate) fn block_took(&mut self, duration: Duration) {
        self.longest_block = self.longest_block.max(duration);
    }

    /// Whether one more block fits after so much time. The first block always does.
    pub(crate) fn allows(&self, block: u32, elapsed: Duration) -> bool {
        let elapsed = self.spent + elapsed;
        block == 0 || self.limit.is_none_or(|limit| elapsed + self.longest_block <= limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_would_end_too_late_is_not_started() {
        let mut budget = Budget::new(Some(10_000_000_000), 3_000_000_000);
        let at = Duration::from_secs;
        assert!(budget.allows(1, at(7)));
        assert!(!budget.allows(1, at(8)));
        budget.block_took(Duration::from_secs(5));
        assert!(!budget.allows(2, at(6)));
        budget.takes_in(Duration::from_secs(2));
        assert!(budget.allows(1, at(3)) && !budget.allows(1, at(4)), "7 s are over at the fifth");
        assert!(budget.allows(0, at(99)), "a run without any block would be of no use");
    }
}
