//! Which part of a file was in the page cache when the recording began.
//!
//! A recorder knows only how much of it was. A first read that was too fast for storage shows which:
//! unless it continues an earlier read, because what follows a read may have been read ahead.

use iotax_trace::{Event, FileKind, FileState, Flags, Op};

use super::is_share_above;
use crate::replay::ranges::{RangeSet, Rounding};

/// How long a read from the page cache takes at most.
const HIT_NS: u64 = 50_000;
/// How many bytes are copied from there per nanosecond, at least.
const HIT_BYTES_PER_NS: u64 = 2;
/// When this much of a file was cached, in percent, all of it was, but for a few pages.
const ALL_PERCENT: u64 = 95;

/// What was cached of a file.
#[derive(Debug, Clone, Copy)]
pub(in crate::replay) enum Cached<'a> {
    Nothing,
    All,
    /// What was read from the cache.
    Parts(&'a RangeSet),
    /// Not known which part.
    SomeParts,
}

/// Collects the reads of a file that was partly cached.
#[derive(Debug, Clone)]
pub(super) struct FirstReads {
    /// Read or written before.
    known: RangeSet,
    /// First read from the cache.
    hits: RangeSet,
}

/// How much of a file was cached: a part of it, or all of it.
enum Amount {
    Nothing,
    Part(u64),
    All,
}

fn amount(state: &FileState) -> Amount {
    match state.cached_bytes {
        Some(bytes) if is_share_above(bytes, state.size_bytes, ALL_PERCENT) => Amount::All,
        Some(bytes) if bytes > 0 && state.size_bytes > 0 => Amount::Part(bytes),
        _ => Amount::Nothing,
    }
}

impl FirstReads {
    /// For a file of which a part was cached.
    pub(super) fn of(state: &FileState) -> Option<Self> {
        let is_one = state.kind == FileKind::Regular && matches!(amount(state), Amount::Part(_));
        let set = || RangeSet::new(Rounding::Outward);
        is_one.then(|| Self { known: set(), hits: set() })
    }

    /// Each set keeps at most `most` ranges.
    pub(super) fn note(&mut self, event: &Event, most: usize) {
        let range = event.offset..event.offset.saturating_add(event.moved());
        if range.is_empty() || event.flags.contains(Flags::DIRECT) {
            return;
        }
        match event.op {
            Op::Read => {
                let longest_ns = HIT_NS + event.moved() / HIT_BYTES_PER_NS;
                let before = range.start.saturating_sub(1)..range.start;
                let continues = !before.is_empty() && self.known.missing(before).is_empty();
                if event.latency_ns <= longest_ns && !continues {
                    for first in self.known.missing(range.clone()) {
                        self.hits.insert(first, most);
                    }
                }
                self.known.insert(range, most);
            }
            Op::Write => self.known.insert(range, most),
            _ => {}
        }
    }

    /// What was read from the cache, unless that is more than was in it.
    pub(super) fn cached<'a>(reads: Option<&'a Self>, state: &FileState) -> Cached<'a> {
        match (amount(state), reads) {
            (Amount::All, _) => Cached::All,
            (Amount::Nothing, _) => Cached::Nothing,
            (Amount::Part(bytes), Some(Self { hits, .. }))
                if hits.bytes() > 0 && hits.bytes() <= bytes =>
            {
                Cached::Parts(hits)
            }
            (Amount::Part(_), _) => Cached::SomeParts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1024;

    fn state(cached_bytes: u64) -> FileState {
        let cached_bytes = Some(cached_bytes);
        FileState { size_bytes: 1024 * KIB, cached_bytes, ..FileState::default() }
    }

    fn read(offset: u64, bytes: u64, latency_ns: u64) -> Event {
        let result = bytes.cast_signed();
        Event { offset, length: bytes, result, latency_ns, ..Event::new(Op::Read) }
    }

    #[test]
    fn first_reads_that_are_too_fast_for_storage_show_what_was_cached() {
        let state = state(64 * KIB);
        let mut reads = FirstReads::of(&state).unwrap();
        for event in [
            read(128 * KIB, 8 * KIB, 10_000),
            // From storage, and then from the cache.
            read(256 * KIB, 8 * KIB, 90_000),
            read(256 * KIB, 8 * KIB, 10_000),
            // Read ahead, perhaps.
            read(264 * KIB, 8 * KIB, 10_000),
            Event { op: Op::Write, ..read(512 * KIB, 8 * KIB, 10_000) },
            read(512 * KIB, 8 * KIB, 10_000),
            Event { flags: Flags::DIRECT, ..read(640 * KIB, 8 * KIB, 10_000) },
            read(768 * KIB, 16 * KIB, 10_000),
            read(0, 0, 10),
        ] {
            reads.note(&event, 100);
        }
        let Cached::Parts(hits) = FirstReads::cached(Some(&reads), &state) else { panic!() };
        let expected = [128 * KIB..136 * KIB, 768 * KIB..784 * KIB];
        assert_eq!(hits.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn more_reads_than_fit_in_what_was_cached_show_nothing() {
        let of = |state: &FileState| {
            let mut reads = FirstReads::of(state);
            for at in 0..4 {
                let hit = read(at * 64 * KIB, 4 * KIB, 10_000);
                if let Some(reads) = &mut reads {
                    reads.note(&hit, 100);
                }
            }
            matches!(FirstReads::cached(reads.as_ref(), state), Cached::Parts(_))
        };
        assert_eq!([12, 16, 1000].map(|kib| of(&state(kib * KIB))), [false, true, false]);
        assert!(matches!(FirstReads::cached(None, &state(1000 * KIB)), Cached::All));
        assert!(matches!(FirstReads::cached(None, &state(0)), Cached::Nothing));
        let empty = FileState { cached_bytes: Some(0), ..FileState::default() };
        assert!(matches!(FirstReads::cached(None, &empty), Cached::Nothing));
    }
}
