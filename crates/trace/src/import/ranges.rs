//! The ranges of a file that got their data during the trace.

use std::collections::BTreeMap;

/// Maximum ranges per file; beyond it, the lowest are dropped.
const MOST: usize = 256;

/// Ranges that do not touch: their begins and ends.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    ends: BTreeMap<u64, u64>,
}

impl Ranges {
    pub(super) fn insert(&mut self, begin: u64, end: u64) {
        if begin >= end {
            return;
        }
        let (mut begin, mut end) = (begin, end);
        while let Some((&other_begin, &other_end)) = self.ends.range(..=end).next_back() {
            if other_end < begin {
                break;
            }
            self.ends.remove(&other_begin);
            begin = begin.min(other_begin);
            end = end.max(other_end);
        }
        self.ends.insert(begin, end);
        if self.ends.len() > MOST {
            self.ends.pop_first();
        }
    }

    /// The end of the last part of `begin..end` that is in no range.
    pub(super) fn last_gap(&self, begin: u64, end: u64) -> Option<u64> {
        let mut end = end;
        while let Some((&other_begin, &other_end)) = self.ends.range(..end).next_back() {
            if other_end < end {
                break;
            }
            end = other_begin;
        }
        (end > begin).then_some(end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn gaps_are_those_of_a_bitmap(
            inserted in prop::collection::vec((0_usize..60, 0_usize..20), 0..20),
            asked in (0_usize..80, 0_usize..20),
        ) {
            let mut ranges = Ranges::default();
            let mut bitmap = [false; 100];
            for (begin, length) in inserted {
                ranges.insert(begin as u64, (begin + length) as u64);
                (begin..begin + length).for_each(|at| bitmap[at] = true);
            }
            let (begin, end) = (asked.0, asked.0 + asked.1);
            let last = (begin..end).rev().find(|at| !bitmap[*at]).map(|at| at as u64 + 1);
            prop_assert_eq!(ranges.last_gap(begin as u64, end as u64), last);
        }
    }

    #[test]
    fn few_are_kept() {
        let mut ranges = Ranges::default();
        (0..10_000).for_each(|at| ranges.insert(2 * at, 2 * at + 1));
        assert_eq!(ranges.ends.len(), MOST);
        assert_eq!(ranges.last_gap(19_998, 19_999), None);
    }
}
