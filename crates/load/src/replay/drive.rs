//! One trial: a thread for each track of the trace, a common start, and one record.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use iotax_record::{JobRecord, LoadRecord, PauseRecord, ReplayRecord, SystemCounters};
use iotax_trace::Op as TraceOp;
use rustix::thread::set_current_timer_slack;

use super::feed::{self, Feed, Queues, Room, Taker};
use super::files::{Files, PIECE_BYTES};
use super::graph::{Begin, Io, Node, Roles, Step, Track};
use super::place::{Layout, Place};
use super::signal::{Halt, Signals, Waited, now_ns};
use super::survey::{Recording, Survey};
use super::tally::{Over, Tally};
use crate::counters::Reading;
use crate::driver::{LoadProgress, Request};
use crate::engine::gate::{Gate, Ticket};
use crate::engine::supplies::Buffers;
use crate::engine::{Io as EngineIo, Op as EngineOp};
use crate::error::Error;
use crate::native::{add_to_job, panic_message};
use crate::pause::Pulse;
use crate::verify::WriteVerifier;

/// Nodes to read ahead, and nodes of timer-driven threads to read ahead. With the chunk that each
/// reader decodes, and the events that it sorts, that makes at most 64 MiB.
const READ_AHEAD_NODES: usize = 1 << 17;
const READ_AHEAD_CLOCKED_NODES: usize = 1 << 15;
/// A vector that grows has up to twice the room that it needs.
const _: () =
    assert!(2 * size_of::<Node>() * (READ_AHEAD_NODES + READ_AHEAD_CLOCKED_NODES) <= 28 << 20);
/// Between opening the gate and the first operation: long enough for every thread to be woken.
const HEAD_START_NS: u64 = 1_000_000;
/// How often the coordinator checks whether all tracks are done.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// A trial is too late if the mean lateness is above this share of the recorded think time and
/// latency of an I/O, in percent: throughput is off by as much.
const MEAN_LATE_PERCENT: f64 = 5.0;
/// Or if the p99 lateness is above this share and above the limit below.
const P99_LATE_PERCENT: f64 = 10.0;
const P99_LATE_NS: u64 = 1_000_000;

/// All tracks; those of one thread are consecutive, starting with the thread itself.
struct Tracks {
    first_of: Vec<usize>,
    all: Vec<TrackPlan>,
}

/// One track.
#[derive(Debug, Clone, Copy)]
struct TrackPlan {
    thread: usize,
    lane: u32,
    is_clocked: bool,
}

impl Tracks {
    /// Tracks that have work.
    fn of(survey: &Survey) -> Self {
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

/// What all threads of a trial share.
struct Trial<'a> {
    recording: &'a Recording,
    tracks: &'a Tracks,
    files: &'a Files,
    queues: &'a Queues,
    /// For threads of the application, and for those that live by timers.
    rooms: &'a [Room; 2],
    signals: &'a [Signals],
    halt: &'a Halt<'a>,
    gate: &'a Gate,
    /// Unfinished tracks, except timer-driven ones.
    running: AtomicUsize,
    seed: u64,
    live: Option<&'a LoadProgress>,
    seconds: usize,
    limit_ns: Option<u64>,
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

/// Replays a recording once. Its files must be laid out.
pub(super) fn run(
    recording: &Recording,
    request: &Request<'_>,
    ahead: ReadAhead,
) -> Result<LoadRecord, Error> {
    let place = Place::of(recording, request.target)?;
    let survey = &recording.survey;
    let mut warmed_bytes = 0;
    if let Place::Directory(directory) = &place {
        let layout = Layout::of(recording, directory);
        layout.make_ready(&|_, _| {}, request.stop)?;
        layout.use_now()?;
        warmed_bytes = layout.cool_or_warm()?;
    }
    let tracks = Tracks::of(survey);
    let files = Files::open(survey, &place)?;
    let halt = Halt::new(request.stop);
    let is_cut = request.time_ns < survey.length_ns;
    let length_ns = if is_cut { request.time_ns } else { survey.length_ns };
    let trial = Trial {
        recording,
        tracks: &tracks,
        files: &files,
        queues: &Queues::new(tracks.all.len()),
        rooms: &[Room::new(ahead.nodes), Room::new(ahead.clocked_nodes)],
        signals: &tracks.all.iter().map(|_| Signals::default()).collect::<Vec<_>>(),
        halt: &halt,
        gate: &Gate::new(),
        running: AtomicUsize::new(tracks.all.iter().filter(|track| !track.is_clocked).count()),
        seed: request.seed,
        live: request.live,
        // Reserves room for the per-second counters of a replay up to ten times slower than the
        // recording.
        seconds: usize::try_from(length_ns / 100_000_000).unwrap_or(0).min(1 << 16),
        limit_ns: is_cut.then_some(request.time_ns),
    };
    let mut record = trial.perform(request)?;
    if let Some(replay) = &mut record.replay {
        replay.warmed_bytes = warmed_bytes;
    }
    Ok(record)
}

type Handle<'scope, T> = ScopedJoinHandle<'scope, Result<T, Error>>;

impl Trial<'_> {
    fn job_name(request: &Request<'_>) -> String {
        request.workload.jobs.first().map_or_else(|| "replay".to_owned(), |job| job.name.clone())
    }

    fn perform(&self, request: &Request<'_>) -> Result<LoadRecord, Error> {
        let job = Self::job_name(request);
        thread::scope(|scope| {
            let spawn_failed = |source| Error::Spawn { job: job.clone(), source };
            let mut readers: Vec<Handle<'_, ()>> = Vec::new();
            let mut handles: Vec<Handle<'_, Option<Tally<'_>>>> = Vec::new();
            let mut start = || -> Result<(), Error> {
                for are_clocked in [false, true] {
                    if self.tracks.all.iter().any(|track| track.is_clocked == are_clocked) {
                        let builder = thread::Builder::new().name("replay.reader".to_owned());
                        let reader = builder.spawn_scoped(scope, move || self.read(are_clocked));
                        readers.push(reader.map_err(spawn_failed)?);
                    }
                }
                for (number, track) in self.tracks.all.iter().enumerate() {
                    let ticket = self.gate.ticket();
                    let name = format!("replay.{}.{}", track.thread, track.lane);
                    let builder = thread::Builder::new().name(name);
                    let handle = builder.spawn_scoped(scope, move || self.track(number, ticket));
                    handles.push(handle.map_err(spawn_failed)?);
                }
                Ok(())
            };
            let started = start();
            if let Err(error) = started {
                self.halt.broken.store(true, Ordering::Relaxed);
                drop(self.gate.ticket());
                self.gate.open(usize::MAX, || 0);
                return Err(error);
            }
            for (room, are_clocked) in self.rooms.iter().zip([false, true]) {
                if self.tracks.all.iter().any(|track| track.is_clocked == are_clocked) {
                    room.wait_until_full(self.halt);
                }
            }
            let begin = || {
                let start_ns = now_ns() + HEAD_START_NS;
                let limit_ns = self.limit_ns.map_or(u64::MAX, |ns| start_ns.saturating_add(ns));
                self.halt.limit_ns.store(limit_ns, Ordering::Relaxed);
                start_ns
            };
            let start_ns = self.gate.open(handles.len(), begin);
            let watched = start_ns.map(|start_ns| self.watch(start_ns));
            let (tallies, error) = collect(handles, &job);
            // Readers of a replay that ended before the trace must not wait for room.
            self.halt.ended.store(true, Ordering::Relaxed);
            let (_, reader_error) = collect(readers, &job);
            if let Some(error) = error.or(reader_error) {
                return Err(error);
            }
            let watched = watched.expect("no thread failed, so all started");
            let tallies = tallies.into_iter().flatten().collect();
            Ok(self.merge(&job, tallies, &watched))
        })
    }

    /// Reads the trace for some of the tracks.
    fn read(&self, are_clocked: bool) -> Result<(), Error> {
        let _breaks = BreaksOnPanic(self.halt);
        let feed = Feed {
            queues: self.queues,
            room: &self.rooms[usize::from(are_clocked)],
            halt: self.halt,
            index: self.tracks.index(are_clocked),
            first_of: &self.tracks.first_of,
        };
        let roles: &Roles = &self.recording.survey.roles;
        let read = self.recording.reader().and_then(|mut reader| {
            let read = feed::read(&mut reader, roles, &feed);
            read.map_err(Error::trace(&self.recording.path))
        });
        if read.is_err() {
            self.halt.broken.store(true, Ordering::Relaxed);
        }
        read
    }

    fn track(&self, number: usize, ticket: Ticket<'_>) -> Result<Option<Tally<'_>>, Error> {
        let plan = self.tracks.all[number];
        let _through = Through { trial: self, is_clocked: plan.is_clocked };
        let facts = &self.recording.survey.threads[plan.thread];
        let [reads, writes] = [facts.longest_read_bytes, facts.longest_write_bytes];
        let bytes = reads.max(writes).clamp(1, PIECE_BYTES);
        let bytes = u32::try_from(bytes).expect("at most a piece");
        let seed = self.seed ^ (2 * number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut player = Player {
            trial: self,
            number,
            buffers: Buffers::new(1, bytes, reads > 0, writes > 0, seed)?,
            verifier: WriteVerifier::new(seed),
            tally: Tally::new(&self.recording.survey.operations, self.seconds, self.live),
            start_ns: 0,
            before_ns: 0,
        };
        let mut taker = self.queues.take(number, &self.rooms[usize::from(plan.is_clocked)]);
        // With the default timer slack, sleeps would end late.
        let _ = set_current_timer_slack(std::num::NonZeroU64::new(1));
        let Some(start_ns) = ticket.arrive() else { return Ok(None) };
        player.play(start_ns, &mut taker);
        Ok(Some(player.tally))
    }

    /// Waits for the end, and counts what the machine does until then.
    fn watch(&self, start_ns: u64) -> Watched {
        let mut pulse = Pulse::start();
        let before = Reading::now();
        self.live.inspect(|live| live.window_opens());
        while self.running.load(Ordering::Acquire) > 0 && !self.halt.is_raised() {
            pulse.sleep(POLL_INTERVAL);
            // A thread that waits for one whose time is over would wait forever.
            if self.halt.is_over(now_ns()) {
                self.halt.ended.store(true, Ordering::Relaxed);
            }
        }
        let system = Reading::now().since(&before);
        self.live.inspect(|live| live.window_closes());
        Watched { start_ns, ended_ns: now_ns(), system, paused: pulse.since(start_ns) }
    }

    fn merge(&self, name: &str, mut tallies: Vec<Tally<'_>>, watched: &Watched) -> LoadRecord {
        let survey = &self.recording.survey;
        let tracks = || self.tracks.all.iter();
        let of_work = || tracks().zip(&tallies).filter(|(track, _)| !track.is_clocked);
        let last_ns = of_work().map(|(_, tally)| tally.last_ns).max().unwrap_or(0);
        // The last operation ends the window, unless the time was up or the user stopped it.
        let window_ns = if self.halt.user.load(Ordering::Relaxed) {
            watched.ended_ns.saturating_sub(watched.start_ns)
        } else {
            self.limit_ns.filter(|_| of_work().any(|(_, tally)| tally.was_cut)).unwrap_or(last_ns)
        };
        let window_ns = window_ns.max(last_ns).max(1);
        let threads = tracks().filter(|track| track.lane == 0).count();
        let clocked = tracks().filter(|track| track.is_clocked && track.lane == 0).count();
        let mut job = JobRecord {
            name: name.to_owned(),
            engine: "replay".to_owned(),
            threads: u32::try_from(threads).unwrap_or(u32::MAX),
            queue_depth: 1,
            active_ns: window_ns,
            ..JobRecord::default()
        };
        let mut replay = ReplayRecord {
            recorded_ns: survey.length_ns,
            recorded_cycle_ns: survey.cycle_ns,
            clocked_threads: u32::try_from(clocked).unwrap_or(u32::MAX),
            ..ReplayRecord::default()
        };
        for tally in &mut tallies {
            replay.lateness.merge(&tally.lateness);
            replay.operations += tally.operations;
            replay.waits += tally.waits;
            replay.bounded_waits += tally.bounded_waits;
            replay.shared_syncs += tally.shared_syncs;
            replay.failed_as_recorded += tally.failed_as_recorded;
            add_to_job(&mut job, tally.record(window_ns));
        }
        job.max_slip_ns = replay.lateness.max_ns();
        let all: u64 = survey.operations.iter().sum();
        replay.left_over = all.saturating_sub(replay.operations);
        replay.is_too_late = is_too_late(&replay);
        LoadRecord {
            driver: "replay".to_owned(),
            window_ns,
            jobs: vec![job],
            system: watched.system.clone(),
            paused: watched.paused,
            replay: Some(replay),
            warnings: Vec::new(),
            ..LoadRecord::default()
        }
    }
}

/// Whether the lateness says more about this machine than about the storage.
fn is_too_late(replay: &ReplayRecord) -> bool {
    let (lateness, cycle_ns) = (&replay.lateness, replay.recorded_cycle_ns as f64);
    let p99_ns = lateness.quantile_ns(0.99);
    lateness.mean_ns() * 100.0 > cycle_ns * MEAN_LATE_PERCENT
        || p99_ns > P99_LATE_NS && p99_ns as f64 * 100.0 > cycle_ns * P99_LATE_PERCENT
}

/// What was counted from the start to the end.
struct Watched {
    start_ns: u64,
    ended_ns: u64,
    system: SystemCounters,
    paused: Option<PauseRecord>,
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
struct BreaksOnPanic<'a>(&'a Halt<'a>);

impl Drop for BreaksOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}

/// Counts a track as through when dropped. The last one ends those that live by timers.
struct Through<'a> {
    trial: &'a Trial<'a>,
    is_clocked: bool,
}

impl Drop for Through<'_> {
    fn drop(&mut self) {
        let halt = self.trial.halt;
        drop(BreaksOnPanic(halt));
        if !self.is_clocked && self.trial.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            halt.ended.store(true, Ordering::Relaxed);
        }
    }
}

// One track.

/// Executes the nodes of one track.
struct Player<'a> {
    trial: &'a Trial<'a>,
    number: usize,
    buffers: Buffers,
    verifier: WriteVerifier,
    tally: Tally<'a>,
    /// The common start.
    start_ns: u64,
    /// Time from which the next node's think time counts.
    before_ns: u64,
}

impl Player<'_> {
    fn play(&mut self, start_ns: u64, taker: &mut Taker<'_>) {
        (self.start_ns, self.before_ns) = (start_ns, start_ns);
        self.trial.halt.wait_until(start_ns);
        self.tally.begin();
        while let Some(node) = taker.next(self.trial.halt) {
            if !self.step(&node) {
                break;
            }
        }
        let limit_ns = self.trial.halt.limit_ns.load(Ordering::Relaxed);
        self.tally.was_cut = now_ns() >= limit_ns;
        self.tally.end();
    }

    /// Returns false when the replay has ended.
    #[inline]
    fn step(&mut self, node: &Node) -> bool {
        let Trial { halt, signals, .. } = *self.trial;
        let due_ns = match node.begin {
            Begin::After { gap_ns } => self.before_ns.saturating_add(gap_ns),
            Begin::At { time_ns } => self.before_ns.max(self.start_ns.saturating_add(time_ns)),
        };
        if let Step::Io(io) = &node.step
            && io.op == TraceOp::Write
        {
            self.stamp(io);
        }
        if !halt.burn(u64::from(node.burn_ns)) {
            return false;
        }
        match &node.step {
            Step::Io(io) => self.issue(io, due_ns),
            Step::Send => {
                let is_due = halt.wait_until(due_ns);
                if is_due {
                    signals[self.number].send(now_ns());
                    // The recorded think time that follows includes the time to send.
                    self.before_ns = due_ns;
                }
                is_due
            }
            Step::Receive { from, count, at_most_ns } => {
                let Some(from) = self.trial.tracks.number(*from) else { return true };
                let until_ns = at_most_ns.map_or(u64::MAX, |ns| due_ns.saturating_add(ns));
                let counted = if at_most_ns.is_some() {
                    &mut self.tally.bounded_waits
                } else {
                    &mut self.tally.waits
                };
                *counted += 1;
                // The recorded think time after a wait begins when the other thread wakes this one,
                // so it includes the time that waking takes.
                self.before_ns = match signals[from].wait(*count, until_ns, halt) {
                    Waited::Not => due_ns,
                    Waited::Until(time_ns) | Waited::TimedOut(time_ns) => due_ns.max(time_ns),
                    Waited::Over => return false,
                };
                true
            }
        }
    }

    fn issue(&mut self, io: &Io, due_ns: u64) -> bool {
        let Trial { halt, files, signals, .. } = *self.trial;
        if !halt.wait_until(due_ns) {
            return false;
        }
        let ready_ns = now_ns();
        let mut started_ns = ready_ns;
        if io.is_paired && io.op == TraceOp::Write {
            if !files.await_turn(io, halt) {
                return false;
            }
            started_ns = now_ns();
        }
        let Some(done) = files.act(io, &mut self.buffers, halt) else { return false };
        let done_ns = now_ns();
        files.used(io);
        let settled = files.settle(io, done.leftover);
        let outcome = done.outcome.and_then(|moved| settled.map(|()| moved));
        self.before_ns = done_ns;
        if io.sends {
            signals[self.number].send(done_ns);
        }
        if halt.is_over(done_ns) {
            return false;
        }
        self.tally.shared_syncs += u64::from(done.is_shared);
        let after_start = |time_ns: u64| time_ns.saturating_sub(self.start_ns);
        let [late_ns, started_ns, done_ns] =
            [ready_ns - due_ns.min(ready_ns), after_start(started_ns), after_start(done_ns)];
        let over = Over { late_ns, started_ns, done_ns };
        let goes_on = self.tally.count(io, &over, outcome, || files.shown(io.file));
        if !goes_on {
            halt.ended.store(true, Ordering::Relaxed);
        }
        goes_on
    }

    /// Makes the data of a write unlike any written before, so that no layer can deduplicate it.
    fn stamp(&mut self, io: &Io) {
        let bytes = u32::try_from(io.length.min(PIECE_BYTES)).expect("at most a piece");
        let write =
            EngineIo { offset: io.offset, bytes, file: 0, op: EngineOp::Write, check: false };
        self.verifier.prepare(write, &mut self.buffers.write_mut(0)[..bytes as usize]);
    }
}
