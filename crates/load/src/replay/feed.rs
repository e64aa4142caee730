//! Reads the trace while it is replayed, a bounded number of nodes ahead.
//!
//! # Why it cannot deadlock
//!
//! Nodes come out of the graph in one order, and each depends only on nodes before it (`graph`).
//! Suppose that the replay is stuck. Take the first node in that order that was not executed. All
//! that it depends on was executed, so it can run as soon as its track has it. If it was read, it
//! is at the head of its track's queue, because queues keep the order, and runs. If it was not
//! read, then all nodes that its reader has handed out come before it, so they were executed. A
//! track frees its queue space as soon as its queue is empty. The reader then goes on. Nodes that
//! are staged are handed out before the reader waits.
//!
//! The same holds for two readers of one trace, of which each hands out nodes of some tracks: the
//! argument is about the reader to which the first node belongs. Timer-driven threads have their
//! own reader. On fast storage all others run ahead of them, and nodes that the timers come to
//! later would fill the room of the one reader.
//!
//! A write and the sync with which it is paired are handed out together (see `commit`). So a track
//! that has issued such a write also has the sync.

use std::io::Read;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use iotax_trace::Op;

use super::graph::{Graph, Node, Placed, Roles, Step};
use super::parts::Events;
use super::signal::Halt;

/// Nodes are handed out in batches of at most this size.
const BATCH: usize = 1024;
/// A queue that has become longer gives its memory back when it is empty.
const KEPT_NODES: usize = 4096;
/// A waiting thread looks this often whether the replay is over.
const LOOK: Duration = Duration::from_millis(50);

/// The nodes of one track.
#[derive(Default)]
struct Queue {
    nodes: Mutex<Waiting>,
    filled: Condvar,
}

#[derive(Default)]
struct Waiting {
    nodes: Vec<Node>,
    /// No more nodes will come.
    is_over: bool,
}

/// Nodes that one reader may hand out.
pub(super) struct Room {
    state: Mutex<RoomState>,
    changed: Condvar,
    most: usize,
}

#[derive(Default)]
struct RoomState {
    queued: usize,
    /// Tracks that wait for a node.
    starving: usize,
    /// The reader has reached its read-ahead limit or the end.
    is_full: bool,
}

impl Room {
    pub(super) fn new(most: usize) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), most: most.max(1) }
    }

    fn change(&self, by: impl FnOnce(&mut RoomState)) {
        by(&mut lock(&self.state));
        self.changed.notify_all();
    }

    /// Waits until there is room; false if the replay is over. Once it is full, the reader waits
    /// until half of it is empty, or a track needs a node.
    fn wait(&self, halt: &Halt<'_>) -> bool {
        let mut state = lock(&self.state);
        if state.queued < self.most {
            return !halt.ends_reading();
        }
        state.is_full = true;
        self.changed.notify_all();
        loop {
            if halt.ends_reading() {
                return false;
            }
            let is_needed = state.starving > 0 && state.queued < self.most;
            if state.queued <= self.most / 2 || is_needed {
                return true;
            }
            state = timed(&self.changed, state);
        }
    }

    /// Waits until the reader has read as far ahead as it may.
    pub(super) fn wait_until_full(&self, halt: &Halt<'_>) {
        let mut state = lock(&self.state);
        while !state.is_full && !halt.is_raised() {
            state = timed(&self.changed, state);
        }
    }
}

/// All queues.
pub(super) struct Queues {
    queues: Vec<Queue>,
}

impl Queues {
    pub(super) fn new(tracks: usize) -> Self {
        Self { queues: (0..tracks).map(|_| Queue::default()).collect() }
    }

    pub(super) fn take<'a>(&'a self, track: usize, room: &'a Room) -> Taker<'a> {
        Taker { queue: &self.queues[track], room, nodes: Vec::new(), at: 0 }
    }

    fn put(&self, track: usize, nodes: &mut Vec<Node>) {
        let queue = &self.queues[track];
        lock(&queue.nodes).nodes.append(nodes);
        queue.filled.notify_one();
    }

    fn close(&self, track: usize) {
        lock(&self.queues[track].nodes).is_over = true;
        self.queues[track].filled.notify_one();
    }
}

/// Takes the nodes of one track.
pub(super) struct Taker<'a> {
    queue: &'a Queue,
    room: &'a Room,
    nodes: Vec<Node>,
    at: usize,
}

impl Taker<'_> {
    /// The next node; `None` after the last, or when the replay is over.
    #[inline]
    pub(super) fn next(&mut self, halt: &Halt<'_>) -> Option<Node> {
        if self.at == self.nodes.len() && !self.refill(halt) {
            return None;
        }
        let node = self.nodes[self.at];
        self.at += 1;
        Some(node)
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self, halt: &Halt<'_>) -> bool {
        let done = self.nodes.len();
        self.nodes.clear();
        if self.nodes.capacity() > KEPT_NODES {
            self.nodes = Vec::new();
        }
        self.at = 0;
        if done > 0 {
            self.room.change(|room| room.queued -= done);
        }
        let mut waiting = lock(&self.queue.nodes);
        if waiting.nodes.is_empty() && !waiting.is_over {
            drop(waiting);
            self.room.change(|room| room.starving += 1);
            waiting = lock(&self.queue.nodes);
            while waiting.nodes.is_empty() && !waiting.is_over && !halt.is_raised() {
                waiting = timed(&self.queue.filled, waiting);
            }
            std::mem::swap(&mut waiting.nodes, &mut self.nodes);
            drop(waiting);
            self.room.change(|room| room.starving -= 1);
        } else {
            std::mem::swap(&mut waiting.nodes, &mut self.nodes);
        }
        !self.nodes.is_empty()
    }
}

impl Drop for Taker<'_> {
    /// A thread that ends early must not hold up the reader.
    fn drop(&mut self) {
        let done = self.nodes.len();
        self.room.change(|room| room.queued -= done);
    }
}

/// Hands out nodes of a trace to the tracks for which `index` has a number.
pub(super) fn read<R: Read>(
    events: &mut Events<R>,
    roles: &Roles,
    feed: &Feed<'_>,
) -> Result<(), iotax_trace::Error> {
    let mut stage = Stage { feed, by_track: vec![Vec::new(); feed.tracks()], staged: 0 };
    let mut graph = Graph::new(roles);
    let read = stage.read(events, &mut graph);
    feed.index.iter().flatten().for_each(|track| feed.queues.close(*track));
    feed.room.change(|room| room.is_full = true);
    read
}

/// Where the nodes of one reader go.
pub(super) struct Feed<'a> {
    pub queues: &'a Queues,
    pub room: &'a Room,
    pub halt: &'a Halt<'a>,
    /// The number of each track by its place in `Tracks`; `None` belongs to another reader.
    pub index: Vec<Option<usize>>,
    /// The place of each thread's first track.
    pub first_of: &'a [usize],
}

impl Feed<'_> {
    fn tracks(&self) -> usize {
        self.index.len()
    }

    fn number(&self, placed: &Placed) -> Option<usize> {
        let first = self.first_of.get(placed.track.thread as usize)?;
        self.index.get(first + placed.track.lane as usize).copied().flatten()
    }
}

struct Stage<'a> {
    feed: &'a Feed<'a>,
    by_track: Vec<Vec<Node>>,
    staged: usize,
}

impl Stage<'_> {
    fn read<R: Read>(
        &mut self,
        events: &mut Events<R>,
        graph: &mut Graph<'_>,
    ) -> Result<(), iotax_trace::Error> {
        while let Some(chunk) = events.chunk()? {
            for event in chunk {
                graph.push(event);
                if !self.drain(graph) {
                    return Ok(());
                }
            }
        }
        graph.finish();
        if self.drain(graph) {
            self.hand_out();
        }
        Ok(())
    }

    /// False if the replay is over.
    fn drain(&mut self, graph: &mut Graph<'_>) -> bool {
        while let Some(placed) = graph.pop() {
            let Some(track) = self.feed.number(&placed) else { continue };
            self.by_track[track].push(placed.node);
            self.staged += 1;
            let begins_pair =
                matches!(placed.node.step, Step::Io(io) if io.is_paired && io.op == Op::Write);
            let batch = BATCH.min(self.feed.room.most);
            // The sync of a paired write comes next.
            if self.staged >= batch && !begins_pair {
                self.hand_out();
                if !self.feed.room.wait(self.feed.halt) {
                    return false;
                }
            }
        }
        true
    }

    fn hand_out(&mut self) {
        let staged = std::mem::take(&mut self.staged);
        self.feed.room.change(|room| room.queued += staged);
        for (track, nodes) in self.by_track.iter_mut().enumerate() {
            if !nodes.is_empty() {
                self.feed.queues.put(track, nodes);
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn timed<'a, T>(changed: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    changed.wait_timeout(guard, LOOK).unwrap_or_else(PoisonError::into_inner).0
}
