//! A hash table that never grows beyond a limit: when it is full, the least important half of the
//! entries is removed.

use std::collections::HashMap;
use std::hash::Hash;

pub(super) struct Table<K, V> {
    entries: HashMap<K, V>,
    limit: usize,
    retired: u64,
}

impl<K: Copy + Eq + Hash, V> Table<K, V> {
    pub(super) fn new(limit: usize) -> Self {
        Self { entries: HashMap::new(), limit, retired: 0 }
    }

    /// Entries that were retired. An entry that came back counts each time.
    pub(super) const fn retired(&self) -> u64 {
        self.retired
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.entries.iter().map(|(key, entry)| (*key, entry))
    }

    pub(super) fn get(&self, key: K) -> Option<&V> {
        self.entries.get(&key)
    }

    /// Whether `key` can only be added after [`Table::retire`].
    pub(super) fn needs_room(&self, key: K) -> bool {
        self.entries.len() >= self.limit && !self.entries.contains_key(&key)
    }

    pub(super) fn entry(&mut self, key: K, new: impl FnOnce() -> V) -> &mut V {
        self.entries.entry(key).or_insert_with(new)
    }

    /// Keeps the entries that are at the top of one of these ranks, at most half of the limit, and
    /// hands over the others.
    pub(super) fn retire(&mut self, ranks: &[fn(&V) -> u64], mut retired: impl FnMut(V)) {
        let kept_per_rank = self.limit / 2 / ranks.len();
        let bars: Vec<_> = ranks.iter().map(|rank| (rank, self.bar(rank, kept_per_rank))).collect();
        let below = |_: &K, entry: &mut V| bars.iter().all(|(rank, bar)| rank(entry) <= *bar);
        for (_, entry) in self.entries.extract_if(below) {
            self.retired += 1;
            retired(entry);
        }
    }

    /// The rank that at most `kept` entries exceed.
    fn bar(&self, rank: &impl Fn(&V) -> u64, kept: usize) -> u64 {
        let mut ranks: Vec<u64> = self.entries.values().map(rank).collect();
        if ranks.len() <= kept {
            return 0;
        }
        *ranks.select_nth_unstable_by(kept, |a, b| b.cmp(a)).1
    }
}

/// Counts of the most frequent values. Every value with more than 1 in `limit / 2` of all counts is
/// there; while nothing was retired, all counts are exact, and at any time none is too high.
pub(super) struct Frequent {
    counts: Table<u64, u64>,
}

impl Frequent {
    pub(super) fn new(limit: usize) -> Self {
        Self { counts: Table::new(limit) }
    }

    pub(super) fn add(&mut self, value: u64) {
        if self.counts.needs_room(value) {
            self.counts.retire(&[|count| *count], |_| {});
        }
        *self.counts.entry(value, || 0) += 1;
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The `count` most frequent values with their counts, the most frequent first.
    pub(super) fn top(&self, count: usize) -> Vec<(u64, u64)> {
        let mut all: Vec<_> = self.counts.iter().map(|(value, count)| (value, *count)).collect();
        all.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        all.truncate(count);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_keeps_what_is_important_by_any_rank() {
        let mut table: Table<u64, (u64, u64)> = Table::new(100);
        let mut retired = 0;
        for key in 0..10_000_u64 {
            if table.needs_room(key) {
                table.retire(&[|entry| entry.0, |entry| entry.1], |_| retired += 1);
            }
            let weight = if key == 17 { 1_000 } else { 1 };
            *table.entry(key, || (0, 0)) = (weight, key);
            assert!(table.len() <= 100);
        }
        assert!(table.get(17).is_some());
        assert!(table.get(9_999).is_some());
        assert_eq!(retired, table.retired());
        assert_eq!(retired + table.len() as u64, 10_000);
    }

    #[test]
    fn frequent_values_survive_many_rare_ones() {
        let mut values = Frequent::new(64);
        for number in 0..100_000_u64 {
            values.add(if number % 4 == 0 { 8192 } else { 1_000_000 + number });
        }
        let top = values.top(1);
        assert_eq!(top[0].0, 8192);
        assert!(top[0].1 <= 25_000);
        assert!(top[0].1 > 20_000, "{top:?}");
    }
}
