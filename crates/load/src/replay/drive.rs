//! One trial: a thread for each track of the trace, a common start, and one record.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use iotax_record::LoadRecord;
use iotax_trace::{File, Op as TraceOp};

use super::commit::{COMMIT_BYTES, Turn};
use super::feed::{self, Feed, Queues, Room, Taker};
use super::files::Files;
use super::graph::{Begin, Io, Node, Step, Track};
use super::outcome::{Frame, Watched};
use super::parts::Part;
use super::signal::{Halt, Signals, Waited, cpu_now_ns, now_ns};
use super::survey::{Recording, Survey};
use super::tally::{Over, Tally};
use crate::counters::Reading;
use crate::driver::LoadProgress;
use crate::engine::gate::{Gate, Ticket};
use crate::engine::supplies::Buffers;
use crate::engine::{Io as EngineIo, Op as EngineOp};
use crate::error::Error;
use crate::native::panic_message;
use crate::pause::Pulse;
use crate::verify::WriteVerifier;

/// Nodes to read ahead, and nodes of timer-driven threads to read ahead. With the chunk that each
/// reader decodes, and the events that it sorts, that makes at most 64 MiB.
const READ_AHEAD_NODES: usize = 1 << 16;
const READ_AHEAD_CLOCKED_NODES: usize = 1 << 14;
/// A vector that grows has up to twice the room that it needs.
const _: () =
    assert!(2 * size_of::<Node>() * (READ_AHEAD_NODES + READ_AHEAD_CLOCKED_NODES) <= 14 << 20);
/// Between opening the gate and the first operation: long enough for every thread to be woken.
const HEAD_START_NS: u64 = 1_000_000;
/// How often the coordinator checks whether all tracks are done.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// All tracks; those of one thread are consecutive, starting with the thread itself.
pub(super) struct Tracks {
    first_of: Vec<usize>,
    all: Vec<TrackPlan>,
}

/// One track.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrackPlan {
    thread: usize,
    pub lane: u32,
    pub is_clocked: bool,
}

impl Tracks {
    /// Tracks that have work.
    pub(super) fn of(survey: &Survey) -> Self {
        let mut tracks = Self { first_of: Vec::new(), all: Vec::new() };
        for (thread, role) in survey.roles.threads.iter().enumerate() {
            tracks.first_of.push(tracks.all.len());
            if role.has_work {
                let of = |lane| TrackPlan { thread, lane, is_clocked: role.is_clocked };
                tracks.all.extend((0..=role.lanes).map(of));
            }
        }
        tracks
    }

    /// The numbers of those that one reader feeds.
    fn index(&self, are_clocked: bool) -> Vec<Option<usize>> {
        let of = |(number, track): (usize, &TrackPlan)| {
            (track.is_clocked == are_clocked).then_some(number)
        };
        self.all.iter().enumerate().map(of).collect()
    }

    fn number(&self, track: Track) -> Option<usize> {
        let first = self.first_of.get(track.thread as usize)?;
        Some(first + track.lane as usize)
    }
}

/// What all threads of a replay share.
pub(super) struct Trial<'a> {
    pub recording: &'a Recording,
    pub part: &'a Part,
    pub tracks: &'a Tracks,
    pub copies: Vec<Copy<'a>>,
    pub gate: Gate,
    /// Longer I/Os are issued in pieces.
    pub piece_bytes: u64,
    /// Name of the job.
    pub job: String,
    pub seconds: usize,
    pub limit_ns: Option<u64>,
    pub live: Option<&'a LoadProgress>,
    /// Where the window is shown.
    pub window: Option<&'a LoadProgress>,
    /// Threads that live by timers execute what is left of the part when all others are done,
    /// without being counted, because the next part needs the files as they leave them.
    pub is_continued: bool,
}

/// What the threads of one copy of the recorded application share.
pub(super) struct Copy<'a> {
    files: &'a Files,
    queues: Queues,
    /// For threads of the application, and for those that live by timers.
    rooms: [Room; 2],
    signals: Vec<Signals>,
    connections: Vec<Connection>,
    pub halt: Halt<'a>,
    /// Unfinished tracks, except timer-driven ones.
    running: AtomicUsize,
    seed: u64,
    /// How much later than the common start it starts.
    pub shift_ns: u64,
}

/// A client that was not recorded.
#[derive(Default)]
struct Connection {
    /// When its request arrived that is not answered yet; 0 if there is none.
    asked_ns: AtomicU64,
    /// When its last answer was sent; 0 if there was none.
    answered_ns: AtomicU64,
}

impl<'a> Copy<'a> {
    pub(super) fn new(
        tracks: &Tracks,
        files: &'a Files,
        survey: &Survey,
        ahead: ReadAhead,
        halt: Halt<'a>,
        [seed, shift_ns]: [u64; 2],
    ) -> Self {
        let running = tracks.all.iter().filter(|track| !track.is_clocked).count();
        Self {
            files,
            queues: Queues::new(tracks.all.len()),
            rooms: [Room::new(ahead.nodes), Room::new(ahead.clocked_nodes)],
            signals: tracks.all.iter().map(|_| Signals::default()).collect(),
            connections: (0..survey.connections).map(|_| Connection::default()).collect(),
            halt,
            running: AtomicUsize::new(running),
            seed,
            shift_ns,
        }
    }

    fn connection(&self, number: u16) -> Option<&Connection> {
        self.connections.get(usize::from(number))
    }

    fn is_done(&self) -> bool {
        self.running.load(Ordering::Acquire) == 0 || self.halt.is_raised()
    }
}

/// What one thread counted.
pub(super) struct Counted<'a> {
    pub plan: TrackPlan,
    pub tally: Tally<'a>,
}

/// How many nodes are read ahead: fewer in tests.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadAhead {
    pub nodes: usize,
    pub clocked_nodes: usize,
}

impl Default for ReadAhead {
    fn default() -> Self {
        Self { nodes: READ_AHEAD_NODES, clocked_nodes: READ_AHEAD_CLOCKED_NODES }
    }
}

impl ReadAhead {
    /// For each of some copies.
    pub(super) fn shared_by(self, copies: u32) -> Self {
        let share = |nodes: usize| (nodes / copies.max(1) as usize).max(1);
        Self { nodes: share(self.nodes), clocked_nodes: share(self.clocked_nodes) }
    }
}

type Handle<'scope, T> = ScopedJoinHandle<'scope, Result<T, Error>>;

impl Trial<'_> {
    pub(super) fn frame(&self) -> Frame<'_> {
        let is_stopped = self.copies.iter().any(|copy| copy.halt.user.load(Ordering::Relaxed));
        Frame {
            survey: &self.recording.survey,
            part: self.part,
            job: &self.job,
            copies: self.copies.len() as u64,
            limit_ns: self.limit_ns,
            is_stopped,
        }
    }

    /// Whether all that there was to do was done.
    pub(super) fn is_whole(&self, is_continued: bool) -> bool {
        self.copies.iter().all(|copy| {
            let halt = &copy.halt;
            let is_through = copy.running.load(Ordering::Acquire) == 0;
            // At the end of a recording, its last thread ends those that live by timers.
            let was_ended = is_continued && halt.ended.load(Ordering::Relaxed);
            let was_stopped =
                halt.broken.load(Ordering::Relaxed) || halt.user.load(Ordering::Relaxed);
            is_through && !was_ended && !was_stopped
        })
    }

    pub(super) fn perform(&self) -> Result<LoadRecord, Error> {
        thread::scope(|scope| {
            let (mut readers, mut handles) = (Vec::new(), Vec::new());
            let started = self.start(scope, &mut readers, &mut handles);
            if let Err(error) = started {
                self.break_off();
                drop(self.gate.ticket());
                self.gate.open(usize::MAX, || 0);
                return Err(error);
            }
            for copy in &self.copies {
                for (room, are_clocked) in copy.rooms.iter().zip([false, true]) {
                    if self.has_tracks(are_clocked) {
                        room.wait_until_full(&copy.halt);
                    }
                }
            }
            let begin = || {
                let start_ns = now_ns() + HEAD_START_NS;
                let limit_ns = self.limit_ns.map_or(u64::MAX, |ns| start_ns.saturating_add(ns));
                for copy in &self.copies {
                    copy.halt.limit_ns.store(limit_ns, Ordering::Relaxed);
                }
                start_ns
            };
            let start_ns = self.gate.open(handles.len(), begin);
            let watched = start_ns.map(|start_ns| self.watch(start_ns));
            let (counted, error) = collect(handles, &self.job);
            for copy in &self.copies {
                // Readers of a replay that ended before the trace must not wait for room.
                copy.halt.end_reading();
            }
            let (_, reader_error) = collect(readers, &self.job);
            if let Some(error) = error.or(reader_error) {
                return Err(error);
            }
            let watched = watched.expect("no thread failed, so all started");
            Ok(self.merge(counted.into_iter().flatten().collect(), &watched))
        })
    }

    fn has_tracks(&self, are_clocked: bool) -> bool {
        self.tracks.all.iter().any(|track| track.is_clocked == are_clocked)
    }

    fn break_off(&self) {
        for copy in &self.copies {
            copy.halt.broken.store(true, Ordering::Relaxed);
        }
    }

    /// Starts the readers and threads of all copies.
    fn start<'scope, 'env>(
        &'env self,
        scope: &'scope thread::Scope<'scope, 'env>,
        readers: &mut Vec<Handle<'scope, ()>>,
        handles: &mut Vec<Handle<'scope, Option<Counted<'env>>>>,
    ) -> Result<(), Error> {
        let spawn_failed = |source| Error::Spawn { job: self.job.clone(), source };
        for copy in &self.copies {
            for are_clocked in [false, true] {
                if self.has_tracks(are_clocked) {
                    let builder = thread::Builder::new().name("replay.reader".to_owned());
                    let reader = builder.spawn_scoped(scope, move || self.read(copy, are_clocked));
                    readers.push(reader.map_err(spawn_failed)?);
                }
            }
            for (number, track) in self.tracks.all.iter().enumerate() {
                let ticket = self.gate.ticket();
                let name = format!("replay.{}.{}", track.thread, track.lane);
                let builder = thread::Builder::new().name(name);
                let handle = builder.spawn_scoped(scope, move || self.track(copy, number, ticket));
                handles.push(handle.map_err(spawn_failed)?);
            }
        }
        Ok(())
    }

    /// Reads the trace for some of the tracks.
    fn read(&self, copy: &Copy<'_>, are_clocked: bool) -> Result<(), Error> {
        let _breaks = BreaksOnPanic(self);
        let feed = Feed {
            queues: &copy.queues,
            room: &copy.rooms[usize::from(are_clocked)],
            halt: &copy.halt,
            index: self.tracks.index(are_clocked),
            first_of: &self.tracks.first_of,
        };
        let read = self.recording.events_of(self.part).and_then(|mut events| {
            let read = feed::read(&mut events, &self.part.roles, &feed);
            read.map_err(Error::trace(&self.recording.path))
        });
        if read.is_err() {
            self.break_off();
        }
        read
    }

    fn track<'a>(
        &'a self,
        copy: &'a Copy<'a>,
        number: usize,
        ticket: Ticket<'_>,
    ) -> Result<Option<Counted<'a>>, Error> {
        let plan = self.tracks.all[number];
        let _through = Through { trial: self, copy, is_clocked: plan.is_clocked };
        let survey = &self.recording.survey;
        let facts = &survey.threads[plan.thread];
        let [reads, writes] = [facts.longest_read_bytes, facts.longest_write_bytes];
        let commits = survey.roles.threads[plan.thread].commits && plan.lane == 0;
        let writes = if commits { writes.max(COMMIT_BYTES) } else { writes };
        let bytes = reads.max(writes).clamp(1, self.piece_bytes);
        let bytes = u32::try_from(bytes).expect("at most a piece");
        let seed = copy.seed ^ (2 * number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut player = Player {
            trial: self,
            copy,
            number,
            buffers: Buffers::new(1, bytes, reads > 0, writes > 0, seed)?,
            verifier: WriteVerifier::new(seed),
            tally: Tally::new(&self.recording.survey.operations, self.seconds, self.live)
                .with_answers(plan.lane == 0 && facts.answers > 0),
            start_ns: 0,
            begin_ns: 0,
            before_ns: 0,
            at_ns: 0,
            burnt_ns: 0,
            spent_ns: None,
            turn: Turn::None,
        };
        let mut taker = copy.queues.take(number, &copy.rooms[usize::from(plan.is_clocked)]);
        let Some(start_ns) = ticket.arrive() else { return Ok(None) };
        player.play(start_ns, &mut taker);
        Ok(Some(Counted { plan, tally: player.tally }))
    }

    /// Waits for the end, and counts what the machine does until then.
    fn watch(&self, start_ns: u64) -> Watched {
        let mut pulse = Pulse::start();
        let before = Reading::now();
        self.window.inspect(|live| live.window_opens());
        while !self.copies.iter().all(Copy::is_done) {
            pulse.sleep(POLL_INTERVAL);
            for copy in &self.copies {
                // A thread that waits for one whose time is over would wait forever.
                if copy.halt.is_over(now_ns()) {
                    copy.halt.ended.store(true, Ordering::Relaxed);
                }
            }
        }
        let system = Reading::now().since(&before);
        self.window.inspect(|live| live.window_closes());
        Watched { start_ns, ended_ns: now_ns(), system, paused: pulse.since(start_ns) }
    }
}

/// All results, and the first error.
fn collect<T>(handles: Vec<Handle<'_, T>>, job: &str) -> (Vec<T>, Option<Error>) {
    let mut first_error = None;
    let mut results = Vec::new();
    for handle in handles {
        match handle.join() {
            Ok(Ok(result)) => results.push(result),
            Ok(Err(error)) => first_error = first_error.or(Some(error)),
            Err(panic) => {
                let message = panic_message(&*panic);
                first_error =
                    first_error.or(Some(Error::Panicked { job: job.to_owned(), message }));
            }
        }
    }
    (results, first_error)
}

/// All threads end if this one panics.
struct BreaksOnPanic<'a>(&'a Trial<'a>);

impl Drop for BreaksOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.break_off();
        }
    }
}

/// Counts a track as through when dropped. The last one ends those that live by timers.
struct Through<'a> {
    trial: &'a Trial<'a>,
    copy: &'a Copy<'a>,
    is_clocked: bool,
}

impl Drop for Through<'_> {
    fn drop(&mut self) {
        drop(BreaksOnPanic(self.trial));
        let Copy { halt, running, .. } = self.copy;
        if !self.is_clocked && running.fetch_sub(1, Ordering::AcqRel) == 1 {
            let end = if self.trial.is_continued { &halt.hurried } else { &halt.ended };
            end.store(true, Ordering::Relaxed);
        }
    }
}

// One track.

/// Executes the nodes of one track.
struct Player<'a> {
    trial: &'a Trial<'a>,
    copy: &'a Copy<'a>,
    number: usize,
    buffers: Buffers,
    verifier: WriteVerifier,
    tally: Tally<'a>,
    /// The common start.
    start_ns: u64,
    /// The start of this copy.
    begin_ns: u64,
    /// Time from which the next node's think time counts.
    before_ns: u64,
    /// When the thread last knew the time, and the CPU time that it has used since.
    at_ns: u64,
    burnt_ns: u64,
    /// The CPU time that it should have used since its start. None after an I/O, which takes as
    /// much as it takes.
    spent_ns: Option<u64>,
    /// Of a write that is synced next.
    turn: Turn,
}

impl Player<'_> {
    fn play(&mut self, start_ns: u64, taker: &mut Taker<'_>) {
        let halt = &self.copy.halt;
        self.start_ns = start_ns;
        self.begin_ns = start_ns.saturating_add(self.copy.shift_ns);
        self.before_ns = self.begin_ns;
        halt.wait_until(self.begin_ns);
        self.at_ns = now_ns();
        self.tally.begin();
        while let Some(node) = taker.next(halt) {
            if !self.step(&node) {
                break;
            }
        }
        self.tally.was_cut = now_ns() >= halt.limit_ns.load(Ordering::Relaxed);
        self.tally.end();
    }

    /// Returns false when the replay has ended.
    #[inline]
    fn step(&mut self, node: &Node) -> bool {
        let Copy { halt, signals, .. } = self.copy;
        let due_ns = match node.begin {
            Begin::After { gap_ns } => self.before_ns.saturating_add(gap_ns),
            Begin::At { time_ns } => self.before_ns.max(self.begin_ns.saturating_add(time_ns)),
            Begin::Thought { connection, gap_ns, think_ns } => {
                let client = self.copy.connection(connection);
                let answered_ns = client.map_or(0, |it| it.answered_ns.load(Ordering::Relaxed));
                let ready_ns = self.before_ns.saturating_add(gap_ns.into());
                ready_ns.max(answered_ns.saturating_add(think_ns))
            }
        };
        if let Step::Io(io) = &node.step
            && io.op == TraceOp::Write
        {
            self.stamp(io.offset, io.length);
        }
        if node.burn_ns > 0 && !self.burn(node.burn_ns.into()) {
            return false;
        }
        match &node.step {
            Step::Io(io) => self.issue(io, due_ns),
            Step::Request(connection) => self.request(*connection, due_ns),
            Step::Answer(connection) => self.answer(*connection, due_ns),
            Step::Send => {
                let is_due = halt.wait_until(due_ns);
                if is_due {
                    let now_ns = now_ns();
                    self.thought(due_ns, now_ns);
                    signals[self.number].send(now_ns);
                    // The recorded think time that follows includes the time to send.
                    self.before_ns = due_ns;
                }
                is_due
            }
            Step::Receive { from, count, at_most_ns } => {
                self.receive(*from, *count, due_ns, *at_most_ns)
            }
            Step::Commit(file) => self.commit(*file, due_ns),
        }
    }

    /// Uses as much CPU time as the application did. What the replay itself needed for waits and
    /// signals is part of it: the application did the same.
    fn burn(&mut self, cpu_ns: u64) -> bool {
        let until_ns = self.spent_ns.unwrap_or_else(cpu_now_ns) + cpu_ns;
        self.spent_ns = Some(until_ns);
        self.burnt_ns += cpu_ns;
        self.copy.halt.burn_until(until_ns)
    }

    fn receive(&mut self, from: Track, count: u64, due_ns: u64, at_most_ns: Option<u64>) -> bool {
        let Copy { halt, signals, .. } = self.copy;
        let Some(from) = self.trial.tracks.number(from) else { return true };
        let until_ns = at_most_ns.map_or(u64::MAX, |ns| due_ns.saturating_add(ns));
        let is_bounded = at_most_ns.is_some();
        // For an asynchronous I/O that the thread has issued.
        let threads = &self.trial.tracks.all;
        let is_own = threads[from].thread == threads[self.number].thread;
        let tally = &mut self.tally;
        *(if is_bounded { &mut tally.bounded_waits } else { &mut tally.waits }) += 1;
        // The recorded think time after a wait begins when the other thread wakes this one, so it
        // includes the time that waking takes.
        self.before_ns = match signals[from].wait(count, until_ns, halt) {
            Waited::Not => due_ns,
            Waited::Until { time_ns, since_ns, now_ns } => {
                let from_ns = due_ns.clamp(since_ns, now_ns);
                self.thought(from_ns, from_ns);
                let times = &mut self.tally.times;
                let sum = if is_own {
                    &mut times.io_ns
                } else if is_bounded {
                    &mut times.timers_ns
                } else {
                    &mut times.threads_ns
                };
                *sum += now_ns - from_ns;
                self.at_ns = now_ns;
                due_ns.max(time_ns)
            }
            Waited::Over => return false,
        };
        true
    }

    /// Counts the time until now, as CPU time and think time up to when this was due.
    #[inline]
    fn thought(&mut self, due_ns: u64, now_ns: u64) {
        let since_ns = due_ns.min(now_ns).saturating_sub(self.at_ns);
        let cpu_ns = std::mem::take(&mut self.burnt_ns);
        self.tally.times.cpu_ns += cpu_ns;
        self.tally.times.think_ns += since_ns.saturating_sub(cpu_ns);
        self.at_ns = now_ns;
    }

    /// After an I/O. Think time that was left when it started is added to the next.
    #[inline]
    fn went_on(&mut self, due_ns: u64, ready_ns: u64, done_ns: u64) {
        self.before_ns = done_ns + due_ns.saturating_sub(ready_ns);
        self.at_ns = done_ns;
        self.spent_ns = None;
    }

    /// Waits for any sync of the file.
    fn commit(&mut self, file: File, due_ns: u64) -> bool {
        let Copy { halt, files, .. } = self.copy;
        // Perhaps for nothing, but in the think time.
        self.stamp(0, COMMIT_BYTES);
        if !halt.wait_until(due_ns) {
            return false;
        }
        let ready_ns = now_ns();
        self.thought(due_ns, ready_ns);
        let Some(done) = files.commit(file, &self.buffers, halt) else { return false };
        let done_ns = now_ns();
        self.tally.times.io_ns += done_ns - ready_ns;
        self.went_on(due_ns, ready_ns, done_ns);
        if halt.is_over(done_ns) {
            return false;
        }
        if !done.is_shared && !halt.hurries() {
            let after_start = |time_ns: u64| time_ns.saturating_sub(self.start_ns);
            let [started_ns, done_ns] = [ready_ns, done_ns].map(after_start);
            let over = Over { late_ns: 0, started_ns, done_ns, is_shared: false };
            self.tally.count_added(&over, done.outcome.err(), || files.shown(file));
        }
        true
    }

    /// False if the replay is over before that time.
    fn request(&mut self, connection: u16, due_ns: u64) -> bool {
        let is_due = self.copy.halt.wait_until(due_ns);
        if is_due && let Some(client) = self.copy.connection(connection) {
            // Only the first data of a request count.
            let order = (Ordering::AcqRel, Ordering::Relaxed);
            let _ = client.asked_ns.compare_exchange(0, due_ns, order.0, order.1);
            self.before_ns = due_ns;
        }
        is_due
    }

    fn answer(&mut self, connection: u16, due_ns: u64) -> bool {
        let Copy { halt, signals, .. } = self.copy;
        if !halt.wait_until(due_ns) {
            return false;
        }
        let now_ns = now_ns();
        // A request counts from when it is due, so its answer must not count as earlier.
        let sent_ns = now_ns.max(due_ns);
        let client = self.copy.connection(connection);
        // The thread that reads the next request may go on with the signal.
        let asked_ns = client.map_or(0, |client| {
            client.answered_ns.store(sent_ns, Ordering::Relaxed);
            client.asked_ns.swap(0, Ordering::AcqRel)
        });
        signals[self.number].send(now_ns);
        if asked_ns > 0 && !halt.hurries() {
            let done_ns = sent_ns.saturating_sub(self.start_ns);
            self.tally.answer(sent_ns.saturating_sub(asked_ns), done_ns);
        }
        // The recorded time until the next node includes the time to send.
        self.before_ns = due_ns;
        true
    }

    fn issue(&mut self, io: &Io, due_ns: u64) -> bool {
        let Copy { halt, files, signals, .. } = self.copy;
        if !halt.wait_until(due_ns) {
            return false;
        }
        let ready_ns = now_ns();
        self.thought(due_ns, ready_ns);
        let mut started_ns = ready_ns;
        let mut turn = Turn::None;
        if io.is_paired && io.op == TraceOp::Write {
            let Some(of_write) = files.await_turn(io, halt) else { return false };
            self.turn = of_write;
            started_ns = now_ns();
        } else if io.is_paired {
            turn = std::mem::take(&mut self.turn);
        }
        let Some(done) = files.act(io, turn, &mut self.buffers, halt) else { return false };
        let done_ns = now_ns();
        files.used(io);
        let settled = files.settle(io, done.leftover);
        let outcome = done.outcome.and_then(|moved| settled.map(|()| moved));
        self.tally.times.io_ns += done_ns - ready_ns;
        self.went_on(due_ns, ready_ns, done_ns);
        if io.sends {
            signals[self.number].send(done_ns);
        }
        if halt.is_over(done_ns) {
            return false;
        }
        // Nothing is measured any more; only the state of the files matters.
        if halt.hurries() {
            return true;
        }
        self.tally.shared_syncs += u64::from(done.is_shared);
        let after_start = |time_ns: u64| time_ns.saturating_sub(self.start_ns);
        let [late_ns, started_ns, done_ns] =
            [ready_ns - due_ns.min(ready_ns), after_start(started_ns), after_start(done_ns)];
        let over = Over { late_ns, started_ns, done_ns, is_shared: done.is_shared };
        let goes_on = self.tally.count(io, &over, outcome, || files.shown(io.file));
        if !goes_on {
            self.trial.break_off();
        }
        goes_on
    }

    /// Makes the data of a write unlike any written before, so that no layer can deduplicate it.
    fn stamp(&mut self, offset: u64, length: u64) {
        let most = self.buffers.slot_bytes();
        let bytes = usize::try_from(length).map_or(most, |bytes| bytes.min(most));
        let bytes = u32::try_from(bytes).expect("at most a piece");
        let write = EngineIo { offset, bytes, file: 0, op: EngineOp::Write, check: false };
        self.verifier.prepare(write, &mut self.buffers.write_mut(0)[..bytes as usize]);
    }
}
