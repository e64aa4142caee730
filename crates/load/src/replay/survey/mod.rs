//! Reads a trace once before the replay, to find how to lay out files and how to replay each
//! thread.

use std::fs::File as OsFile;
use std::io::{BufReader, Read};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use iotax_experiment::{Arrivals, RecordedLoad, Uncut};
use iotax_quantity::grouped;
use iotax_record::LatencyHistogram;
use iotax_trace::{
    End, Event, File, FileKind, FileState, Flags, Head, NO_FILE, Op, OpenRequests, Reader,
    TURNS_OVERLAP_ONE_IN, Thread, Unseen,
};
use sha2::{Digest as _, Sha256};

pub(super) use self::cached::Cached;
use self::cached::FirstReads;
use super::graph::{
    Begin, ClockedArrivals, FileRole, Graph, Io, MOST_LANES, Placed, Roles, Step, ThreadRole,
    Turns, names, replaced,
};
use super::origin::Origin;
use super::parts::{Cut, Cutter, EventPlace, Events, Part, is_synced_at_once};
use super::ranges::{RangeSet, Rounding};
use crate::error::Error;
use crate::target::shown;

/// Ranges of all files together; a file may always have `LEAST_RANGES`.
const MOST_RANGES: usize = 1 << 18;
const LEAST_RANGES: usize = 64;
/// Threads of a trace: each becomes a thread of the replay.
const MOST_THREADS: u32 = 4096;
const MOST_FILES: usize = 1 << 20;
/// Files of each thread for which it is remembered that it syncs them.
const MOST_SYNCED: usize = 16;
/// Think time of a thread that lives by timers, as a share of the recording, and its I/Os as a
/// share of those of the busiest thread; both in percent.
const TIMER_GAPS_PERCENT: u64 = 60;
const TIMER_IOS_PERCENT: u64 = 20;
/// The pauses of a thread count as think time if it wakes others at most this often, in percent of
/// what the most frequent waker does.
const TIMER_WAKES_PERCENT: u64 = 20;
/// Group commit is assumed only if a thread that synced wakes the next one to sync at least once in
/// this many changes of thread.
const HANDED_OVER_ONE_IN: u64 = 3;
/// It also takes a thread that goes on without a sync of its own, at least once in this many such
/// wake-ups.
const FOLLOWED_ONE_IN: u64 = 8;

/// How a trace is replayed where it leaves a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Replay a trace although more than 0.1 % of its events were lost.
    pub allow_loss: bool,
    pub arrivals: Arrivals,
    /// How many copies of the application are replayed at the same time.
    pub copies: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { allow_loss: false, arrivals: Arrivals::default(), copies: 1 }
    }
}

impl Options {
    /// Those that a run was planned with.
    pub(super) const fn of(load: &RecordedLoad) -> Self {
        let RecordedLoad { allow_loss, arrivals, copies, .. } = *load;
        Self { allow_loss, arrivals, copies }
    }
}

/// A trace, read once, to be replayed any number of times.
pub struct Recording {
    pub(super) path: PathBuf,
    pub(super) file: OsFile,
    pub(super) head: Head,
    /// `None` if the recorder was killed.
    pub(super) end: Option<End>,
    pub(super) survey: Survey,
    pub(super) options: Options,
    /// If it was imported when it was opened.
    pub(super) origin: Option<Origin>,
}

/// What the pass has found.
pub(super) struct Survey {
    pub roles: Roles,
    pub threads: Vec<ThreadFacts>,
    pub files: Vec<FileFacts>,
    /// Of the trace's bytes, in hexadecimal.
    pub hash: String,
    /// From the start of the first event to the end of the last.
    pub length_ns: u64,
    /// Executed operations by `Op`.
    pub operations: [u64; Op::ALL.len()],
    pub cycle_ns: u64,
    /// How long the thread of each I/O had waited for a CPU since its previous I/O: the mean and the
    /// 99th percentile.
    pub run_delay_ns: [u64; 2],
    /// Latencies of all I/Os, and of the syncs among them.
    pub io_ns: u64,
    pub sync_ns: u64,
    /// Requests of clients that were answered, and the connections that they came from.
    pub requests: u64,
    pub connections: usize,
    /// Where parts begin, except the first.
    pub cuts: Result<Vec<Cut>, Uncut>,
    pub notes: Notes,
}

/// Differences between the replay and the application.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Notes {
    pub overlapping_ios: u64,
    pub lanes_exceeded: u64,
    pub drains: u64,
    pub late_events: u64,
    pub copies: u64,
    pub directory_reads: u64,
    pub files_partly_cached: u64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct ThreadFacts {
    pub lanes: u32,
    pub longest_read_bytes: u64,
    pub longest_write_bytes: u64,
    pub ios: u64,
    /// Data that it sent to clients.
    pub answers: u64,
    /// Data of clients that it received.
    receives: u64,
    sends: u64,
    gap_ns: u64,
    /// Pauses that a signal ends in the replay.
    paused_ns: u64,
    latency_ns: u64,
    overlapping: u64,
    last_end_ns: u64,
    /// Files that it syncs, the first few.
    synced: Vec<File>,
    /// Run delay since its last I/O.
    run_delay_ns: u64,
}

#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct FileFacts {
    pub state: FileState,
    /// Operations on an open descriptor of it.
    pub uses: u64,
    pub uses_direct: bool,
    pub uses_buffered: bool,
    /// The end of the furthest page that is used through a mapping.
    pub mapped_bytes: u64,
    pub is_written: bool,
    /// The file is unlinked or replaced during the trace.
    pub is_removed: bool,
    pub is_renamed: bool,
    /// Data that was there before the trace goes away.
    pub loses_data: bool,
    /// What must be there at the start because it is read before it is written.
    pub read_first: RangeSet,
    first_reads: Option<FirstReads>,
    /// What is read or written of a block device.
    pub touched: RangeSet,
    /// The first byte after all that is read or written.
    pub extent_bytes: u64,
    /// All that is written or allocated.
    added_bytes: u64,
    written: RangeSet,
    /// Number of its first event in the recording.
    pub first_event: u64,
    has_event: bool,
    is_created: bool,
    /// Written, and not synced yet.
    unsynced_bytes: u64,
    syncs: Syncs,
}

/// Whether syncs of a file overlap, counted in the order of their ends.
#[derive(Debug, Clone, Copy, Default)]
struct Syncs {
    count: u64,
    overlapping: u64,
    changes_of_thread: u64,
    turns: Turns,
    last_thread: Thread,
    last_end_ns: u64,
}

impl Syncs {
    fn note(&mut self, event: &Event) {
        self.overlapping += u64::from(self.count > 0 && event.overlaps(self.last_end_ns));
        self.changes_of_thread += u64::from(self.count > 0 && self.last_thread != event.thread);
        self.count += 1;
        self.last_thread = event.thread;
        self.last_end_ns = self.last_end_ns.max(event.end_ns);
    }

    /// A lock is assumed: threads that wait share the next sync.
    const fn are_shared(&self) -> bool {
        self.changes_of_thread > 0 && self.overlapping * TURNS_OVERLAP_ONE_IN <= self.count
    }

    /// Each thread that waits for a sync could issue it. Without threads that go on when another
    /// one has synced, it is a lock alone.
    const fn are_commits(&self) -> bool {
        let Turns { handed_over, followed } = self.turns;
        self.are_shared()
            && handed_over * HANDED_OVER_ONE_IN >= self.changes_of_thread
            && followed * FOLLOWED_ONE_IN >= handed_over
            && followed > 0
    }
}

impl FileFacts {
    fn new(state: FileState) -> Self {
        Self {
            first_reads: FirstReads::of(&state),
            state,
            uses: 0,
            uses_direct: false,
            uses_buffered: false,
            mapped_bytes: 0,
            is_written: false,
            is_removed: false,
            is_renamed: false,
            loses_data: false,
            read_first: RangeSet::new(Rounding::Outward),
            touched: RangeSet::new(Rounding::Outward),
            extent_bytes: 0,
            added_bytes: 0,
            written: RangeSet::new(Rounding::Inward),
            first_event: 0,
            has_event: false,
            is_created: false,
            unsynced_bytes: 0,
            syncs: Syncs::default(),
        }
    }

    /// Whether the replay itself creates it.
    pub(super) const fn is_created(&self) -> bool {
        self.is_created
    }

    /// Whether an operation of the replay is on it.
    pub(super) const fn has_event(&self) -> bool {
        self.has_event
    }

    fn note(&mut self, event: &Event, number: u64, most_ranges: usize) {
        let is_first = !std::mem::replace(&mut self.has_event, true);
        if is_first {
            self.first_event = number;
        }
        let succeeded = event.errno().is_none();
        if event.op == Op::Mkdir && succeeded {
            self.is_created |= is_first && self.state.is_new;
        }
        if event.op == Op::Open && succeeded {
            self.is_created |= is_first && self.state.is_new;
            self.loses_data |= has_flag(event.detail, libc::O_TRUNC) && !self.is_created;
            return;
        }
        if let Some(reads) = &mut self.first_reads {
            reads.note(event, most_ranges / 2);
        }
        let end = |bytes: u64| event.offset.saturating_add(bytes);
        match event.op {
            Op::Read | Op::SendFile | Op::CopyRange | Op::Fault | Op::Dirty => {
                let bytes = if event.op == Op::Dirty { event.length } else { event.moved() };
                for missing in self.written.missing(event.offset..end(bytes)) {
                    self.read_first.insert(missing, most_ranges);
                }
                self.touch(event.offset, end(bytes), most_ranges);
            }
            Op::Write => {
                let range = event.offset..end(event.moved());
                self.written.insert(range.clone(), most_ranges);
                self.added_bytes = self.added_bytes.saturating_add(event.moved());
                self.touch(range.start, range.end, most_ranges);
                if !is_synced_at_once(event) {
                    self.unsynced_bytes = self.unsynced_bytes.saturating_add(event.moved());
                }
            }
            Op::Fsync | Op::Fdatasync => {
                self.syncs.note(event);
                self.unsynced_bytes = 0;
            }
            Op::Msync => self.unsynced_bytes = 0,
            Op::Truncate if succeeded => {
                self.loses_data |= event.offset < self.state.size_bytes;
            }
            Op::Allocate if succeeded => {
                self.added_bytes = self.added_bytes.saturating_add(event.length);
                self.extent_bytes = self.extent_bytes.max(end(event.length));
                let keeps = libc::FALLOC_FL_KEEP_SIZE;
                self.loses_data |= event.detail & !u64::from(keeps.unsigned_abs()) != 0;
            }
            Op::Unlink | Op::Rename if succeeded => {
                self.is_removed |= event.op == Op::Unlink;
                if event.op == Op::Unlink {
                    self.unsynced_bytes = 0;
                }
                self.is_renamed |= event.op == Op::Rename;
            }
            _ => {}
        }
        if matches!(event.op, Op::Fault | Op::Dirty) {
            self.mapped_bytes = self.mapped_bytes.max(end(event.length.max(1)));
        }
        self.is_written |= matches!(event.op, Op::Write | Op::Allocate | Op::Truncate | Op::Dirty);
    }

    /// What the replay adds to the file at most.
    pub(super) fn growth_bytes(&self) -> u64 {
        self.extent_bytes.saturating_sub(self.state.size_bytes).min(self.added_bytes)
    }

    fn touch(&mut self, start: u64, end: u64, most_ranges: usize) {
        self.extent_bytes = self.extent_bytes.max(end);
        if self.state.kind == FileKind::BlockDevice {
            self.touched.insert(start..end, most_ranges);
        }
    }

    fn use_descriptor(&mut self, io: &Io) {
        self.uses += 1;
        let is_direct = io.flags.contains(Flags::DIRECT);
        self.uses_direct |= is_direct;
        self.uses_buffered |= !is_direct;
    }
}

pub(super) fn has_flag(flags: u64, flag: i32) -> bool {
    flags & u64::from(flag.unsigned_abs()) != 0
}

impl Recording {
    /// Reads a trace once from its beginning to its end.
    ///
    /// # Errors
    /// If it cannot be read, has no operation, or lost more than 0.1 % of its events.
    pub fn open(path: &Path, options: Options) -> Result<Self, Error> {
        let file = OsFile::open(path).map_err(Error::path("open", path))?;
        Self::read(path, file, options)
    }

    /// [`Recording::open`] with the file open.
    pub(super) fn read(path: &Path, file: OsFile, options: Options) -> Result<Self, Error> {
        let mut hasher = Sha256::new();
        let from = Hashed { from: At { file: &file, at: 0 }, hasher: &mut hasher };
        let mut reader =
            Reader::new(BufReader::with_capacity(1 << 20, from)).map_err(Error::trace(path))?;
        let mut roles =
            Roles { all_overlap: reader.head.unseen.contains(&Unseen::Calls), ..Roles::default() };
        let mut pass = Pass::new(path);
        let shared_connections = {
            let mut graph = Graph::new(&roles);
            pass.read(&mut reader, &mut graph, &roles)?;
            pass.facts(&graph);
            graph.shared_connections()
        };
        roles.shared_connections = shared_connections;
        let (head, end) = (reader.head.clone(), reader.end.take());
        drop(reader);
        let too_lossy = end.as_ref().filter(|end| end.lost_too_many(pass.events));
        if let Some(&End { lost, .. }) = too_lossy.filter(|_| !options.allow_loss) {
            return Err(Error::TraceLoss { path: shown(path), lost, events: pass.events });
        }
        roles.origin_ns = pass.first_ns.unwrap_or(0);
        // A log without times has no clock either: each I/O follows the one before it.
        let has_times = pass.first_ns.is_some_and(|first_ns| pass.last_ns > first_ns);
        roles.all_clocked = has_times && head.unseen.contains(&Unseen::Latencies);
        roles.clocked = match options.arrivals {
            Arrivals::ByTheClock if pass.requests > 0 => ClockedArrivals::Requests,
            Arrivals::ByTheClock => ClockedArrivals::AfterLongGaps,
            Arrivals::AfterAnswers => ClockedArrivals::Nothing,
        };
        let first: u64 =
            hasher.finalize().iter().take(8).fold(0, |all, byte| all << 8 | u64::from(*byte));
        let survey = pass.conclude(roles, format!("{first:016x}"))?;
        Ok(Self { path: path.to_owned(), file, head, end, survey, options, origin: None })
    }

    /// The trace again, from its beginning.
    pub(super) fn reader(&self) -> Result<Reader<impl Read>, Error> {
        let from = BufReader::with_capacity(1 << 20, At { file: &self.file, at: 0 });
        Reader::new(from).map_err(Error::trace(&self.path))
    }

    /// The events of a part.
    pub(super) fn events_of(&self, part: &Part) -> Result<Events<impl Read>, Error> {
        let from = |at| BufReader::with_capacity(1 << 20, At { file: &self.file, at });
        let reader = match part.after {
            Some(place) => Reader::resume(from(place.chunk_at), place.chunk_at, &self.head),
            None => Reader::new(from(0)).map_err(Error::trace(&self.path))?,
        };
        Ok(Events::of(part, reader))
    }

    /// From the start of the first event to the end of the last, in nanoseconds.
    pub const fn length_ns(&self) -> u64 {
        self.survey.length_ns
    }

    /// Of its contents, in hexadecimal.
    pub fn hash(&self) -> &str {
        &self.survey.hash
    }

    /// Refuses a file that has changed since this hash was computed.
    pub fn refuse_other(&self, hash: &str) -> Result<(), Error> {
        if self.survey.hash == hash {
            return Ok(());
        }
        let what = "it is not the recording that the run was planned with".to_owned();
        Err(Error::TraceUnfit { path: shown(&self.path), what })
    }

    /// What the trace was made of.
    pub const fn head(&self) -> &Head {
        &self.head
    }
}

/// Reads a file with its own position, so that several readers can share the descriptor.
struct At<'a> {
    file: &'a OsFile,
    at: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.file.read_at(buffer, self.at)?;
        self.at += bytes as u64;
        Ok(bytes)
    }
}

struct Hashed<'a> {
    from: At<'a>,
    hasher: &'a mut Sha256,
}

impl Read for Hashed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.from.read(buffer)?;
        self.hasher.update(&buffer[..bytes]);
        Ok(bytes)
    }
}

/// The pass itself.
struct Pass<'a> {
    path: &'a Path,
    threads: Vec<ThreadFacts>,
    files: Vec<FileFacts>,
    operations: [u64; Op::ALL.len()],
    sync_ns: u64,
    events: u64,
    cutter: Cutter,
    /// Of all files.
    unsynced_bytes: u64,
    requests: u64,
    open_requests: OpenRequests,
    /// Threads waited for this long until a client had thought.
    thought_ns: u64,
    first_ns: Option<u64>,
    last_ns: u64,
    run_delays: LatencyHistogram,
    run_delay_sum_ns: u64,
    notes: Notes,
}

impl<'a> Pass<'a> {
    fn new(path: &'a Path) -> Self {
        Self {
            path,
            threads: Vec::new(),
            files: Vec::new(),
            operations: [0; Op::ALL.len()],
            sync_ns: 0,
            events: 0,
            cutter: Cutter::new(),
            unsynced_bytes: 0,
            requests: 0,
            open_requests: OpenRequests::default(),
            thought_ns: 0,
            first_ns: None,
            last_ns: 0,
            run_delays: LatencyHistogram::new(),
            run_delay_sum_ns: 0,
            notes: Notes::default(),
        }
    }

    fn refuse(&self, what: impl Into<String>) -> Error {
        Error::TraceUnfit { path: shown(self.path), what: what.into() }
    }

    fn read(
        &mut self,
        reader: &mut Reader<impl Read>,
        graph: &mut Graph<'_>,
        roles: &Roles,
    ) -> Result<(), Error> {
        while let Some(chunk) = reader.chunk().map_err(Error::trace(self.path))? {
            let new = reader.files.get(self.files.len()..).unwrap_or_default();
            self.files.extend(new.iter().cloned().map(FileFacts::new));
            if self.files.len() > MOST_FILES {
                return Err(
                    self.refuse(format!("it has more than {} files", grouped(MOST_FILES as u64)))
                );
            }
            let chunk_at = reader.chunk_at();
            for (in_chunk, event) in chunk.into_iter().enumerate() {
                self.event(&event, roles)?;
                let place = EventPlace { chunk_at, in_chunk, number: self.events - 1 };
                self.cutter.note(&event, place, self.unsynced_bytes);
                graph.push(event);
                while let Some(placed) = graph.pop() {
                    self.node(&placed);
                }
            }
        }
        // An importer knows the state of a file only when it has seen all of its events.
        for (facts, state) in self.files.iter_mut().zip(&reader.files) {
            facts.state.clone_from(state);
        }
        graph.finish();
        while let Some(placed) = graph.pop() {
            self.node(&placed);
        }
        Ok(())
    }

    fn event(&mut self, event: &Event, roles: &Roles) -> Result<(), Error> {
        self.events += 1;
        let start_ns = event.start_ns();
        self.last_ns = self.last_ns.max(event.end_ns);
        if event.op != Op::Wake {
            self.first_ns = Some(self.first_ns.map_or(start_ns, |first| first.min(start_ns)));
        }
        let other = if matches!(event.op, Op::Wake | Op::Spawn) { event.detail } else { 0 };
        let highest = u64::from(event.thread).max(other);
        if highest >= u64::from(MOST_THREADS) {
            return Err(self.refuse(format!(
                "it has more than {MOST_THREADS} threads, the most that iotax can replay; record \
                 fewer processes"
            )));
        }
        let threads = usize::try_from(highest + 1).unwrap_or(usize::MAX);
        if self.threads.len() < threads {
            self.threads.resize_with(threads, ThreadFacts::default);
        }
        self.notes.directory_reads += u64::from(event.op == Op::ReadDir);
        self.requests += u64::from(self.open_requests.note(event).is_some());
        self.delay(event.thread, event.run_delay_ns);
        if event.op == Op::Wake {
            self.delay(super::graph::narrow(event.detail), event.result.cast_unsigned());
        }
        if super::graph::is_replayed(event) {
            let thread = &mut self.threads[event.thread as usize];
            let run_delay_ns = std::mem::take(&mut thread.run_delay_ns);
            self.run_delays.record(run_delay_ns);
            self.run_delay_sum_ns = self.run_delay_sum_ns.saturating_add(run_delay_ns);
            thread.latency_ns = thread.latency_ns.saturating_add(event.latency_ns);
            if event.op.is_sync() {
                self.sync_ns = self.sync_ns.saturating_add(event.latency_ns);
                let synced = &mut thread.synced;
                let is_known = event.file == NO_FILE || synced.contains(&event.file);
                if !is_known && synced.len() < MOST_SYNCED {
                    synced.push(event.file);
                }
            }
            self.notes.copies += u64::from(event.op == Op::CopyRange);
            let most = (MOST_RANGES / self.files.len().max(1)).max(LEAST_RANGES);
            if event.file != NO_FILE {
                let number = self.events - 1;
                let file = self.file(event.file)?;
                let before = file.unsynced_bytes;
                file.note(event, number, most);
                let after = file.unsynced_bytes;
                self.unsynced_bytes = (self.unsynced_bytes - before).saturating_add(after);
            }
            if event.op == Op::SyncAll {
                self.files.iter_mut().for_each(|file| file.unsynced_bytes = 0);
                self.unsynced_bytes = 0;
            }
        }
        if roles.is_asynchronous(event) {
            let thread = &mut self.threads[event.thread as usize];
            thread.overlapping += u64::from(event.overlaps(thread.last_end_ns));
            thread.last_end_ns = thread.last_end_ns.max(event.end_ns);
        }
        Ok(())
    }

    fn delay(&mut self, thread: Thread, run_delay_ns: u64) {
        let delay_ns = &mut self.threads[thread as usize].run_delay_ns;
        *delay_ns = delay_ns.saturating_add(run_delay_ns);
    }

    fn file(&mut self, file: File) -> Result<&mut FileFacts, Error> {
        let known = self.files.len();
        if file as usize >= known {
            return Err(self.refuse(format!(
                "it is damaged: an event refers to file {file}, but the recording describes only \
                 {known} files; record it again"
            )));
        }
        Ok(&mut self.files[file as usize])
    }

    fn node(&mut self, placed: &Placed) {
        let thread = &mut self.threads[placed.track.thread as usize];
        if let (0, Begin::After { gap_ns }) = (placed.track.lane, placed.node.begin) {
            thread.gap_ns = thread.gap_ns.saturating_add(gap_ns);
        }
        let io = match &placed.node.step {
            Step::Io(io) => io,
            Step::Send => {
                thread.sends += u64::from(placed.track.lane == 0);
                return;
            }
            Step::Request(_) => {
                thread.receives += 1;
                return;
            }
            Step::Answer(_) => {
                thread.answers += 1;
                return;
            }
            Step::Receive { .. } | Step::Commit(_) => return,
        };
        self.operations[io.op as usize] += 1;
        thread.ios += 1;
        let longest = if io.op == Op::Write {
            &mut thread.longest_write_bytes
        } else {
            &mut thread.longest_read_bytes
        };
        if io.op.moves_data() {
            // One of no bytes needs a buffer, too.
            *longest = (*longest).max(io.length).max(1);
        }
        if let Some(replaced) =
            (io.op == Op::Rename && io.result >= 0).then(|| replaced(io)).flatten()
            && let Some(file) = self.files.get_mut(replaced as usize)
        {
            file.is_removed = true;
        }
        if !names(io.op)
            && let Some(file) = self.files.get_mut(io.file as usize)
        {
            file.use_descriptor(io);
        }
    }

    /// Takes what the graph has counted.
    fn facts(&mut self, graph: &Graph<'_>) {
        for (number, thread) in (0..).zip(&mut self.threads) {
            thread.paused_ns = graph.paused_ns(number);
            thread.lanes = if thread.overlapping > 0 { graph.lanes(number) } else { 0 };
            self.notes.overlapping_ios += thread.overlapping;
        }
        self.notes.lanes_exceeded = graph.facts.lanes_exceeded;
        self.notes.drains = graph.facts.drains;
        self.notes.late_events = graph.facts.late_events;
        self.thought_ns = graph.facts.thought_ns;
        for (file, turns) in graph.turns() {
            if let Some(facts) = self.files.get_mut(*file as usize) {
                facts.syncs.turns = *turns;
            }
        }
    }

    fn conclude(mut self, mut roles: Roles, hash: String) -> Result<Survey, Error> {
        let ios: u64 = self.threads.iter().map(|thread| thread.ios).sum();
        if ios == 0 {
            return Err(self.refuse(
                "it contains no I/O that can be replayed; check with `iotax capture show` what was \
                 recorded",
            ));
        }
        let length_ns = self.last_ns.saturating_sub(roles.origin_ns);
        let busiest = self.threads.iter().map(|thread| thread.ios).max().unwrap_or(0);
        let most_sends = self.threads.iter().map(|thread| thread.sends).max().unwrap_or(0);
        let idle_ns = |thread: &ThreadFacts| {
            // One that hardly ever wakes others does not pause until there is work for them.
            let is_alone = !is_share_above(thread.sends, most_sends, TIMER_WAKES_PERCENT);
            thread.gap_ns.saturating_add(if is_alone { thread.paused_ns } else { 0 })
        };
        // A thread that waits for clients does not live by timers, however rarely they ask.
        let role = |thread: &ThreadFacts| ThreadRole {
            commits: false,
            is_clocked: thread.receives == 0
                && is_share_above(idle_ns(thread), length_ns, TIMER_GAPS_PERCENT)
                && !is_share_above(thread.ios, busiest, TIMER_IOS_PERCENT),
            has_work: thread.ios + thread.sends + thread.receives + thread.answers > 0,
            only_wakes: thread.ios + thread.receives + thread.answers == 0,
            lanes: thread.lanes.min(MOST_LANES),
        };
        roles.threads = self.threads.iter().map(role).collect();
        let role = |file: &FileFacts| FileRole {
            is_created: file.is_created,
            shares_syncs: file.syncs.are_shared(),
            // The replay keeps the file open from the beginning to the end.
            commits: file.syncs.are_commits() && !file.is_created && !file.is_removed,
        };
        roles.files = self.files.iter().map(role).collect();
        for (role, thread) in roles.threads.iter_mut().zip(&self.threads) {
            // A thread that never syncs a file waits for what another one does, not for a sync.
            role.commits = thread.synced.iter().any(|file| roles.files[*file as usize].commits);
        }
        let busy_ns = |thread: &ThreadFacts| thread.gap_ns.saturating_add(thread.latency_ns);
        let busy_ns = self.threads.iter().map(busy_ns).fold(self.thought_ns, u64::saturating_add);
        let cycle_ns = busy_ns / ios;
        let is_partly = |file: &&FileFacts| matches!(file.cached(), Cached::SomeParts);
        self.notes.files_partly_cached = self.files.iter().filter(is_partly).count() as u64;
        let io_ns = self.threads.iter().map(|thread| thread.latency_ns);
        let mean_delay_ns = self.run_delay_sum_ns / self.run_delays.count().max(1);
        Ok(Survey {
            roles,
            io_ns: io_ns.fold(0, u64::saturating_add),
            threads: self.threads,
            files: self.files,
            hash,
            length_ns,
            operations: self.operations,
            cycle_ns,
            run_delay_ns: [mean_delay_ns, self.run_delays.quantile_ns(0.99)],
            sync_ns: self.sync_ns,
            requests: self.requests,
            connections: self.open_requests.connections(),
            cuts: self.cutter.finish(),
            notes: self.notes,
        })
    }
}

impl FileFacts {
    /// What was in the page cache when the trace began.
    pub(super) fn cached(&self) -> Cached<'_> {
        FirstReads::cached(self.first_reads.as_ref(), &self.state)
    }
}

const fn is_share_above(part: u64, whole: u64, percent: u64) -> bool {
    part as u128 * 100 > whole as u128 * percent as u128
}

mod cached;
#[cfg(test)]
mod tests;
