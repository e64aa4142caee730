//! Which file is mapped where in the memory of a process.

use std::collections::BTreeMap;

/// A part of a file that is mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mapping<F> {
    pub bytes: u64,
    pub file: F,
    pub offset: u64,
}

/// The mappings of a process by address. They never overlap.
#[derive(Debug, Clone)]
pub(crate) struct Mappings<F>(BTreeMap<u64, Mapping<F>>);

impl<F> Default for Mappings<F> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

/// Mappings are made of whole pages. The smallest page of the architectures is enough, because the
/// kernel aligns addresses to its own.
const PAGE: u64 = 4096;

impl<F: Copy> Mappings<F> {
    /// Maps a file, in place of what was there.
    pub(crate) fn map(&mut self, address: u64, mapping: Mapping<F>) {
        self.unmap(address, mapping.bytes);
        if mapping.bytes > 0 {
            self.0.insert(address, mapping);
        }
    }

    /// Removes what is mapped in a range, and keeps the rest of mappings that reach beyond it.
    pub(crate) fn unmap(&mut self, address: u64, bytes: u64) {
        self.take(address, bytes);
    }

    /// Moves a range, which may grow or shrink.
    pub(crate) fn remap(&mut self, from: u64, from_bytes: u64, to: u64, to_bytes: u64) {
        let mut taken = self.take(from, from_bytes);
        self.unmap(to, to_bytes);
        // Only a range within a single mapping can grow.
        if let ([(_, only)], true) = (&mut taken[..], to_bytes > from_bytes) {
            only.bytes = only.bytes.saturating_add(to_bytes - from_bytes);
        }
        for (address, mapping) in taken {
            let within = address - from;
            let bytes = mapping.bytes.min(to_bytes.saturating_sub(within));
            if bytes > 0 {
                self.0.insert(to.saturating_add(within), Mapping { bytes, ..mapping });
            }
        }
    }

    /// The file at an address, and the offset in it.
    pub(crate) fn at(&self, address: u64) -> Option<(F, u64)> {
        let (start, mapping) = self.0.range(..=address).next_back()?;
        let within = address - start;
        (within < mapping.bytes).then(|| (mapping.file, mapping.offset.saturating_add(within)))
    }

    fn take(&mut self, address: u64, bytes: u64) -> Vec<(u64, Mapping<F>)> {
        let end = address.saturating_add(bytes.div_ceil(PAGE).saturating_mul(PAGE));
        let before = self.0.range(..address).next_back().map(|(start, _)| *start);
        let first = before.unwrap_or(address);
        let touched: Vec<u64> = self.0.range(first..end).map(|(start, _)| *start).collect();
        let mut taken = Vec::new();
        for start in touched {
            let Some(mapping) = self.0.remove(&start) else { continue };
            let stop = start.saturating_add(mapping.bytes);
            let part = |from: u64, to: u64| {
                let offset = mapping.offset.saturating_add(from - start);
                (from, Mapping { bytes: to - from, offset, ..mapping })
            };
            let (low, high) = (start.max(address), stop.min(end));
            if low >= high {
                self.0.insert(start, mapping);
                continue;
            }
            if start < low {
                self.0.extend([part(start, low)]);
            }
            if high < stop {
                self.0.extend([part(high, stop)]);
            }
            taken.push(part(low, high));
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[derive(Debug, Clone, Copy)]
    enum Step {
        Map { at: u64, pages: u64, file: u8, offset: u64 },
        Unmap { at: u64, pages: u64 },
        Move { from: u64, pages: u64, to: u64, to_pages: u64 },
    }

    fn step() -> impl Strategy<Value = Step> {
        let (page, pages) = (0..40_u64, 1..12_u64);
        prop_oneof![
            (page.clone(), pages.clone(), any::<u8>(), 0..100_u64)
                .prop_map(|(at, pages, file, offset)| Step::Map { at, pages, file, offset }),
            (page.clone(), pages.clone()).prop_map(|(at, pages)| Step::Unmap { at, pages }),
            (page.clone(), pages.clone(), 100..140_u64, pages)
                .prop_map(|(from, pages, to, to_pages)| Step::Move { from, pages, to, to_pages }),
        ]
    }

    /// One entry for each page: file and page of the file.
    type Pages = HashMap<u64, (u8, u64)>;

    fn apply(pages: &mut Pages, step: Step) {
        match step {
            Step::Map { at, pages: count, file, offset } => {
                pages.extend((0..count).map(|page| (at + page, (file, offset + page))));
            }
            Step::Unmap { at, pages: count } => {
                pages.retain(|page, _| !(at..at + count).contains(page));
            }
            Step::Move { from, pages: count, to, to_pages } => {
                let moved: Vec<_> = (0..count)
                    .filter_map(|page| Some((page, pages.remove(&(from + page))?)))
                    .collect();
                pages.retain(|page, _| !(to..to + to_pages).contains(page));
                pages.extend(
                    moved
                        .into_iter()
                        .filter(|(page, _)| *page < to_pages)
                        .map(|(page, it)| (to + page, it)),
                );
            }
        }
    }

    proptest! {
        #[test]
        fn mappings_are_those_of_single_pages(steps in prop::collection::vec(step(), 1..40)) {
            let mut mappings = Mappings::default();
            let mut pages = Pages::new();
            for step in steps {
                apply(&mut pages, step);
                match step {
                    Step::Map { at, pages, file, offset } => {
                        let mapping =
                            Mapping { bytes: pages * PAGE, file, offset: offset * PAGE };
                        mappings.map(at * PAGE, mapping);
                    }
                    Step::Unmap { at, pages } => mappings.unmap(at * PAGE, pages * PAGE),
                    // The oracle does not grow a mapping.
                    Step::Move { from, pages, to, to_pages } => mappings.remap(
                        from * PAGE, pages * PAGE, to * PAGE, to_pages.min(pages) * PAGE,
                    ),
                }
                if let Step::Move { pages: count, to, to_pages, .. } = step {
                    // What it would have replaced beyond the moved range.
                    let beyond = to + to_pages.min(count)..to + to_pages;
                    mappings.unmap(beyond.start * PAGE, (beyond.end - beyond.start) * PAGE);
                }
                for page in 0..160 {
                    let expected = pages.get(&page).map(|(file, at)| (*file, at * PAGE + 5));
                    prop_assert_eq!(mappings.at(page * PAGE + 5), expected);
                }
            }
        }
    }

    #[test]
    fn a_mapping_that_grows_shows_more_of_its_file() {
        let mut mappings = Mappings::default();
        mappings.map(0, Mapping { bytes: 2 * PAGE, file: 7, offset: PAGE });
        mappings.remap(0, 2 * PAGE, 16 * PAGE, 4 * PAGE);
        assert_eq!(mappings.at(19 * PAGE), Some((7, 4 * PAGE)));
        assert_eq!(mappings.at(20 * PAGE), None);
        assert_eq!(mappings.at(0), None);
    }
}
