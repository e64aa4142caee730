//! Figures per file: the order of its I/O, its syncs, and which files are the hottest.

use std::collections::BTreeMap;

use super::distribution::{Coarse, Distribution, lowest_of, power_of};
use super::summary::{BetweenSyncs, Bucket, FileFigures, FileTotals, Files, HotFile, OtherFiles};
use super::table::Table;
use super::{Class, share};
use crate::event::{Event, File, NO_FILE, Op, Thread};
use crate::head::{FileKind, FileState};

/// Files that are tracked at a time. When they are exceeded, the hottest and the latest are kept.
const TRACKED: usize = 8192;
/// Files in each list of the hottest.
const HOTTEST: usize = 10;
/// Per file and kind: recent end offsets at which another I/O can continue (streams). Linux keeps
/// read-ahead for each open file; threads with one descriptor each are such streams.
const STREAMS: usize = 8;
/// Threads that sync a file are told apart up to this number.
const SYNCING_THREADS: usize = 8;

/// How an I/O follows the previous one of the same file and operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// It starts where the previous one ended.
    pub is_sequential: bool,
    /// It starts where one of the last `STREAMS` ended.
    pub is_in_stream: bool,
    /// It starts where the previous one started.
    pub is_at_same_offset: bool,
}

pub(super) struct FileTable {
    files: Table<File, Entry>,
    sequence: u64,
    all: FileTotals,
    others: OtherFiles,
    between_syncs: Distribution,
}

struct Entry {
    last_event: u64,
    totals: FileTotals,
    /// Of reads, writes, faults, `sendfile` and `copy_file_range`.
    positions: [Option<Box<Positions>>; 5],
    unsynced_bytes: u64,
    syncs: Option<Box<FileSyncs>>,
}

struct Positions {
    last_offset: u64,
    last_end: u64,
    ends: [u64; STREAMS],
    next: usize,
}

#[derive(Default)]
struct FileSyncs {
    bytes_between: Coarse,
    threads: Vec<Thread>,
    latest_end_ns: u64,
    overlapping: u64,
}

impl Default for FileTable {
    fn default() -> Self {
        Self {
            files: Table::new(TRACKED),
            sequence: 0,
            all: FileTotals::default(),
            others: OtherFiles::default(),
            between_syncs: Distribution::default(),
        }
    }
}

impl FileTable {
    /// Counts the event; how it follows the previous one if it moves data of a file for which there
    /// was one.
    pub(super) fn add(&mut self, event: &Event, class: Class) -> Option<Step> {
        if event.file == NO_FILE {
            return None;
        }
        self.sequence += 1;
        let totals = totals_of(event, class);
        self.all.add(&totals);
        let between = {
            let entry = self.entry(event.file);
            entry.totals.add(&totals);
            entry.between_syncs(event, class)
        };
        if let Some(bytes) = between {
            self.between_syncs.add(bytes);
        }
        if event.op == Op::CopyRange {
            self.add_target(event);
        }
        let slot = position_slot(event.op)?;
        if event.errno().is_some() {
            return None;
        }
        let positions = &mut self.entry(event.file).positions[slot];
        let step = positions.as_mut().map(|positions| positions.step(event));
        positions.get_or_insert_with(|| Box::new(Positions::new(event)));
        step
    }

    /// The bytes that were written to the target of a copy.
    fn add_target(&mut self, event: &Event) {
        let Some(target) = File::try_from(event.detail).ok().filter(|file| *file != NO_FILE) else {
            return;
        };
        let totals = FileTotals { written_bytes: event.moved(), ..FileTotals::default() };
        self.all.add(&totals);
        let entry = self.entry(target);
        entry.totals.add(&totals);
        entry.unsynced_bytes = entry.unsynced_bytes.saturating_add(event.moved());
    }

    fn entry(&mut self, file: File) -> &mut Entry {
        if self.files.needs_room(file) {
            let ranks: &[fn(&Entry) -> u64] = &[
                |entry| entry.totals.time_ns,
                |entry| entry.totals.read_bytes.saturating_add(entry.totals.written_bytes),
                |entry| entry.totals.syncs,
                |entry| entry.last_event,
            ];
            let others = &mut self.others;
            self.files.retire(ranks, |entry| others.totals.add(&entry.totals));
        }
        let sequence = self.sequence;
        let entry = self.files.entry(file, Entry::new);
        entry.last_event = sequence;
        entry
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    pub(super) fn between_syncs(&self) -> Option<BetweenSyncs> {
        let bytes = &self.between_syncs;
        (bytes.count() > 0).then(|| BetweenSyncs {
            mean_bytes: bytes.mean(),
            p50_bytes: bytes.quantile(0.5),
            p90_bytes: bytes.quantile(0.9),
            max_bytes: bytes.highest(),
            histogram: bytes.buckets(),
        })
    }

    pub(super) fn finish(self, states: &[FileState]) -> Files {
        let by_time = self.hottest(states, |totals| totals.time_ns);
        let bytes = |totals: &FileTotals| totals.read_bytes.saturating_add(totals.written_bytes);
        let by_bytes = self.hottest(states, bytes);
        let by_syncs = self.hottest(states, |totals| totals.syncs);
        let mut named: Vec<File> =
            [&by_time, &by_bytes, &by_syncs].into_iter().flatten().map(|hot| hot.file).collect();
        named.sort_unstable();
        named.dedup();
        let named = named.into_iter().filter_map(|file| self.figures(file, states)).collect();
        Files {
            count: states.len() as u64,
            regular: count(states, |state| state.kind == FileKind::Regular),
            directories: count(states, |state| state.kind == FileKind::Directory),
            block_devices: count(states, |state| state.kind == FileKind::BlockDevice),
            created: count(states, |state| state.is_new),
            size_bytes: sum(states, |state| state.size_bytes),
            gap_bytes: sum(states, |state| sum(&state.gaps, |gap| gap.bytes)),
            cached_bytes: states
                .iter()
                .filter_map(|state| state.cached_bytes)
                .reduce(u64::saturating_add),
            sizes: sizes(states),
            all: self.all,
            others: OtherFiles { entries: self.files.retired(), ..self.others },
            by_time,
            by_bytes,
            by_syncs,
            named,
        }
    }

    fn hottest(&self, states: &[FileState], of: impl Fn(&FileTotals) -> u64) -> Vec<HotFile> {
        let device_of = |file| state_of(states, file).map(|state| state.device);
        let mut of_device = BTreeMap::<_, u64>::new();
        let mut ranked = Vec::new();
        for (file, entry) in self.files.iter() {
            let value = of(&entry.totals);
            let sum = of_device.entry(device_of(file)).or_default();
            *sum = sum.saturating_add(value);
            if value > 0 {
                ranked.push((value, file));
            }
        }
        ranked.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        ranked
            .into_iter()
            .take(HOTTEST)
            .map(|(value, file)| HotFile {
                file,
                share: share(value, of(&self.all)),
                share_of_device: share(value, of_device[&device_of(file)]),
            })
            .collect()
    }

    fn figures(&self, file: File, states: &[FileState]) -> Option<FileFigures> {
        let entry = self.files.get(file)?;
        let state = state_of(states, file);
        let syncs = entry.syncs.as_ref();
        Some(FileFigures {
            file,
            kind: state.map(|state| state.kind),
            class: state.and_then(|state| state.class.clone()),
            device: state.map(|state| state.device),
            size_bytes: state.map(|state| state.size_bytes),
            totals: entry.totals,
            bytes_between_syncs: syncs.and_then(|syncs| syncs.bytes_between.median()),
            syncing_threads: syncs.map_or(0, |syncs| syncs.threads.len() as u64),
            overlapping_syncs_share: syncs
                .map_or(0.0, |syncs| share(syncs.overlapping, entry.totals.syncs)),
        })
    }
}

impl Entry {
    fn new() -> Self {
        Self {
            last_event: 0,
            totals: FileTotals::default(),
            positions: Default::default(),
            unsynced_bytes: 0,
            syncs: None,
        }
    }

    /// Bytes written since the previous sync if this is one.
    fn between_syncs(&mut self, event: &Event, class: Class) -> Option<u64> {
        if class == Class::Write {
            self.unsynced_bytes = self.unsynced_bytes.saturating_add(event.moved());
        }
        if class != Class::Sync {
            return None;
        }
        let bytes = std::mem::take(&mut self.unsynced_bytes);
        self.syncs.get_or_insert_default().add(event, bytes);
        Some(bytes)
    }
}

impl FileSyncs {
    fn add(&mut self, event: &Event, bytes: u64) {
        self.bytes_between.add(bytes);
        if self.threads.len() < SYNCING_THREADS && !self.threads.contains(&event.thread) {
            self.threads.push(event.thread);
        }
        self.overlapping += u64::from(event.overlaps(self.latest_end_ns));
        self.latest_end_ns = self.latest_end_ns.max(event.end_ns);
    }
}

impl Positions {
    fn new(event: &Event) -> Self {
        // An end offset that no I/O can start at.
        let mut ends = [u64::MAX; STREAMS];
        ends[0] = end_of(event);
        Self { last_offset: event.offset, last_end: ends[0], ends, next: 1 }
    }

    fn step(&mut self, event: &Event) -> Step {
        let stream = self.ends.iter().position(|end| *end == event.offset);
        let step = Step {
            is_sequential: event.offset == self.last_end,
            is_in_stream: stream.is_some(),
            is_at_same_offset: event.offset == self.last_offset,
        };
        self.last_offset = event.offset;
        self.last_end = end_of(event);
        let at = stream.unwrap_or(self.next);
        if stream.is_none() {
            self.next = (self.next + 1) % STREAMS;
        }
        self.ends[at] = self.last_end;
        step
    }
}

fn end_of(event: &Event) -> u64 {
    event.offset.saturating_add(event.moved())
}

const fn position_slot(op: Op) -> Option<usize> {
    match op {
        Op::Read => Some(0),
        Op::Write => Some(1),
        Op::Fault => Some(2),
        Op::SendFile => Some(3),
        Op::CopyRange => Some(4),
        _ => None,
    }
}

fn totals_of(event: &Event, class: Class) -> FileTotals {
    let is_sync = class == Class::Sync;
    let bytes_if = |moves: bool| if moves { event.moved() } else { 0 };
    FileTotals {
        operations: 1,
        time_ns: event.latency_ns,
        read_bytes: bytes_if(class.moves().reads),
        written_bytes: bytes_if(class.moves().writes),
        syncs: u64::from(is_sync),
        sync_ns: if is_sync { event.latency_ns } else { 0 },
    }
}

impl FileTotals {
    fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.time_ns = self.time_ns.saturating_add(other.time_ns);
        self.read_bytes = self.read_bytes.saturating_add(other.read_bytes);
        self.written_bytes = self.written_bytes.saturating_add(other.written_bytes);
        self.syncs += other.syncs;
        self.sync_ns = self.sync_ns.saturating_add(other.sync_ns);
    }
}

fn state_of(states: &[FileState], file: File) -> Option<&FileState> {
    states.get(usize::try_from(file).ok()?)
}

fn count(states: &[FileState], is: impl Fn(&FileState) -> bool) -> u64 {
    states.iter().filter(|state| is(state)).count() as u64
}

fn sum<T>(parts: &[T], of: impl Fn(&T) -> u64) -> u64 {
    parts.iter().map(of).fold(0, u64::saturating_add)
}

/// Regular files by their size before the trace.
fn sizes(states: &[FileState]) -> Vec<Bucket> {
    let mut counts = BTreeMap::<usize, u64>::new();
    for state in states.iter().filter(|state| state.kind == FileKind::Regular) {
        *counts.entry(power_of(state.size_bytes)).or_default() += 1;
    }
    counts.into_iter().map(|(power, count)| Bucket { from: lowest_of(power), count }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::profile::testing::io;

    fn files(devices: &[u32]) -> Vec<FileState> {
        devices.iter().map(|&device| FileState { device, ..FileState::default() }).collect()
    }

    fn added(events: &[Event]) -> (FileTable, Vec<Option<Step>>) {
        let mut table = FileTable::default();
        let steps = events.iter().map(|event| table.add(event, Class::of(event.op))).collect();
        (table, steps)
    }

    proptest! {
        #[test]
        fn order_is_that_of_all_events(
            ios in prop::collection::vec((0_u32..4, 0_u64..6, 1_u64..4, any::<bool>()), 0..200)
        ) {
            let events: Vec<_> = ios
                .iter()
                .map(|(file, offset, length, is_read)| {
                    let op = if *is_read { Op::Read } else { Op::Write };
                    Event { file: *file, ..io(op, *offset, *length) }
                })
                .collect();
            let (_, steps) = added(&events);
            let mut before = HashMap::<_, Vec<&Event>>::new();
            for (event, step) in events.iter().zip(steps) {
                let earlier = before.entry((event.file, event.op)).or_default();
                prop_assert_eq!(step.is_some(), !earlier.is_empty());
                if let (Some(step), Some(last)) = (step, earlier.last()) {
                    prop_assert_eq!(step.is_sequential, last.offset + last.length == event.offset);
                    prop_assert_eq!(step.is_at_same_offset, last.offset == event.offset);
                    prop_assert!(step.is_in_stream || !step.is_sequential);
                }
                earlier.push(event);
            }
        }
    }

    #[test]
    fn interleaved_streams_are_recognised() {
        let mut events = Vec::new();
        for block in 0..20 {
            for stream in 0..STREAMS as u64 {
                events.push(io(Op::Read, (stream << 30) + block * 4096, 4096));
            }
        }
        let (_, steps) = added(&events);
        let in_streams = steps.iter().flatten().filter(|step| step.is_in_stream).count();
        let sequential = steps.iter().flatten().filter(|step| step.is_sequential).count();
        assert_eq!((in_streams, sequential), (19 * STREAMS, 0));
    }

    #[test]
    fn syncs_know_what_was_written() {
        let mut events = Vec::new();
        for number in 0..10 {
            events.push(io(Op::Write, number * 8192, 8192));
            events.push(io(Op::Write, number * 8192, 4096));
            events.push(Event {
                end_ns: number * 1_000_000,
                latency_ns: 100,
                ..io(Op::Fsync, 0, 0)
            });
        }
        let (table, _) = added(&events);
        assert_eq!(table.between_syncs().expect("there are syncs").p50_bytes, 12_288);
        let files = table.finish(&files(&[0]));
        assert_eq!(files.named[0].bytes_between_syncs, Some(12_288));
        assert_eq!(files.named[0].totals.syncs, 10);
        assert_eq!(files.named[0].syncing_threads, 1);
    }

    #[test]
    fn overlap_of_syncs_is_more_than_rounding() {
        let sync = |thread, end_ns, latency_ns| Event {
            thread,
            end_ns,
            latency_ns,
            ..io(Op::Fdatasync, 0, 0)
        };
        let (table, _) = added(&[
            sync(0, 10_000_000, 1_000_000),
            sync(1, 20_000_000, 10_100_000),
            sync(0, 30_000_000, 15_000_000),
        ]);
        let files = table.finish(&files(&[0]));
        assert_eq!(files.by_syncs[0].share, 1.0);
        assert_eq!(files.named[0].syncing_threads, 2);
        assert_eq!(files.named[0].overlapping_syncs_share, 1.0 / 3.0);
    }

    #[test]
    fn the_hottest_know_their_device() {
        let timed = |file, latency_ns| Event { file, latency_ns, ..io(Op::Read, 0, 4096) };
        let (table, _) = added(&[timed(0, 600), timed(1, 200), timed(2, 200), timed(1, 0)]);
        let files = table.finish(&files(&[0, 0, 1]));
        assert_eq!(files.by_time[0], HotFile { file: 0, share: 0.6, share_of_device: 0.75 });
        assert_eq!(files.by_bytes[0], HotFile { file: 1, share: 0.5, share_of_device: 2.0 / 3.0 });
        assert!(files.by_syncs.is_empty());
        assert_eq!(files.count, 3);
    }

    #[test]
    fn totals_include_retired_files() {
        let events: Vec<_> = (0..30_000)
            .map(|file| Event { file, latency_ns: 1, ..io(Op::Write, 0, 4096) })
            .collect();
        let (table, _) = added(&events);
        assert!(table.len() <= TRACKED);
        let files = table.finish(&[]);
        assert_eq!(files.all.operations, 30_000);
        assert!(files.others.totals.operations > 20_000);
        assert_eq!(files.others.entries, files.others.totals.operations);
    }
}
