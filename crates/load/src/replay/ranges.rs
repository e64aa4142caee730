//! Sets of byte ranges in bounded memory: a set with too many ranges becomes coarser.

use std::collections::BTreeMap;
use std::ops::Range;

/// The first grain of a set that has become too large.
const PAGE_BYTES: u64 = 4096;

/// In which direction a coarse set may be inaccurate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounding {
    /// It contains more than was inserted.
    Outward,
    /// It contains less.
    Inward,
}

#[derive(Debug, Clone)]
pub(super) struct RangeSet {
    /// Ends by starts; no two ranges touch.
    ends: BTreeMap<u64, u64>,
    rounding: Rounding,
    grain_bytes: u64,
}

impl RangeSet {
    pub(super) const fn new(rounding: Rounding) -> Self {
        Self { ends: BTreeMap::new(), rounding, grain_bytes: 1 }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Range<u64>> {
        self.ends.iter().map(|(start, end)| *start..*end)
    }

    /// How many bytes all ranges have together.
    pub(super) fn bytes(&self) -> u64 {
        self.iter().map(|range| range.end - range.start).sum()
    }

    /// The first byte after the last range.
    pub(super) fn end(&self) -> u64 {
        self.ends.last_key_value().map_or(0, |(_, end)| *end)
    }

    /// Inserts a range. The set keeps at most `most` ranges.
    pub(super) fn insert(&mut self, range: Range<u64>, most: usize) {
        self.put(range);
        while self.ends.len() > most {
            self.grain_bytes = (2 * self.grain_bytes).max(PAGE_BYTES);
            for (start, end) in std::mem::take(&mut self.ends) {
                self.put(start..end);
            }
        }
    }

    fn put(&mut self, range: Range<u64>) {
        let grain = self.grain_bytes;
        let down = |at: u64| at - at % grain;
        let up = |at: u64| at.checked_next_multiple_of(grain).unwrap_or(u64::MAX);
        let (mut start, mut end) = match self.rounding {
            Rounding::Outward => (down(range.start), up(range.end)),
            Rounding::Inward => (up(range.start), down(range.end)),
        };
        if start >= end {
            return;
        }
        while let Some((&before, &its_end)) = self.ends.range(..=end).next_back() {
            if its_end < start {
                break;
            }
            self.ends.remove(&before);
            start = start.min(before);
            end = end.max(its_end);
        }
        self.ends.insert(start, end);
    }

    /// The parts of `range` that are not in the set, in order.
    pub(super) fn missing(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let mut at = range.start;
        let first = self.ends.range(..=range.start).next_back().map_or(range.start, |(s, _)| *s);
        let mut missing = Vec::new();
        for (&start, &end) in self.ends.range(first..range.end) {
            if start > at {
                missing.push(at..start);
            }
            at = at.max(end);
        }
        if at < range.end {
            missing.push(at..range.end);
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_set_of_bytes(
            inserted in prop::collection::vec((0..500_u64, 1..60_u64), 0..40),
            start in 0..500_u64, bytes in 0..100_u64,
        ) {
            let mut set = RangeSet::new(Rounding::Outward);
            let mut oracle = [false; 1000];
            for (start, bytes) in inserted {
                set.insert(start..start + bytes, usize::MAX);
                (start..start + bytes).for_each(|at| oracle[usize::try_from(at).unwrap()] = true);
            }
            let kept: Vec<_> = set.iter().collect();
            prop_assert!(kept.windows(2).all(|pair| pair[0].end < pair[1].start));
            let is_in = |at: u64| kept.iter().any(|range| range.contains(&at));
            prop_assert!((0..1000).all(|at| is_in(at) == oracle[usize::try_from(at).unwrap()]));
            let missing = set.missing(start..start + bytes);
            let is_missing = |at: u64| missing.iter().any(|range| range.contains(&at));
            prop_assert!((start..start + bytes).all(|at| is_missing(at) != is_in(at)));
            prop_assert!(missing.iter().all(|range| range.start >= start && range.end <= start + bytes));
        }

        #[test]
        fn a_coarse_set_is_wrong_in_one_direction(
            inserted in prop::collection::vec((0..1_000_000_u64, 1..9000_u64), 1..60),
        ) {
            let sets = [Rounding::Outward, Rounding::Inward].map(|rounding| {
                let mut set = RangeSet::new(rounding);
                for (start, bytes) in &inserted {
                    set.insert(*start..start + bytes, 5);
                }
                set
            });
            let mut exact = RangeSet::new(Rounding::Outward);
            for (start, bytes) in &inserted {
                exact.insert(*start..start + bytes, usize::MAX);
            }
            prop_assert!(sets.iter().all(|set| set.ends.len() <= 5));
            prop_assert!(exact.iter().all(|range| sets[0].missing(range).is_empty()));
            prop_assert!(sets[1].iter().all(|range| exact.missing(range).is_empty()));
        }
    }
}
