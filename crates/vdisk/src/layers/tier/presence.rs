//! Which pages of the device a tier holds: one bit each, a second for "used lately", and a clock
//! hand that goes round the device to find the one to give up.
//!
//! Two bits per 4 KiB are 64 MiB for each TiB of device, whatever the tier's own size. Larger pages
//! would take less, but then a small read at random would bring its neighbours along, and a tier
//! would warm up many times too fast.

use crate::error::Error;
use crate::memory;

/// What is held or not, as a whole.
pub(super) const PAGE_BYTES: u64 = 4096;

const WORD_BITS: u64 = u64::BITS as u64;

#[derive(Debug)]
pub(super) struct Presence {
    /// A bit for each page: is it held?
    held: Box<[u64]>,
    /// A bit for each page held: was it used since the hand passed it?
    used: Box<[u64]>,
    held_pages: u64,
    capacity_pages: u64,
    /// The page at which the search for one to give up goes on.
    hand: u64,
}

impl Presence {
    /// Of a device of `device_bytes` and a tier of `tier_bytes`, which holds nothing yet.
    pub(super) fn new(
        layer: &'static str,
        device_bytes: u64,
        tier_bytes: u64,
    ) -> Result<Self, Error> {
        let words = device_bytes.div_ceil(PAGE_BYTES).div_ceil(WORD_BITS);
        // Both bitmaps.
        let words = memory::check_available(layer, 2 * 8 * words)? / 16;
        let empty = || -> Result<Box<[u64]>, Error> {
            let empty = bytemuck::try_zeroed_slice_box(words);
            empty.map_err(|()| memory::lacking(layer, 16 * words))
        };
        let capacity_pages = tier_bytes / PAGE_BYTES;
        Ok(Self { held: empty()?, used: empty()?, held_pages: 0, capacity_pages, hand: 0 })
    }

    /// Whether all pages of the range are held; they are used then.
    pub(super) fn touch(&mut self, offset: u64, len: u64) -> bool {
        let pages = pages(offset, len);
        let all = pages.clone().all(|page| bit_of(&self.held, page));
        if all {
            pages.for_each(|page| set(&mut self.used, page));
        }
        all
    }

    /// Holds the pages of the range, giving up others where there is no room.
    pub(super) fn keep(&mut self, offset: u64, len: u64) {
        for page in pages(offset, len) {
            if !bit_of(&self.held, page) {
                if self.held_pages == self.capacity_pages {
                    self.give_one_up();
                }
                set(&mut self.held, page);
                self.held_pages += 1;
            }
            set(&mut self.used, page);
        }
    }

    pub(super) fn clear(&mut self) {
        self.held.fill(0);
        self.used.fill(0);
        (self.held_pages, self.hand) = (0, 0);
    }

    /// Gives up the first page from the hand on that was not used since the hand passed it last.
    /// Those it passes are given another round. A full tier holds pages, so there is one within two
    /// rounds.
    fn give_one_up(&mut self) {
        let mut index = word_index(self.hand);
        let mut ahead = u64::MAX << (self.hand % WORD_BITS);
        loop {
            let idle = self.held[index] & !self.used[index] & ahead;
            if idle != 0 {
                let bit = idle.trailing_zeros();
                self.used[index] &= !(ahead & ((1 << bit) - 1));
                self.held[index] &= !(1 << bit);
                self.held_pages -= 1;
                self.hand = index as u64 * WORD_BITS + u64::from(bit) + 1;
                self.hand %= self.held.len() as u64 * WORD_BITS;
                return;
            }
            self.used[index] &= !ahead;
            ahead = u64::MAX;
            index = (index + 1) % self.held.len();
        }
    }
}

fn pages(offset: u64, len: u64) -> std::ops::Range<u64> {
    offset / PAGE_BYTES..(offset + len).div_ceil(PAGE_BYTES)
}

fn word_index(page: u64) -> usize {
    usize::try_from(page / WORD_BITS).expect("the bitmaps fit in memory")
}

fn bit_of(words: &[u64], page: u64) -> bool {
    words[word_index(page)] >> (page % WORD_BITS) & 1 == 1
}

fn set(words: &mut [u64], page: u64) {
    words[word_index(page)] |= 1 << (page % WORD_BITS);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// CLOCK page by page, on a map.
    struct Oracle {
        /// Held pages, and whether they were used.
        held: BTreeMap<u64, bool>,
        pages: u64,
        capacity: usize,
        hand: u64,
    }

    impl Oracle {
        fn keep(&mut self, page: u64) {
            if !self.held.contains_key(&page) && self.held.len() == self.capacity {
                loop {
                    let at = self.hand;
                    self.hand = (self.hand + 1) % self.pages;
                    match self.held.get_mut(&at) {
                        Some(used @ true) => *used = false,
                        Some(false) => {
                            self.held.remove(&at);
                            break;
                        }
                        None => {}
                    }
                }
            }
            self.held.insert(page, true);
        }

        fn touch(&mut self, pages: std::ops::Range<u64>) -> bool {
            let all = pages.clone().all(|page| self.held.contains_key(&page));
            if all {
                self.held.extend(pages.map(|page| (page, true)));
            }
            all
        }
    }

    proptest! {
        #[test]
        fn it_is_the_clock_algorithm(
            capacity in 1_usize..100,
            accesses in proptest::collection::vec((any::<bool>(), 0_u64..250, 1_u64..6), 1..400),
        ) {
            let (pages, device_bytes) = (256, 256 * PAGE_BYTES);
            let mut presence =
                Presence::new("tier", device_bytes, capacity as u64 * PAGE_BYTES).unwrap();
            let mut oracle = Oracle { held: BTreeMap::new(), pages, capacity, hand: 0 };
            for (keep, first, count) in accesses {
                if keep {
                    presence.keep(first * PAGE_BYTES, count * PAGE_BYTES);
                    (first..first + count).for_each(|page| oracle.keep(page));
                } else {
                    let hit = presence.touch(first * PAGE_BYTES, count * PAGE_BYTES);
                    prop_assert_eq!(hit, oracle.touch(first..first + count));
                }
                prop_assert_eq!(presence.held_pages, oracle.held.len() as u64);
            }
            for page in 0..pages {
                prop_assert_eq!(bit_of(&presence.held, page), oracle.held.contains_key(&page));
            }
        }
    }

    #[test]
    fn a_part_of_a_page_stands_for_it() {
        let mut presence = Presence::new("tier", 1 << 20, 1 << 20).unwrap();
        presence.keep(4096 + 512, 512);
        assert!(presence.touch(4096, 4096));
        assert!(!presence.touch(4096, 4097));
        presence.clear();
        assert!(!presence.touch(4096, 1));
    }

    #[test]
    fn its_memory_is_bounded_by_the_device() {
        let presence = Presence::new("tier", 128 << 30, 43 << 30).unwrap();
        let bytes = size_of_val(&*presence.held) + size_of_val(&*presence.used);
        assert_eq!(bytes, 8 << 20);
        let error = Presence::new("tier", u64::MAX, 4096).unwrap_err();
        assert!(matches!(error, Error::NoMemory { layer: "tier", .. }), "{error}");
    }
}
