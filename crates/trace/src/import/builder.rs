//! What all importers do: number threads and files, put events in order, and find out how large
//! the files were before.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Write;

use super::outcome::{Format, ImportError, Imported, Place, Reason, Skipped};
use super::ranges::Ranges;
use crate::event::{Event, File, NO_FILE, Op, Thread};
use crate::file::{Error, Writer};
use crate::head::{End, FileKind, FileState, Head, Unseen};

/// Events are put in order as long as they are not further apart than this.
/// Of this many records one may be unusable.
const USABLE_PER_SKIPPED: u64 = 10;
const HORIZON: usize = 1 << 14;
/// Beyond the sort window, an event may be late by at most this much.
const TOLERANCE_NS: u64 = 1_000_000_000;
/// 292 years.
const LONGEST_NS: u64 = i64::MAX.cast_unsigned();
/// Skipped records that are kept to be shown.
const EXAMPLES: usize = 8;

/// `fallocate`: leave the size as it is.
pub(super) const KEEP_SIZE: u64 = 1;
/// `fallocate`: free the range.
pub(super) const PUNCH_HOLE: u64 = 2;
const COLLAPSE_RANGE: u64 = 8;
const INSERT_RANGE: u64 = 32;

struct Tracked {
    state: FileState,
    /// Ranges that got their data during the trace.
    produced: Ranges,
    size_now: u64,
    is_amended: bool,
}

impl Tracked {
    /// These bytes are there now.
    fn has(&mut self, begin: u64, end: u64) {
        self.size_now = self.size_now.max(end);
        if let Some(end) = self.produced.last_gap(begin, end)
            && end > self.state.size_bytes
        {
            self.state.size_bytes = end;
            self.is_amended = true;
        }
    }

    fn produce(&mut self, begin: u64, end: u64) {
        self.size_now = self.size_now.max(end);
        self.produced.insert(begin, end);
    }

    /// Nothing from before the trace is beyond `size`.
    fn cut(&mut self, size: u64) {
        self.produced.insert(size, u64::MAX);
        self.size_now = size;
    }

    fn follow(&mut self, event: &Event) {
        let end = event.offset.saturating_add(event.moved());
        let asked_end = event.offset.saturating_add(event.length);
        if self.state.kind == FileKind::BlockDevice {
            if event.op.moves_data() || event.op == Op::Allocate {
                self.has(asked_end.saturating_sub(1), asked_end);
            }
            return;
        }
        match event.op {
            Op::Write => self.produce(event.offset, end),
            Op::Read | Op::Fault | Op::SendFile | Op::CopyRange if end > event.offset => {
                self.has(event.offset, end);
            }
            Op::Truncate => self.cut(event.offset),
            Op::Allocate if event.detail & (COLLAPSE_RANGE | INSERT_RANGE) != 0 => {
                // The call shifts all data after the range, so that nothing is known about it.
                self.produced.insert(event.offset, u64::MAX);
            }
            Op::Allocate if event.detail & KEEP_SIZE != 0 => {
                self.produced.insert(event.offset, asked_end);
            }
            Op::Allocate => self.produce(self.size_now.max(event.offset), asked_end),
            _ => {}
        }
    }
}

/// An event in the order of ends, and of arrival among equals.
struct Waiting {
    event: Event,
    number: u64,
}

impl Waiting {
    const fn key(&self) -> (u64, u64) {
        (self.event.end_ns, self.number)
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

pub(super) struct Builder<W> {
    writer: Writer<W>,
    files: Vec<Tracked>,
    threads: Thread,
    waiting: BinaryHeap<Reverse<Waiting>>,
    events: u64,
    length_ns: u64,
    /// The end of the event that was written last.
    written_ns: u64,
    skipped: u64,
    examples: Vec<Skipped>,
    pub(super) lost: u64,
}

impl<W: Write> Builder<W> {
    pub(super) fn new(output: W, head: &Head) -> Result<Self, Error> {
        Ok(Self {
            writer: Writer::new(output, head)?,
            files: Vec::new(),
            threads: 0,
            waiting: BinaryHeap::new(),
            events: 0,
            length_ns: 0,
            written_ns: 0,
            skipped: 0,
            examples: Vec::new(),
            lost: 0,
        })
    }

    /// The number of the next thread.
    pub(super) const fn thread(&mut self) -> Thread {
        self.threads += 1;
        self.threads - 1
    }

    pub(super) fn file(&mut self, kind: FileKind, is_new: bool) -> File {
        let state = FileState { kind, is_new, ..FileState::default() };
        let mut file =
            Tracked { state, produced: Ranges::default(), size_now: 0, is_amended: false };
        if is_new {
            file.cut(0);
        }
        self.files.push(file);
        self.writer.file(self.files[self.files.len() - 1].state.clone())
    }

    pub(super) fn kind(&self, file: File) -> FileKind {
        self.tracked(file).map(|file| file.state.kind).unwrap_or_default()
    }

    pub(super) fn set_kind(&mut self, file: File, kind: FileKind) {
        if let Some(file) = self.tracked_mut(file)
            && file.state.kind != kind
        {
            file.state.kind = kind;
            file.is_amended = true;
        }
    }

    /// As far as it is known.
    pub(super) fn size_now(&self, file: File) -> u64 {
        self.tracked(file).map_or(0, |file| file.size_now)
    }

    /// The source tells the size that a file has now.
    pub(super) fn learn_size(&mut self, file: File, size: u64) {
        if let Some(file) = self.tracked_mut(file) {
            file.has(size.saturating_sub(1), size);
            file.size_now = size;
        }
    }

    /// The file is opened and emptied.
    pub(super) fn empty(&mut self, file: File) {
        if let Some(file) = self.tracked_mut(file) {
            file.cut(0);
        }
    }

    /// A range gets its data without a write event.
    pub(super) fn produce(&mut self, file: File, begin: u64, end: u64) {
        if let Some(file) = self.tracked_mut(file) {
            file.produce(begin, end);
        }
    }

    fn tracked(&self, file: File) -> Option<&Tracked> {
        self.files.get(file as usize)
    }

    fn tracked_mut(&mut self, file: File) -> Option<&mut Tracked> {
        self.files.get_mut(file as usize)
    }

    pub(super) fn push(&mut self, event: Event) -> Result<(), ImportError> {
        // Times are clamped to the maximum that a trace can store.
        let (end_ns, latency_ns) = (event.end_ns.min(LONGEST_NS), event.latency_ns.min(LONGEST_NS));
        let event = Event { end_ns, latency_ns, ..event };
        if event.file != NO_FILE
            && event.errno().is_none()
            && let Some(file) = self.tracked_mut(event.file)
        {
            file.follow(&event);
        }
        self.length_ns = self.length_ns.max(event.end_ns);
        self.waiting.push(Reverse(Waiting { event, number: self.events }));
        self.events += 1;
        if self.waiting.len() > HORIZON
            && let Some(Reverse(first)) = self.waiting.pop()
        {
            self.write(first.event)?;
        }
        Ok(())
    }

    fn write(&mut self, event: Event) -> Result<(), ImportError> {
        if event.end_ns.saturating_add(TOLERANCE_NS) < self.written_ns {
            return Err(ImportError::Unordered { event: self.events });
        }
        self.written_ns = self.written_ns.max(event.end_ns);
        Ok(self.writer.push(event)?)
    }

    pub(super) fn skip(&mut self, skipped: Skipped) {
        self.skipped += 1;
        if self.examples.len() < EXAMPLES {
            self.examples.push(skipped);
        }
    }

    pub(super) fn skip_line(&mut self, line: u64, reason: Reason) {
        self.skip(Skipped { input: 0, place: Place::Line(line), reason });
    }

    pub(super) fn finish(
        mut self,
        format: Format,
        unseen: Vec<Unseen>,
    ) -> Result<Imported, ImportError> {
        let records = self.events + self.skipped;
        let first = self.examples.first().copied();
        match first {
            Some(first) if self.skipped * USABLE_PER_SKIPPED > records && self.events > 0 => {
                return Err(ImportError::TooManySkipped { skipped: self.skipped, records, first });
            }
            _ if self.events == 0 => return Err(ImportError::Empty { first }),
            _ => {}
        }
        while let Some(Reverse(next)) = self.waiting.pop() {
            self.write(next.event)?;
        }
        for (number, file) in (0..).zip(&self.files) {
            if file.is_amended {
                self.writer.amend(number, file.state.clone());
            }
        }
        self.writer.finish(&End { lost: self.lost, ..End::default() })?;
        Ok(Imported {
            format,
            events: self.events,
            files: u32::try_from(self.files.len()).unwrap_or(u32::MAX),
            threads: self.threads,
            length_ns: self.length_ns,
            lost: self.lost,
            skipped: self.skipped,
            examples: self.examples,
            unseen,
        })
    }
}
