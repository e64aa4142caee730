//! Which files are there, and which names are free.

/// A set of slots in two halves: those with a file first, free ones behind. Any of either half is
/// found, and changes sides, in constant time.
pub(super) struct Slots {
    order: Vec<u32>,
    there: usize,
}

impl Slots {
    /// Of `all` slots, `there` evenly spread ones have files.
    pub(super) fn new(all: u32, there: u32) -> Self {
        let mut order: Vec<u32> = (0..all).collect();
        let (mut with, mut free) = (Vec::new(), Vec::new());
        for slot in order.drain(..) {
            let due = (u64::from(slot) + 1) * u64::from(there) / u64::from(all.max(1));
            if due > with.len() as u64 { with.push(slot) } else { free.push(slot) }
        }
        let there = with.len();
        with.append(&mut free);
        Self { order: with, there }
    }

    /// How many have files.
    pub(super) fn there(&self) -> usize {
        self.there
    }

    /// How many are free.
    pub(super) fn free(&self) -> usize {
        self.order.len() - self.there
    }

    /// Any slot, with a file or free, by a random number.
    pub(super) fn any(&self, random: u64) -> u32 {
        self.order[pick(random, self.order.len())]
    }

    /// The slots with files.
    pub(super) fn files(&self) -> &[u32] {
        &self.order[..self.there]
    }

    /// Place and slot of a file, by a random number.
    pub(super) fn file(&self, random: u64) -> (usize, u32) {
        let place = pick(random, self.there);
        (place, self.order[place])
    }

    /// Place and slot of a free name, by a random number.
    pub(super) fn free_one(&self, random: u64) -> (usize, u32) {
        let place = self.there + pick(random, self.free());
        (place, self.order[place])
    }

    /// The free name at `place` now has a file.
    pub(super) fn created(&mut self, place: usize) {
        self.order.swap(place, self.there);
        self.there += 1;
    }

    /// The file at `place` is gone.
    pub(super) fn deleted(&mut self, place: usize) {
        self.there -= 1;
        self.order.swap(place, self.there);
    }

    /// The file at `from` now has the name that was free at `to`.
    pub(super) fn renamed(&mut self, from: usize, to: usize) {
        self.order.swap(from, to);
    }
}

/// Evenly below `count`, which must not be 0.
fn pick(random: u64, count: usize) -> usize {
    let below = crate::engine::below(random, count as u64);
    usize::try_from(below).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn files_are_spread_evenly_at_first() {
        let slots = Slots::new(100, 80);
        assert_eq!((slots.there(), slots.free()), (80, 20));
        for tenth in 0..10 {
            let range = tenth * 10..tenth * 10 + 10;
            assert_eq!(slots.files().iter().filter(|slot| range.contains(*slot)).count(), 8);
        }
    }

    proptest! {
        #[test]
        fn it_is_a_set_of_files(
            all in 2..60u32, steps in prop::collection::vec((0..3u8, any::<u64>(), any::<u64>()), 0..200)
        ) {
            let mut slots = Slots::new(all, all / 2);
            let mut oracle: BTreeSet<u32> = slots.files().iter().copied().collect();
            for (what, a, b) in steps {
                match what {
                    0 if slots.free() > 0 => {
                        let (place, slot) = slots.free_one(a);
                        slots.created(place);
                        prop_assert!(oracle.insert(slot));
                    }
                    1 if slots.there() > 0 => {
                        let (place, slot) = slots.file(a);
                        slots.deleted(place);
                        prop_assert!(oracle.remove(&slot));
                    }
                    2 if slots.there() > 0 && slots.free() > 0 => {
                        let ((from, old), (to, new)) = (slots.file(a), slots.free_one(b));
                        slots.renamed(from, to);
                        prop_assert!(oracle.remove(&old) && oracle.insert(new));
                    }
                    _ => {}
                }
                prop_assert_eq!(slots.files().iter().copied().collect::<BTreeSet<_>>(), oracle.clone());
            }
        }
    }
}
