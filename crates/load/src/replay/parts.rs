//! Where a recording can be cut into parts that are replayed one at a time.
//!
//! # Cuts
//!
//! A cut is at the end of an event. An operation or a wait that began before a cut and ends after
//! it crosses the cut; the part after the cut replays it, from its start. At a quiet point nothing
//! crosses, and the parts together do exactly what the whole does.
//!
//! Trials should be about [`TARGET_NS`] long. Around each multiple of that there is a cell of
//! candidates. Of each cell the candidate that the fewest events cross becomes a cut. Which events
//! cross a candidate is known only later, so a cell is decided when events are well past it.
//!
//! # Bounded memory
//!
//! A cell keeps at most [`MOST_CANDIDATES`]. When there are more, it keeps those that the fewest
//! events have crossed so far, and of equal ones the oldest. A quiet point is never dropped for a
//! candidate that is not quiet: whatever crosses an older candidate later would also cross the
//! quiet point, so all older ones without crossings are quiet, too.

use std::cmp::Reverse;
use std::io::Read;
use std::iter::{Skip, Take};
use std::vec::IntoIter;

use iotax_experiment::{PART_COUNTS, Uncut};
use iotax_trace::{Event, Op, Reader};

use super::graph::{Roles, is_replayed};

/// Wanted length of a part.
const TARGET_NS: u64 = 1_000_000_000;
const MOST_CANDIDATES: usize = 64;
/// When there are more cuts, every second one is dropped.
const MOST_CUTS: usize = 2048;
/// A cut is used if at most one in this many operations of the part before it crosses it.
const CROSSED_ONE_IN: u64 = 50;
/// Minimum number of reads and writes of a part.
const LEAST_IOS: u64 = 100;

/// Where an event is in the file of the recording.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct EventPlace {
    /// Of the chunk, in bytes from the start of the file.
    pub chunk_at: u64,
    /// In its chunk.
    pub in_chunk: usize,
    /// In the whole recording.
    pub number: u64,
}

/// What came before a cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Before {
    operations: u64,
    /// Reads and writes.
    ios: u64,
    /// Written without syncing at once.
    written_bytes: u64,
    /// Written, and not synced yet.
    unsynced_bytes: u64,
}

/// A point between two events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    pub time_ns: u64,
    /// The last event before it.
    pub last: EventPlace,
    /// Operations and waits that began before it and end after it.
    pub crossing: u64,
    before: Before,
}

impl Cut {
    pub(super) const fn operations_before(&self) -> u64 {
        self.before.operations
    }

    /// After any event.
    #[cfg(test)]
    pub(super) fn after(event: &Event, last: EventPlace, operations: u64) -> Self {
        let before = Before { operations, ..Before::default() };
        Self { time_ns: event.end_ns, last, crossing: 0, before }
    }
}

/// Candidates around one multiple of the wanted length.
struct Cell {
    middle_ns: u64,
    candidates: Vec<Cut>,
}

impl Cell {
    /// Those crossed least so far; of equal ones the oldest, in the order of their times.
    fn thin_out(&mut self) {
        self.candidates.sort_by_key(|cut| (cut.crossing, cut.last.number));
        self.candidates.truncate(MOST_CANDIDATES / 2);
        self.candidates.sort_by_key(|cut| cut.last.number);
    }

    fn best(&self) -> Option<Cut> {
        let key = |cut: &&Cut| (cut.crossing, cut.time_ns.abs_diff(self.middle_ns));
        self.candidates.iter().min_by_key(key).copied()
    }
}

/// Finds cuts while the recording is read.
pub(super) struct Cutter {
    target_ns: u64,
    origin_ns: Option<u64>,
    newest_ns: u64,
    /// In order, not decided yet.
    cells: Vec<Cell>,
    cuts: Vec<Cut>,
    so_far: Before,
}

impl Cutter {
    pub(super) const fn new() -> Self {
        Self::with_target(TARGET_NS)
    }

    const fn with_target(target_ns: u64) -> Self {
        Self {
            target_ns,
            origin_ns: None,
            newest_ns: 0,
            cells: Vec::new(),
            cuts: Vec::new(),
            so_far: Before { operations: 0, ios: 0, written_bytes: 0, unsynced_bytes: 0 },
        }
    }

    /// An event in the order of the file. `unsynced_bytes` of all files after it.
    pub(super) fn note(&mut self, event: &Event, at: EventPlace, unsynced_bytes: u64) {
        let start_ns = event.start_ns();
        if crosses(event) {
            let candidates =
                self.cells.iter_mut().rev().flat_map(|cell| cell.candidates.iter_mut().rev());
            for cut in candidates.take_while(|cut| cut.time_ns > start_ns) {
                cut.crossing += 1;
            }
            for cut in self.cuts.iter_mut().rev().take_while(|cut| cut.time_ns > start_ns) {
                cut.crossing += 1;
            }
        }
        if is_replayed(event) {
            self.so_far.operations += 1;
            self.so_far.ios += u64::from(is_io(event.op));
        }
        if event.op == Op::Write && !is_synced_at_once(event) {
            self.so_far.written_bytes += event.moved();
        }
        self.so_far.unsynced_bytes = unsynced_bytes;
        self.newest_ns = self.newest_ns.max(event.end_ns);
        if event.op != Op::Wake {
            self.origin_ns.get_or_insert(start_ns);
        }
        self.add_candidate(at);
        self.decide(self.newest_ns.saturating_sub(2 * self.target_ns));
    }

    /// The middle of the cell that a time is in.
    fn middle_ns(&self, time_ns: u64) -> Option<u64> {
        let since_ns = time_ns.checked_sub(self.origin_ns?)?;
        let target_ns = self.target_ns;
        let nearest = (since_ns + target_ns / 2) / target_ns;
        let is_in = since_ns.abs_diff(nearest * target_ns) <= target_ns / 4;
        (is_in && nearest > 0).then(|| time_ns - since_ns + nearest * target_ns)
    }

    fn add_candidate(&mut self, last: EventPlace) {
        let Some(middle_ns) = self.middle_ns(self.newest_ns) else { return };
        let cut = Cut { time_ns: self.newest_ns, last, crossing: 0, before: self.so_far };
        match self.cells.last_mut().filter(|cell| cell.middle_ns == middle_ns) {
            Some(cell) => {
                cell.candidates.push(cut);
                if cell.candidates.len() > MOST_CANDIDATES {
                    cell.thin_out();
                }
            }
            None => self.cells.push(Cell { middle_ns, candidates: vec![cut] }),
        }
    }

    /// Decides the cells whose middle is before this time.
    fn decide(&mut self, until_ns: u64) {
        while self.cells.first().is_some_and(|cell| cell.middle_ns < until_ns) {
            let cell = self.cells.remove(0);
            self.cuts.extend(cell.best());
        }
        if self.cuts.len() > MOST_CUTS {
            self.target_ns *= 2;
            let origin_ns = self.origin_ns.unwrap_or(0);
            let target_ns = self.target_ns;
            // Those around the multiples of the new length.
            self.cuts.retain(|cut| {
                let since_ns = cut.time_ns.saturating_sub(origin_ns) % target_ns;
                since_ns.min(target_ns - since_ns) <= target_ns / 4
            });
            self.cells.clear();
        }
    }

    /// The cuts between the parts, or why the recording cannot be cut.
    pub(super) fn finish(mut self) -> Result<Vec<Cut>, Uncut> {
        self.decide(u64::MAX);
        let length_ns = self.newest_ns.saturating_sub(self.origin_ns.unwrap_or(0));
        if length_ns < 2 * TARGET_NS {
            return Err(Uncut::Short);
        }
        let mut used: Vec<Cut> = Vec::new();
        let mut before = Before::default();
        let mut carried_bytes = 0;
        for cut in &self.cuts {
            let of_part = |count: fn(&Before) -> u64| count(&cut.before) - count(&before);
            let operations = of_part(|of| of.operations);
            let left_ios = self.so_far.ios - cut.before.ios;
            if of_part(|of| of.ios) < LEAST_IOS || left_ios < LEAST_IOS {
                continue;
            }
            if cut.crossing * CROSSED_ONE_IN > operations {
                continue;
            }
            carried_bytes += cut.before.unsynced_bytes.min(of_part(|of| of.written_bytes));
            before = cut.before;
            used.push(*cut);
        }
        // What a program leaves to be written back would be written in the other arm's turn.
        if 2 * carried_bytes > self.so_far.written_bytes {
            return Err(Uncut::WriteBack);
        }
        if used.is_empty() {
            return Err(Uncut::Busy);
        }
        self.reduce(&mut used);
        Ok(used)
    }

    /// Leaves as many cuts as some number of parts has. The worst go, then those between the
    /// shortest parts.
    fn reduce(&self, cuts: &mut Vec<Cut>) {
        let fits = |count: &&u32| **count as usize <= cuts.len() + 1;
        let parts = PART_COUNTS.iter().rev().find(fits).map_or(1, |count| *count as usize);
        while cuts.len() + 1 > parts {
            let begin_ns = |at: usize| at.checked_sub(1).map_or(0, |before| cuts[before].time_ns);
            let end_ns = |at: usize| cuts.get(at + 1).map_or(self.newest_ns, |cut| cut.time_ns);
            let key = |at: &usize| (Reverse(cuts[*at].crossing), end_ns(*at) - begin_ns(*at));
            let worst = (0..cuts.len()).min_by_key(key).expect("there is a cut");
            cuts.remove(worst);
        }
    }
}

/// A part of a recording, or all of it.
pub(super) struct Part {
    /// The last event before it; `None` at the start of the recording.
    pub after: Option<EventPlace>,
    /// How many events it has; `None` for all that follow.
    pub events: Option<u64>,
    /// Of its threads and files.
    pub roles: Roles,
    pub length_ns: u64,
    /// Operations to execute.
    pub operations: u64,
}

/// Reads the events of a part.
pub(super) struct Events<R> {
    reader: Reader<R>,
    /// Of the next chunk.
    skipped: usize,
    left: Option<u64>,
}

impl<R: Read> Events<R> {
    /// `reader` begins with the chunk of the part's first event, or with that before it.
    pub(super) fn of(part: &Part, reader: Reader<R>) -> Self {
        let skipped = part.after.map_or(0, |place| place.in_chunk + 1);
        Self { reader, skipped, left: part.events }
    }

    pub(super) fn chunk(
        &mut self,
    ) -> Result<Option<Take<Skip<IntoIter<Event>>>>, iotax_trace::Error> {
        if self.left == Some(0) {
            return Ok(None);
        }
        let Some(chunk) = self.reader.chunk()? else { return Ok(None) };
        let skipped = std::mem::take(&mut self.skipped).min(chunk.len());
        let mut taken = chunk.len() - skipped;
        if let Some(left) = &mut self.left {
            taken = taken.min(usize::try_from(*left).unwrap_or(usize::MAX));
            *left -= taken as u64;
        }
        Ok(Some(chunk.into_iter().skip(skipped).take(taken)))
    }
}

/// Whether an event is something that takes time in the replay.
fn crosses(event: &Event) -> bool {
    is_replayed(event) || event.op == Op::Wake && event.is_dependency()
}

const fn is_io(op: Op) -> bool {
    matches!(op, Op::Read | Op::Write | Op::SendFile | Op::CopyRange | Op::Fault)
}

/// Whether a write leaves nothing to be written back.
pub(super) fn is_synced_at_once(event: &Event) -> bool {
    use iotax_trace::Flags;
    [Flags::DIRECT, Flags::SYNC, Flags::DATA_SYNC].iter().any(|flag| event.flags.contains(*flag))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WANTED_NS: u64 = 1000;

    fn event(start_ns: u64, latency_ns: u64) -> Event {
        Event {
            flags: iotax_trace::Flags::DIRECT,
            file: 0,
            length: 1,
            result: 1,
            end_ns: start_ns + latency_ns,
            latency_ns,
            ..Event::new(Op::Write)
        }
    }

    /// The cuts of events that are in the order of their ends.
    fn cuts(events: &[Event]) -> Vec<Cut> {
        let mut cutter = Cutter::with_target(WANTED_NS);
        for (number, event) in (0..).zip(events) {
            cutter.note(event, EventPlace { number, ..EventPlace::default() }, 0);
        }
        cutter.decide(u64::MAX);
        cutter.cuts
    }

    /// How many of the events after the first `until` began before `time_ns`.
    fn crossing(events: &[Event], until: usize, time_ns: u64) -> u64 {
        events[until..].iter().filter(|event| event.start_ns() < time_ns).count() as u64
    }

    fn events(shapes: &[(u64, u64)]) -> Vec<Event> {
        let mut now_ns = 0;
        let mut events: Vec<Event> = shapes
            .iter()
            .map(|(gap_ns, latency_ns)| {
                now_ns += gap_ns;
                event(now_ns, *latency_ns)
            })
            .collect();
        events.sort_by_key(|event| event.end_ns);
        events
    }

    proptest! {
        #[test]
        fn each_cut_is_crossed_by_what_a_full_search_finds_and_is_quiet_if_its_cell_is(
            shapes in prop::collection::vec((0..90_u64, 0..400_u64), 50..400),
            calm in 1..60_u64,
        ) {
            // Between operations that overlap there are few quiet points.
            let shapes: Vec<(u64, u64)> = shapes
                .into_iter()
                .map(|(gap_ns, latency_ns)| {
                    (gap_ns, if latency_ns % calm == 0 { latency_ns } else { latency_ns / 9 })
                })
                .collect();
            let events = events(&shapes);
            let origin_ns = events[0].start_ns();
            for cut in cuts(&events) {
                let until = usize::try_from(cut.last.number).unwrap() + 1;
                prop_assert!(events[..until].iter().all(|event| event.end_ns <= cut.time_ns));
                prop_assert_eq!(cut.crossing, crossing(&events, until, cut.time_ns));
                prop_assert_eq!(cut.operations_before(), until as u64);
                // The nearest multiple of the wanted length, and all candidates around it.
                let middle_ns = (cut.time_ns - origin_ns + WANTED_NS / 2) / WANTED_NS * WANTED_NS;
                let mut newest_ns = 0;
                let is_quiet = |(at, event): (usize, &Event)| {
                    newest_ns = newest_ns.max(event.end_ns);
                    let is_in = (newest_ns - origin_ns).abs_diff(middle_ns) <= WANTED_NS / 4;
                    is_in && crossing(&events, at + 1, newest_ns) == 0
                };
                let has_quiet = events.iter().enumerate().any(is_quiet);
                prop_assert_eq!(cut.crossing == 0, has_quiet);
            }
        }
    }

    #[test]
    fn a_quiet_point_among_many_candidates_is_kept() {
        // 4 streams of back-to-back operations, which all pause once in each cell.
        let mut all = Vec::new();
        for round in 1..=5_u64 {
            for stream in 0..4 {
                let from = round * WANTED_NS - WANTED_NS / 2 + 10 + stream;
                let mut at = from;
                while at + 3 < (round + 1) * WANTED_NS - WANTED_NS / 2 - 5 {
                    // The pause.
                    if !(round * WANTED_NS - 8..round * WANTED_NS + 8).contains(&at) {
                        all.push(event(at, 4));
                    }
                    at += 4;
                }
            }
        }
        all.sort_by_key(|event| event.end_ns);
        let cuts = cuts(&all);
        assert!(cuts.len() >= 4, "{}", cuts.len());
        assert!(cuts.iter().all(|cut| cut.crossing == 0), "{cuts:?}");
    }

    #[test]
    fn cuts_stay_few_however_long_the_recording_is() {
        let shapes: Vec<(u64, u64)> = (0..20_000).map(|_| (WANTED_NS / 2, 5)).collect();
        let cuts = cuts(&events(&shapes));
        assert!((MOST_CUTS / 2..=MOST_CUTS + 1).contains(&cuts.len()), "{}", cuts.len());
        assert!(cuts.is_sorted_by_key(|cut| cut.time_ns));
    }

    fn finished(
        events: impl Iterator<Item = Event>,
        unsynced_bytes: u64,
    ) -> Result<Vec<Cut>, Uncut> {
        let mut cutter = Cutter::new();
        for (number, event) in (0..).zip(events) {
            cutter.note(&event, EventPlace { number, ..EventPlace::default() }, unsynced_bytes);
        }
        cutter.finish()
    }

    #[test]
    fn the_number_of_parts_suits_the_looks_at_the_data() {
        let lasting = |seconds: u64| (0..seconds * 1000).map(|at| event(at * 1_000_000, 1000));
        for (seconds, parts) in [(3, 2), (4, 4), (7, 5), (9, 8), (60, 50), (79, 64), (80, 80)] {
            let cuts = finished(lasting(seconds), 0).unwrap();
            assert_eq!(cuts.len() + 1, parts);
            assert!(cuts.is_sorted_by_key(|cut| cut.time_ns));
            let mut times: Vec<u64> = cuts.iter().map(|cut| cut.time_ns).collect();
            times.extend([0, seconds * 1_000_000_000]);
            times.sort_unstable();
            let lengths = times.windows(2).map(|two| two[1] - two[0]);
            assert!(lengths.max().unwrap() < 2_600_000_000, "{times:?}");
        }
    }

    #[test]
    fn recordings_without_good_cuts_are_left_whole() {
        let every_ms = |latency_ns| (0..5000).map(move |at| event(at * 1_000_000, latency_ns));
        let used = finished(every_ms(1000), 0).unwrap();
        assert_eq!(used.len(), 4, "five parts");
        assert_eq!(finished(every_ms(1000).take(1500), 0), Err(Uncut::Short));
        // A second's operations are in flight all the time.
        assert_eq!(finished(every_ms(1_000_000_000), 0), Err(Uncut::Busy));
        let buffered = |event| Event { flags: iotax_trace::Flags::default(), ..event };
        assert_eq!(finished(every_ms(1000).map(buffered), u64::MAX), Err(Uncut::WriteBack));
        assert_eq!(finished(every_ms(1000).map(buffered), 10).unwrap().len(), 4);
    }
}
