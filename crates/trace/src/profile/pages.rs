//! The pages that a trace touches, and how often.
//!
//! All touched pages are counted until there are too many. From then on, only pages whose hash is
//! in a sampled range are counted, and the range is halved whenever the sample is full: Waldspurger
//! et al., "Efficient MRC Construction with SHARDS", FAST 2015. With at least 2^17 pages in the
//! sample, the standard error of a number of pages is below 0.3 %.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::summary::Pages;
use crate::event::File;

pub(super) const PAGE_BYTES: u64 = 4096;
/// Pages in the sample.
const MOST_PAGES: usize = 1 << 18;
/// Linux moves no more than 2 GiB in one call; more in one event is not counted.
const MOST_BYTES: u64 = 1 << 31;

/// How a page is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    Read,
    Write,
    /// Through a mapping: which of its bytes are written is not known.
    Dirty,
}

#[derive(Clone, Copy, Default)]
struct Page {
    reads: u32,
    written_bytes: u32,
    /// Writes lie between these two.
    written_from: u16,
    written_to: u16,
    was_read_first: bool,
    is_written: bool,
}

/// The keys are already hashes.
#[derive(Default)]
struct NoHash(u64);

impl Hasher for NoHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are u64");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

pub(super) struct TouchedPages {
    pages: HashMap<u64, Page, BuildHasherDefault<NoHash>>,
    most_pages: usize,
    /// The sample has one page in 2^halvings.
    halvings: u32,
}

impl Default for TouchedPages {
    fn default() -> Self {
        Self::with_room(MOST_PAGES)
    }
}

impl TouchedPages {
    fn with_room(most_pages: usize) -> Self {
        Self { pages: HashMap::default(), most_pages, halvings: 0 }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.pages.len()
    }

    pub(super) fn touch(&mut self, file: File, offset: u64, bytes: u64, touch: Touch) {
        let end = offset.saturating_add(bytes.min(MOST_BYTES));
        let mut at = offset;
        while at < end {
            let page = at / PAGE_BYTES;
            let next = (page + 1).saturating_mul(PAGE_BYTES).min(end);
            self.touch_page(hash(file, page), Part::of(at, next), touch);
            at = next;
        }
    }

    fn touch_page(&mut self, hash: u64, part: Part, touch: Touch) {
        if !is_sampled(hash, self.halvings) {
            return;
        }
        self.pages
            .entry(hash)
            .or_insert_with(|| Page { was_read_first: touch == Touch::Read, ..Page::default() })
            .add(part, touch);
        while self.pages.len() > self.most_pages {
            self.halvings += 1;
            let halvings = self.halvings;
            self.pages.retain(|hash, _| is_sampled(*hash, halvings));
        }
    }

    pub(super) fn finish(&self) -> Pages {
        let mut sums = Sums::default();
        self.pages.values().for_each(|page| sums.add(page));
        let in_all = |pages: u64| (pages * PAGE_BYTES).saturating_mul(1 << self.halvings);
        let ratio = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        Pages {
            touched_bytes: in_all(self.pages.len() as u64),
            read_bytes: in_all(sums.read),
            written_bytes: in_all(sums.written),
            read_and_written_bytes: in_all(sums.read_and_written),
            reuse_share: ratio(sums.reads - sums.first_reads, sums.reads),
            rewrite_factor: ratio(sums.written_bytes, sums.distinct_bytes),
            sampled_share: 1.0 / (1_u64 << self.halvings) as f64,
        }
    }
}

/// A part of a page.
#[derive(Clone, Copy)]
struct Part {
    from: u16,
    to: u16,
}

impl Part {
    fn of(at: u64, to: u64) -> Self {
        let from = at % PAGE_BYTES;
        let in_page = |byte: u64| u16::try_from(byte).expect("within a page");
        Self { from: in_page(from), to: in_page(from + (to - at)) }
    }
}

impl Page {
    fn add(&mut self, part: Part, touch: Touch) {
        match touch {
            Touch::Read => self.reads = self.reads.saturating_add(1),
            Touch::Dirty => self.is_written = true,
            Touch::Write => {
                let is_first = self.written_bytes == 0;
                let from = if is_first { part.from } else { self.written_from.min(part.from) };
                self.written_from = from;
                self.written_to = self.written_to.max(part.to);
                self.written_bytes =
                    self.written_bytes.saturating_add(u32::from(part.to - part.from));
                self.is_written = true;
            }
        }
    }

    /// Bytes that were written at least once: exact if the writes leave no room between them,
    /// otherwise an upper bound.
    fn distinct_bytes(&self) -> u32 {
        self.written_bytes.min(u32::from(self.written_to - self.written_from))
    }
}

#[derive(Default)]
struct Sums {
    read: u64,
    written: u64,
    read_and_written: u64,
    reads: u64,
    first_reads: u64,
    written_bytes: u64,
    distinct_bytes: u64,
}

impl Sums {
    fn add(&mut self, page: &Page) {
        let is_read = page.reads > 0;
        self.read += u64::from(is_read);
        self.written += u64::from(page.is_written);
        self.read_and_written += u64::from(is_read && page.is_written);
        self.reads += u64::from(page.reads);
        self.first_reads += u64::from(page.was_read_first);
        self.written_bytes += u64::from(page.written_bytes);
        self.distinct_bytes += u64::from(page.distinct_bytes());
    }
}

/// By bits that the hash table does not use: it takes the lowest and the highest.
const fn is_sampled(hash: u64, halvings: u32) -> bool {
    (hash >> 24) & ((1 << halvings) - 1) == 0
}

const fn hash(file: File, page: u64) -> u64 {
    mix(page ^ mix(file as u64))
}

/// The finaliser of `SplitMix64`: a bijection that spreads all bits.
const fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn touches() -> impl Strategy<Value = Vec<(File, u64, u64, Touch)>> {
        let touch = prop::sample::select(vec![Touch::Read, Touch::Write]);
        prop::collection::vec((0_u32..3, 0_u64..60_000, 0_u64..9_000, touch), 0..30)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn the_working_set_is_that_of_all_bytes(touches in touches()) {
            let mut pages = TouchedPages::default();
            let (mut read, mut written) = (HashSet::new(), HashSet::new());
            let (mut reads, mut reused) = (0, 0);
            for &(file, offset, bytes, touch) in &touches {
                pages.touch(file, offset, bytes, touch);
                let touched: HashSet<_> =
                    (offset..offset + bytes).map(|byte| (file, byte / PAGE_BYTES)).collect();
                if touch == Touch::Read {
                    reads += touched.len();
                    reused += touched
                        .iter()
                        .filter(|page| read.contains(*page) || written.contains(*page))
                        .count();
                    read.extend(touched);
                } else {
                    written.extend(touched);
                }
            }
            let found = pages.finish();
            let bytes = |pages: usize| pages as u64 * PAGE_BYTES;
            prop_assert_eq!(found.read_bytes, bytes(read.len()));
            prop_assert_eq!(found.written_bytes, bytes(written.len()));
            prop_assert_eq!(found.read_and_written_bytes, bytes(read.intersection(&written).count()));
            prop_assert_eq!(found.touched_bytes, bytes(read.union(&written).count()));
            let share = (reads > 0).then(|| reused as f64 / reads as f64);
            prop_assert_eq!(found.reuse_share, share);
            prop_assert_eq!(found.sampled_share, 1.0);
        }

        #[test]
        fn contiguous_writes_have_an_exact_rewrite_factor(
            lengths in prop::collection::vec(1_u64..9_000, 1..20), times in 1_u64..5
        ) {
            let mut pages = TouchedPages::default();
            for _ in 0..times {
                let mut at = 0;
                for length in &lengths {
                    pages.touch(0, at, *length, Touch::Write);
                    at += length;
                }
            }
            prop_assert_eq!(pages.finish().rewrite_factor, Some(times as f64));
        }
    }

    #[test]
    fn a_sample_is_close_and_bounded() {
        let mut pages = TouchedPages::with_room(1 << 12);
        for round in 0..3 {
            for page in 0..100_000_u64 {
                let touch = if round == 0 { Touch::Write } else { Touch::Read };
                pages.touch(7, page * PAGE_BYTES, PAGE_BYTES, touch);
                assert!(pages.len() <= 1 << 12);
            }
        }
        let found = pages.finish();
        assert!(found.sampled_share < 0.1);
        let error = found.touched_bytes as f64 / (100_000 * PAGE_BYTES) as f64 - 1.0;
        assert!(error.abs() < 0.1, "{error}");
        assert_eq!(found.rewrite_factor, Some(1.0));
        assert_eq!(found.reuse_share, Some(1.0));
    }

    #[test]
    fn the_end_of_the_address_space_is_handled() {
        let mut pages = TouchedPages::default();
        pages.touch(0, u64::MAX - 10, u64::MAX, Touch::Read);
        assert_eq!(pages.finish().touched_bytes, PAGE_BYTES);
    }

    #[test]
    fn a_dirtied_page_is_written_but_not_rewritten() {
        let mut pages = TouchedPages::default();
        pages.touch(0, 0, PAGE_BYTES, Touch::Dirty);
        pages.touch(0, 0, PAGE_BYTES, Touch::Dirty);
        let found = pages.finish();
        assert_eq!((found.written_bytes, found.rewrite_factor), (PAGE_BYTES, None));
    }
}
