//! Converts trace events to an ordered list of steps for each replay thread: I/Os, and waits for
//! other threads.
//!
//! # Order
//!
//! Nodes come out in one total order. A node depends only on nodes before it: on those of its own
//! track, and, if it is a receive, on one signal of another track. This holds for any order of
//! events, because each signal is emitted before the receives that wait for it. A reader that reads
//! ahead by a bounded number of nodes therefore cannot stop the replay: see `feed`. Only a wait that
//! ends a pause may be for a later signal. It ends without the signal when the pause is over.
//!
//! # Signals
//!
//! A track counts its signals. A receive waits until the count of a track has reached a number.
//! Edges therefore need no storage of their own, and memory does not grow with the trace.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};

use iotax_trace::{Event, File, Flags, NO_FILE, Op, Thread, connection};
use rustix::io::Errno;

use self::arrivals::Arrivals;
use self::clients::{Answer, Clients, Thought};
pub(super) use self::commits::Turns;
use self::commits::{Commits, SyncWait};
use self::held::{Held, pair};
use self::outbox::{Kept, Outbox};
pub(super) use self::roles::{ClockedArrivals, FileRole, Roles, ThreadRole};

/// How long an event is buffered for earlier events, in recorded time.
const HORIZON_NS: u64 = 1_000_000_000;
/// Maximum number of buffered events. With the next one, they fill a vector of a power of two: one
/// more would double its memory.
const MOST_WAITING: usize = (1 << 15) - 1;
/// I/Os of one thread that are in flight at the same time; more are issued one after the other.
pub(super) const MOST_LANES: u32 = 64;
/// A write or a wait is kept back for at most this long to see whether its thread syncs next.
const PAIRED_NS: u64 = 100_000_000;
/// A longer time in which a thread does nothing is a pause.
const PAUSE_NS: u64 = 1_000_000;
/// With clocked arrivals, a longer think time counts as an arrival if no requests are recorded.
const ARRIVAL_NS: u64 = 3_000_000;

/// A sequence of nodes: a thread of the application, or one of its asynchronous I/Os in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Track {
    pub thread: Thread,
    /// 0 is the thread itself.
    pub lane: u32,
}

impl Track {
    pub(super) const fn of(thread: Thread) -> Self {
        Self { thread, lane: 0 }
    }
}

/// When a node begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// This long after the previous node.
    After { gap_ns: u64 },
    /// At this time after the common start.
    At { time_ns: u64 },
    /// `think_ns` after the last answer to the client of this connection, but not earlier than
    /// `gap_ns` after the previous node.
    Thought { connection: u16, gap_ns: u32, think_ns: u64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Node {
    pub begin: Begin,
    /// CPU time to use before it begins.
    pub burn_ns: u32,
    pub step: Step,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Io(Io),
    /// Increments the count of the track.
    Send,
    /// Waits until `from` has counted to `count`.
    Receive {
        from: Track,
        count: u64,
        /// Maximum wait.
        at_most_ns: Option<u64>,
    },
    /// A client's request arrives; its connection.
    Request(u16),
    /// The answer is sent. Increments the count of the track.
    Answer(u16),
    /// Waits for a sync of the file, by any thread. In the recording, it waited for that of another.
    Commit(File),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Io {
    pub op: Op,
    pub flags: Flags,
    pub file: File,
    pub offset: u64,
    pub length: u64,
    /// As recorded.
    pub result: i64,
    pub detail: u64,
    /// Increments the count of the track when it is done.
    pub sends: bool,
    /// The open that creates the file.
    pub creates: bool,
    /// A write that its thread syncs next, or that sync, on a file whose syncs are shared.
    pub is_paired: bool,
}

/// A node and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placed {
    pub track: Track,
    pub node: Node,
}

/// Whether an operation uses the name of a file.
pub(super) const fn names(op: Op) -> bool {
    matches!(op, Op::Open | Op::Rename | Op::Unlink | Op::Mkdir | Op::Stat)
}

/// Whether an event is an operation that the replay executes.
pub(super) fn is_replayed(event: &Event) -> bool {
    let is_one = match event.op {
        Op::Read
        | Op::Write
        | Op::Fsync
        | Op::Fdatasync
        | Op::SyncRange
        | Op::Msync
        | Op::Allocate
        | Op::Truncate
        | Op::Open
        | Op::Rename
        | Op::Unlink
        | Op::Mkdir
        | Op::Fault
        | Op::Dirty
        | Op::Advise
        | Op::SendFile
        | Op::CopyRange => event.file != NO_FILE,
        // A file that is not there is looked up, too.
        Op::Stat | Op::SyncAll => true,
        Op::Close
        | Op::ReadDir
        | Op::Map
        | Op::Wake
        | Op::Spawn
        | Op::Exit
        | Op::Request
        | Op::Answer => false,
    };
    is_one && !was_not_tried(event)
}

/// A call that ended before it did anything: the application issued it again.
fn was_not_tried(event: &Event) -> bool {
    event.errno().is_some_and(|errno| {
        let errno = Errno::from_raw_os_error(errno);
        [Errno::AGAIN, Errno::INTR, Errno::CANCELED, Errno::BADF].contains(&errno)
    })
}

/// Makes nodes of events.
pub(super) struct Graph<'a> {
    roles: &'a Roles,
    waiting: BinaryHeap<Reverse<Waiting>>,
    pushed: u64,
    newest_ns: u64,
    emitted_ns: u64,
    /// No more events come.
    is_over: bool,
    threads: Vec<ThreadState>,
    files: HashMap<File, FileOrder>,
    /// The highest count of the second track that the first has waited for.
    known: HashMap<(Track, Track), u64>,
    /// When nodes were kept back, and by which track.
    held_at: VecDeque<(u64, Track)>,
    arrivals: Arrivals,
    clients: Clients,
    ready: Outbox,
    commits: Commits,
    pub facts: Facts,
}

/// What was counted on the way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Events that came later than the horizon allows.
    pub late_events: u64,
    /// Asynchronous I/Os issued one after the other because there were too many at a time.
    pub lanes_exceeded: u64,
    /// Requests that drain their ring.
    pub drains: u64,
    pub waits: u64,
    pub bounded_waits: u64,
    /// Wake-ups of timers and devices.
    pub ignored_wakes: u64,
    /// Recorded time before nodes that begin when a client has thought.
    pub thought_ns: u64,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    key_ns: u64,
    number: u64,
    item: Item,
}

#[derive(Debug)]
enum Item {
    Event(Event),
    /// A thread reaps a completed I/O.
    Reap {
        lane: Track,
        count: u64,
    },
}

// The order is that of time and number alone.
impl PartialEq for Item {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Item {}

impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Item {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

#[derive(Default)]
struct ThreadState {
    own: TrackState,
    lanes: Vec<TrackState>,
    /// CPU time and run delay of events that became no node.
    idle: Pending,
    /// Pauses that a signal ends in the replay.
    paused_ns: u64,
    /// It was last woken by another thread of the program, to read what that has written.
    has_message: bool,
    /// The lane of the request before, if this one is linked to it.
    linked_lane: Option<usize>,
}

#[derive(Default)]
struct TrackState {
    /// The end of its last node in the recording.
    end_ns: Option<u64>,
    count: u64,
    held: Option<Held>,
    /// A wake-up after a pause.
    kept: Option<Kept>,
    /// Its next node begins when a client has thought.
    thought: Option<Thought>,
}

/// Operations that must finish before a file is created, renamed or removed, and the last such
/// change, for which later operations wait.
#[derive(Default)]
struct FileOrder {
    changed: Option<Mark>,
    used: Vec<Mark>,
}

/// A track and its signal count.
#[derive(Debug, Clone, Copy)]
struct Mark {
    track: Track,
    count: u64,
}

/// Where a node is in the recording.
#[derive(Clone, Copy)]
struct Span {
    begin_ns: u64,
    end_ns: u64,
    before: Pending,
}

/// How a thread spent time before a node, apart from sleeping.
#[derive(Debug, Clone, Copy, Default)]
struct Pending {
    cpu_ns: u64,
    run_delay_ns: u64,
    /// For the rest, it waited for a timer or the outside. Another thread could have woken it.
    could_be_woken: bool,
}

impl Pending {
    const fn and(self, cpu_ns: u64, run_delay_ns: u64) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_add(cpu_ns),
            run_delay_ns: self.run_delay_ns.saturating_add(run_delay_ns),
            ..self
        }
    }

    /// Before a wake-up of which the flag says that the thread called `nanosleep`. A thread that
    /// only wakes others also sleeps in this way while there is nothing to do.
    const fn of_wake(self, event: &Event, slept: Flags, role: ThreadRole) -> Self {
        Self { could_be_woken: role.only_wakes || !event.flags.contains(slept), ..self }
    }
}

impl<'a> Graph<'a> {
    pub(super) fn new(roles: &'a Roles) -> Self {
        Self {
            roles,
            waiting: BinaryHeap::new(),
            pushed: 0,
            newest_ns: 0,
            emitted_ns: 0,
            is_over: false,
            threads: Vec::new(),
            files: HashMap::new(),
            known: HashMap::new(),
            held_at: VecDeque::new(),
            arrivals: Arrivals::default(),
            clients: Clients::default(),
            ready: Outbox::default(),
            commits: Commits::default(),
            facts: Facts::default(),
        }
    }

    /// The next event of the trace.
    pub(super) fn push(&mut self, event: Event) {
        let has_lane =
            self.roles.is_asynchronous(&event) && self.roles.thread(event.thread).lanes > 0;
        let key_ns = if has_lane { event.start_ns() } else { event.end_ns };
        self.newest_ns = self.newest_ns.max(event.end_ns);
        self.wait(key_ns, Item::Event(event));
        self.arrivals.note(&event, self.pushed);
        while self.waiting.len() > MOST_WAITING
            || self.waiting.peek().is_some_and(|Reverse(first)| {
                first.key_ns.saturating_add(HORIZON_NS) < self.newest_ns
            })
        {
            self.take_first();
        }
    }

    /// The trace is over.
    pub(super) const fn finish(&mut self) {
        self.is_over = true;
    }

    /// The next node.
    pub(super) fn pop(&mut self) -> Option<Placed> {
        loop {
            let next = self.ready.pop(self.emitted_ns);
            if next.is_some() || !self.is_over {
                return next;
            }
            if !self.waiting.is_empty() {
                self.take_first();
            } else if self.emitted_ns < u64::MAX {
                self.release_held(u64::MAX);
                self.emitted_ns = u64::MAX;
            } else {
                return None;
            }
        }
    }

    fn wait(&mut self, key_ns: u64, item: Item) {
        self.pushed += 1;
        self.waiting.push(Reverse(Waiting { key_ns, number: self.pushed, item }));
    }

    fn take_first(&mut self) {
        let Some(Reverse(first)) = self.waiting.pop() else { return };
        self.facts.late_events += u64::from(first.key_ns < self.emitted_ns);
        self.emitted_ns = self.emitted_ns.max(first.key_ns);
        self.release_held(self.emitted_ns.saturating_sub(PAIRED_NS));
        match first.item {
            Item::Reap { lane, count } => {
                let thread = Track::of(lane.thread);
                let now_ns = self.end_ns(thread);
                let span =
                    Span { begin_ns: now_ns, end_ns: self.emitted_ns, before: Pending::default() };
                self.receive(thread, Mark { track: lane, count }, span, None);
            }
            Item::Event(event) => {
                if event.op == Op::Wake
                    && let Some(connection) = self.arrivals.take(first.number)
                {
                    let before = self.thread(event.thread).idle;
                    let before = before.and(event.cpu_ns, event.run_delay_ns);
                    let arrived = Span { begin_ns: event.end_ns, end_ns: event.end_ns, before };
                    self.arrive_by_wake_up(Track::of(event.thread), connection, arrived);
                }
                self.take_event(&event);
            }
        }
    }

    fn take_event(&mut self, event: &Event) {
        let state = self.thread(event.thread);
        let idle = std::mem::take(&mut state.idle);
        let before = idle.and(event.cpu_ns, event.run_delay_ns);
        let own = Track::of(event.thread);
        let span = Span { begin_ns: event.start_ns(), end_ns: event.end_ns, before };
        match event.op {
            Op::Wake if event.is_dependency() => {
                let other = Track::of(narrow(event.detail));
                let idle = std::mem::take(&mut self.thread(other.thread).idle);
                let of_other = idle.and(event.length, event.result.cast_unsigned());
                let role = self.roles.thread(other.thread);
                let of_other = of_other.of_wake(event, Flags::WOKEN_SLEPT, role);
                let wait = Span { before: of_other, ..span };
                let role = self.roles.thread(own.thread);
                let span = Span { before: before.of_wake(event, Flags::WAKER_SLEPT, role), ..span };
                let is_bounded = self.roles.thread(own.thread).is_clocked;
                let at_most_ns = is_bounded.then_some(event.latency_ns);
                let sync_wait = self.commits.wait(event, &self.roles.files);
                let sync_wait = sync_wait.filter(|_| self.roles.thread(other.thread).commits);
                if self.wakes(own, other, span) {
                    let mark = Mark { track: own, count: self.track(own).count };
                    self.receive_after_sync(other, mark, wait, at_most_ns, sync_wait);
                    self.thread(other.thread).has_message = event.is_of_messages();
                    return;
                }
            }
            Op::Wake => self.facts.ignored_wakes += 1,
            Op::Spawn => {
                let other = Track::of(narrow(event.detail));
                if self.wakes(own, other, span) {
                    let mark = Mark { track: own, count: self.track(own).count };
                    // Its think time begins with it.
                    self.track(other).end_ns.get_or_insert(event.end_ns);
                    let start = Span { begin_ns: event.end_ns, before: Pending::default(), ..span };
                    self.receive(other, mark, start, None);
                    return;
                }
            }
            Op::Request => {
                let arrived = Span { begin_ns: span.end_ns, ..span };
                self.arrive_by_read(own, connection(event), arrived);
                self.place(own, arrived, Step::Request(connection(event)));
                return;
            }
            Op::Answer => {
                let sent = Span { end_ns: span.begin_ns, ..span };
                self.place(own, sent, Step::Answer(connection(event)));
                self.track(own).count += 1;
                let by = Mark { track: own, count: self.track(own).count };
                self.clients.answered(connection(event), Answer { by, sent_ns: sent.end_ns });
                return;
            }
            _ if is_replayed(event) => {
                let io = io(event);
                if self.roles.is_asynchronous(event) && self.roles.thread(own.thread).lanes > 0 {
                    self.launch(own, io, span);
                } else {
                    self.issue(own, io, span);
                }
                return;
            }
            _ => {}
        }
        self.thread(event.thread).idle = before;
    }

    /// Sends, if there is anybody to receive.
    fn wakes(&mut self, own: Track, other: Track, span: Span) -> bool {
        let role = self.roles.thread(other.thread);
        let receives = own != other && role.has_work && !role.is_clocked;
        if receives {
            let span = Span { begin_ns: span.end_ns, ..span };
            self.place(own, span, Step::Send);
            self.track(own).count += 1;
        }
        receives
    }

    fn receive(&mut self, track: Track, from: Mark, span: Span, at_most_ns: Option<u64>) {
        self.receive_after_sync(track, from, span, at_most_ns, None);
    }

    fn receive_after_sync(
        &mut self,
        track: Track,
        from: Mark,
        span: Span,
        at_most_ns: Option<u64>,
        wait: Option<SyncWait>,
    ) {
        let Mark { track: sender, count } = from;
        // A wait for a sync may end before that thread is there.
        if wait.is_none() {
            let known = self.known.entry((track, sender)).or_default();
            *known = (*known).max(count);
        }
        if track.thread != sender.thread {
            self.facts.waits += u64::from(at_most_ns.is_none());
            self.facts.bounded_waits += u64::from(at_most_ns.is_some());
        }
        self.place_wait(track, span, Step::Receive { from: sender, count, at_most_ns }, wait);
    }

    /// An I/O that its thread does not wait for: the thread starts it in a lane, and comes to know
    /// of its end later.
    fn launch(&mut self, own: Track, io: Io, span: Span) {
        self.facts.drains += u64::from(io.flags.contains(Flags::DRAIN));
        let lane = self.lane(own.thread, io.flags, span.begin_ns);
        self.place(own, Span { end_ns: span.begin_ns, ..span }, Step::Send);
        let state = self.track(own);
        state.count += 1;
        let mark = Mark { track: own, count: state.count };
        let begin_ns = self.end_ns(own);
        self.track(lane).end_ns = Some(begin_ns);
        let at_once = Span { begin_ns, end_ns: begin_ns, before: Pending::default() };
        self.receive(lane, mark, at_once, None);
        self.issue(
            lane,
            Io { sends: true, ..io },
            Span { begin_ns, before: Pending::default(), ..span },
        );
        let count = self.track(lane).count;
        self.wait(span.end_ns, Item::Reap { lane, count });
    }

    fn lane(&mut self, thread: Thread, flags: Flags, start_ns: u64) -> Track {
        let most = self.roles.thread(thread).lanes.clamp(1, MOST_LANES) as usize;
        let state = self.thread(thread);
        let is_free = |lane: &TrackState| lane.end_ns.is_none_or(|end_ns| end_ns <= start_ns);
        let mut is_exceeded = false;
        let at = state.linked_lane.or_else(|| state.lanes.iter().position(is_free));
        let at = at.unwrap_or_else(|| {
            if state.lanes.len() < most {
                state.lanes.push(TrackState::default());
                return state.lanes.len() - 1;
            }
            is_exceeded = true;
            let lanes = state.lanes.iter().enumerate();
            lanes.min_by_key(|(_, lane)| lane.end_ns).map_or(0, |(at, _)| at)
        });
        state.linked_lane = flags.contains(Flags::LINK).then_some(at);
        self.facts.lanes_exceeded += u64::from(is_exceeded);
        Track { thread, lane: u32::try_from(at + 1).expect("few lanes") }
    }

    /// An I/O in its track, after what it must wait for.
    fn issue(&mut self, track: Track, io: Io, span: Span) {
        let is_new = || self.files.get(&io.file).is_none_or(|order| order.changed.is_none());
        let may_create = io.op == Op::Open && io.result >= 0;
        let creates = may_create && self.roles.file(io.file).is_created && is_new();
        let is_change = creates || is_change(&io);
        let is_use = names(io.op) && io.file != NO_FILE;
        for mark in self.obstacles(&io, is_change) {
            let is_known = self.known.get(&(track, mark.track)).is_some_and(|n| *n >= mark.count);
            if mark.track != track && !is_known {
                let at_ns = self.end_ns(track);
                let span = Span { begin_ns: at_ns, end_ns: at_ns, before: Pending::default() };
                self.receive(track, mark, span, None);
            }
        }
        let io = Io { creates, sends: io.sends || is_use, ..io };
        self.place(track, span, Step::Io(io));
        if io.sends {
            self.track(track).count += 1;
        }
        if is_use {
            let mark = Mark { track, count: self.track(track).count };
            let others = (io.op == Op::Rename).then(|| replaced(&io)).flatten();
            for file in [Some(io.file), others].into_iter().flatten() {
                let order = self.files.entry(file).or_default();
                order.used.retain(|other| other.track != track);
                if is_change {
                    order.used.clear();
                    order.changed = Some(mark);
                } else {
                    order.used.push(mark);
                }
            }
        }
    }

    /// What an operation on a file must wait for: an operation that uses a name waits for the one
    /// that created it; one that changes the name waits for all that used it.
    fn obstacles(&self, io: &Io, is_change: bool) -> Vec<Mark> {
        let others = (io.op == Op::Rename).then(|| replaced(io)).flatten();
        let mut marks = Vec::new();
        for order in
            [Some(io.file), others].into_iter().flatten().filter_map(|f| self.files.get(&f))
        {
            marks.extend(order.changed);
            if is_change {
                marks.extend(&order.used);
            }
        }
        marks
    }

    fn place(&mut self, track: Track, span: Span, step: Step) {
        self.place_wait(track, span, step, None);
    }

    fn place_wait(&mut self, track: Track, span: Span, step: Step, wait: Option<SyncWait>) {
        let origin_ns = self.roles.origin_ns;
        let is_clocked = self.roles.all_clocked || self.roles.thread(track.thread).is_clocked;
        let clocked = self.roles.clocked;
        let state = self.track(track);
        let before_ns = *state.end_ns.get_or_insert(origin_ns);
        let end_ns = span.end_ns.max(before_ns);
        let begin_ns = span.begin_ns.clamp(before_ns, end_ns);
        state.end_ns = Some(end_ns);
        let gap_ns = begin_ns - before_ns;
        let burn_ns = span.before.cpu_ns.min(gap_ns);
        // The threads of the replay wait for a CPU themselves.
        let gap_ns = gap_ns - span.before.run_delay_ns.min(gap_ns - burn_ns);
        let burn_ns = u32::try_from(burn_ns).unwrap_or(u32::MAX);
        let time_ns = begin_ns - origin_ns.min(begin_ns);
        let is_arrival = match clocked {
            ClockedArrivals::Nothing => false,
            ClockedArrivals::Requests => matches!(step, Step::Request(_)),
            ClockedArrivals::AfterLongGaps => gap_ns > ARRIVAL_NS,
        };
        let is_at = track.lane == 0 && (is_clocked || is_arrival);
        let thought = self.track(track).thought.take();
        let is_pause = !is_at
            && thought.is_none()
            && span.before.could_be_woken
            && gap_ns > PAUSE_NS.saturating_add(burn_ns.into());
        let begin = match (step, thought) {
            _ if is_at => Begin::At { time_ns },
            (_, Some(Thought { connection, think_ns, was_awaited })) => {
                self.facts.thought_ns = self.facts.thought_ns.saturating_add(gap_ns);
                let gap_ns = u32::try_from(gap_ns).unwrap_or(u32::MAX);
                let gap_ns = if was_awaited { burn_ns } else { gap_ns };
                Begin::Thought { connection, gap_ns, think_ns }
            }
            // The signal ends the pause.
            (Step::Receive { at_most_ns: None, .. }, None) if is_pause && wait.is_none() => {
                let state = self.thread(track.thread);
                state.paused_ns = state.paused_ns.saturating_add(gap_ns - u64::from(burn_ns));
                Begin::After { gap_ns: burn_ns.into() }
            }
            _ => Begin::After { gap_ns },
        };
        if track.lane == 0 {
            self.thread(track.thread).has_message = false;
            self.commits.note(track.thread, &step, begin_ns, end_ns);
        }
        if let Some(kept) = self.track(track).kept.take() {
            self.ready.settle(kept, &step);
        }
        self.put(track, Held { node: Node { begin, burn_ns, step }, end_ns, wait, after: None });
        if step == Step::Send && is_pause {
            self.track(track).kept = self.ready.keep_last(self.emitted_ns);
        }
    }

    /// Puts a node out, unless it must be seen together with what follows: a write that is perhaps
    /// synced next, or a wait for a sync.
    fn put(&mut self, track: Track, mut new: Held) {
        if let Some(mut held) = self.track(track).held.take() {
            pair(&mut held.node, &mut new.node);
            if !new.continues(&held) {
                self.ready.extend(held.placed(track));
            }
        }
        let is_write = matches!(&new.node.step, Step::Io(io)
            if io.op == Op::Write && track.lane == 0 && self.roles.file(io.file).shares_syncs);
        if is_write || new.wait.is_some() {
            self.track(track).held = Some(new);
            self.held_at.push_back((new.end_ns, track));
        } else {
            self.ready.extend(new.placed(track));
        }
    }

    /// Puts out what was kept back before this time.
    fn release_held(&mut self, until_ns: u64) {
        while let Some((_, track)) = self.held_at.pop_front_if(|(at_ns, _)| *at_ns <= until_ns) {
            // The track may keep a later node by now.
            if let Some(held) = self.track(track).held.take_if(|held| held.end_ns <= until_ns) {
                self.ready.extend(held.placed(track));
            }
        }
    }

    /// Connections whose next request does not wait for the last answer, as far as is known.
    pub(super) fn shared_connections(&self) -> HashSet<u16> {
        self.clients.shared()
    }

    /// How threads have taken turns to sync each file so far.
    pub(super) const fn turns(&self) -> &HashMap<File, Turns> {
        &self.commits.turns
    }

    fn end_ns(&mut self, track: Track) -> u64 {
        let origin_ns = self.roles.origin_ns;
        *self.track(track).end_ns.get_or_insert(origin_ns)
    }

    fn thread(&mut self, thread: Thread) -> &mut ThreadState {
        let at = thread as usize;
        if self.threads.len() <= at {
            self.threads.resize_with(at + 1, ThreadState::default);
        }
        &mut self.threads[at]
    }

    fn track(&mut self, track: Track) -> &mut TrackState {
        let state = self.thread(track.thread);
        match track.lane {
            0 => &mut state.own,
            lane => &mut state.lanes[lane as usize - 1],
        }
    }

    /// Pauses of a thread so far that a signal ends in the replay.
    pub(super) fn paused_ns(&self, thread: Thread) -> u64 {
        self.threads.get(thread as usize).map_or(0, |state| state.paused_ns)
    }

    /// Lanes of each thread so far.
    pub(super) fn lanes(&self, thread: Thread) -> u32 {
        let lanes = self.threads.get(thread as usize).map_or(0, |state| state.lanes.len());
        u32::try_from(lanes).unwrap_or(MOST_LANES)
    }
}

/// Whether an operation makes a name mean something else.
fn is_change(io: &Io) -> bool {
    matches!(io.op, Op::Rename | Op::Unlink | Op::Mkdir) && io.result >= 0
}

/// The file that a rename replaces.
pub(super) fn replaced(io: &Io) -> Option<File> {
    File::try_from(io.detail.checked_sub(1)?).ok()
}

fn io(event: &Event) -> Io {
    Io {
        op: event.op,
        flags: event.flags,
        file: event.file,
        offset: event.offset,
        // What was not written does not take space here either.
        length: if event.op == Op::Write { event.moved().min(event.length) } else { event.length },
        result: event.result,
        detail: event.detail,
        sends: false,
        creates: false,
        is_paired: false,
    }
}

/// The number of a thread. Numbers beyond it were refused when the trace was surveyed.
pub(super) fn narrow(number: u64) -> Thread {
    Thread::try_from(number).unwrap_or(Thread::MAX)
}

mod arrivals;
mod clients;
mod commits;
mod held;
mod outbox;
mod roles;
#[cfg(test)]
mod tests;
