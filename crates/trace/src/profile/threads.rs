//! Where the time of each thread goes, and which thread waits for which.

use super::operations::is_write_through;
use super::summary::{ThreadFigures, ThreadTimes, Threads, WaitingPair, Waits, WakeTotals};
use super::table::Table;
use super::{Class, share};
use crate::event::{Event, Flags, Op, TICK_NS, Thread};

/// Threads that are tracked at a time. When they are exceeded, the busiest and the latest are kept.
const TRACKED_THREADS: usize = 4096;
/// Pairs of a thread that waits and one that it waits for.
const TRACKED_PAIRS: usize = 8192;
const REPORTED: usize = 10;
/// Intervals of a thread that a later one can still contain: an operation with page faults in it
/// comes after them.
const RECENT: usize = 16;

pub(super) struct ThreadTable {
    threads: Table<Thread, Entry>,
    pairs: Table<Pair, WakeTotals>,
    sequence: u64,
    highest: Option<Thread>,
    /// Of threads that are no longer tracked.
    others: ThreadTimes,
    other_pairs: WakeTotals,
    wakes: WakeTotals,
    ignored_wakes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Pair {
    waits: Thread,
    waits_for: Thread,
}

struct Entry {
    last_event: u64,
    begin_ns: u64,
    /// The start of its first event.
    first_ns: u64,
    end_ns: Option<u64>,
    last_ns: u64,
    operations: u64,
    /// End of the last I/O that the thread waited for.
    last_io_end_ns: u64,
    io: Covered,
    asynchronous: Covered,
    waiting: Covered,
    cpu_ns: u64,
    run_delay_ns: u64,
    sync_ns: u64,
    held_up_ns: u64,
    first_held_up: Option<Thread>,
    holds_up_several: bool,
}

impl Default for ThreadTable {
    fn default() -> Self {
        Self {
            threads: Table::new(TRACKED_THREADS),
            pairs: Table::new(TRACKED_PAIRS),
            sequence: 0,
            highest: None,
            others: ThreadTimes::default(),
            other_pairs: WakeTotals::default(),
            wakes: WakeTotals::default(),
            ignored_wakes: 0,
        }
    }
}

impl ThreadTable {
    /// Counts the event. The result is its start, which is not before the end of the thread's
    /// previous operation if only rounding of durations makes it appear so.
    pub(super) fn add(&mut self, event: &Event, class: Class) -> u64 {
        self.sequence += 1;
        let start_ns = event.start_ns();
        let entry = self.entry(event.thread, start_ns);
        entry.compute(event.cpu_ns, event.run_delay_ns);
        entry.last_ns = entry.last_ns.max(event.end_ns);
        match (event.op, class) {
            (Op::Wake, _) => self.wake(event),
            (Op::Spawn, _) => {
                if let Ok(child) = Thread::try_from(event.detail) {
                    self.spawn(child, event.end_ns);
                }
            }
            (Op::Exit, _) => entry.end_ns = Some(event.end_ns),
            (Op::Request | Op::Answer, _) => {}
            _ => return entry.operation(event, class),
        }
        start_ns
    }

    fn spawn(&mut self, child: Thread, at_ns: u64) {
        let entry = self.entry(child, at_ns);
        // The child may have run before its parent did again.
        entry.begin_ns = entry.first_ns.min(at_ns);
        entry.last_ns = entry.last_ns.max(at_ns);
    }

    fn wake(&mut self, event: &Event) {
        let Some(waits) = Thread::try_from(event.detail).ok().filter(|_| event.is_dependency())
        else {
            self.ignored_wakes += 1;
            return;
        };
        if waits == event.thread {
            self.ignored_wakes += 1;
            return;
        }
        let wake = WakeTotals { wakes: 1, waited_ns: event.latency_ns };
        self.wakes.add(&wake);
        let pair = Pair { waits, waits_for: event.thread };
        if self.pairs.needs_room(pair) {
            let others = &mut self.other_pairs;
            let ranks: &[fn(&WakeTotals) -> u64] = &[|pair| pair.waited_ns, |pair| pair.wakes];
            self.pairs.retire(ranks, |pair| others.add(&pair));
        }
        self.pairs.entry(pair, WakeTotals::default).add(&wake);
        let waiting = self.entry(waits, event.start_ns());
        waiting.compute(event.length, event.result.cast_unsigned());
        waiting.waiting.add(event.start_ns(), event.end_ns);
        waiting.last_ns = waiting.last_ns.max(event.end_ns);
        self.entry(event.thread, event.start_ns()).hold_up(waits, event.latency_ns);
    }

    fn entry(&mut self, thread: Thread, start_ns: u64) -> &mut Entry {
        if self.threads.needs_room(thread) {
            let ranks: &[fn(&Entry) -> u64] = &[
                |entry| entry.io.sum_ns().saturating_add(entry.cpu_ns),
                |entry| entry.sync_ns,
                |entry| entry.waiting.sum_ns().saturating_add(entry.held_up_ns),
                |entry| entry.last_event,
            ];
            let others = &mut self.others;
            self.threads.retire(ranks, |entry| others.add(&entry.times(entry.last_ns)));
        }
        self.highest = self.highest.max(Some(thread));
        let sequence = self.sequence;
        // Most threads are there before the trace begins. A thread that was retired begins again.
        let begin_ns = if self.threads.retired() == 0 { 0 } else { start_ns };
        let entry = self.threads.entry(thread, || Entry::new(begin_ns, start_ns));
        entry.last_event = sequence;
        entry
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.threads.len() + self.pairs.len()
    }

    pub(super) fn finish(self, length_ns: u64, has_wakes: bool) -> Threads {
        let mut all = self.others;
        let mut figures = Vec::with_capacity(self.threads.len());
        for (thread, entry) in self.threads.iter() {
            let times = entry.times(length_ns);
            all.add(&times);
            figures.push(ThreadFigures {
                thread,
                operations: entry.operations,
                times,
                sync_share: share(times.sync_ns, times.life_ns),
                held_up_ns: entry.held_up_ns,
                holds_up_several: entry.holds_up_several,
            });
        }
        let count = match self.highest {
            Some(highest) if self.threads.retired() > 0 => u64::from(highest) + 1,
            _ => self.threads.len() as u64,
        };
        let held_up_most = top(&figures, 1, |figures| figures.held_up_ns).into_iter().next();
        let busiest = top(&figures, REPORTED, |figures| figures.times.active_ns());
        Threads {
            count,
            all,
            busiest,
            retired: self.threads.retired(),
            waits: has_wakes.then(|| self.waits(&all, held_up_most)),
        }
    }

    fn waits(&self, all: &ThreadTimes, holds_up_most: Option<ThreadFigures>) -> Waits {
        let mut pairs: Vec<_> = self.pairs.iter().map(|(pair, totals)| (pair, *totals)).collect();
        pairs.sort_unstable_by(|a, b| {
            b.1.waited_ns.cmp(&a.1.waited_ns).then(b.1.wakes.cmp(&a.1.wakes)).then(a.0.cmp(&b.0))
        });
        let figures = |(pair, totals): (Pair, WakeTotals)| WaitingPair {
            waits: pair.waits,
            waits_for: pair.waits_for,
            totals,
            share: share(totals.waited_ns, self.wakes.waited_ns),
        };
        let think_ns = all.life_ns.saturating_sub(all.io_ns);
        Waits {
            all: self.wakes,
            ignored_wakes: self.ignored_wakes,
            share_of_think_time: share(all.waiting_ns, think_ns),
            pairs: pairs.into_iter().take(REPORTED).map(figures).collect(),
            retired_pairs: self.other_pairs,
            holds_up_most,
        }
    }
}

impl Entry {
    const fn new(begin_ns: u64, first_ns: u64) -> Self {
        Self {
            last_event: 0,
            begin_ns,
            first_ns,
            end_ns: None,
            last_ns: 0,
            operations: 0,
            last_io_end_ns: 0,
            io: Covered::new(),
            asynchronous: Covered::new(),
            waiting: Covered::new(),
            cpu_ns: 0,
            run_delay_ns: 0,
            sync_ns: 0,
            held_up_ns: 0,
            first_held_up: None,
            holds_up_several: false,
        }
    }

    const fn compute(&mut self, cpu_ns: u64, run_delay_ns: u64) {
        self.cpu_ns = self.cpu_ns.saturating_add(cpu_ns);
        self.run_delay_ns = self.run_delay_ns.saturating_add(run_delay_ns);
    }

    fn operation(&mut self, event: &Event, class: Class) -> u64 {
        let start_ns = event.start_ns();
        self.operations += 1;
        if event.flags.contains(Flags::URING) || event.flags.contains(Flags::AIO) {
            self.asynchronous.add(start_ns, event.end_ns);
            return start_ns;
        }
        let rounding_ns = event.latency_ns / 64 + 2 * TICK_NS;
        let is_rounded = start_ns.saturating_add(rounding_ns) >= self.last_io_end_ns;
        let start_ns = if is_rounded { start_ns.max(self.last_io_end_ns) } else { start_ns };
        let start_ns = start_ns.min(event.end_ns);
        self.io.add(start_ns, event.end_ns);
        self.last_io_end_ns = self.last_io_end_ns.max(event.end_ns);
        if class == Class::Sync || class == Class::Write && is_write_through(event) {
            self.sync_ns = self.sync_ns.saturating_add(event.latency_ns);
        }
        start_ns
    }

    fn hold_up(&mut self, other: Thread, waited_ns: u64) {
        self.held_up_ns = self.held_up_ns.saturating_add(waited_ns);
        let first = *self.first_held_up.get_or_insert(other);
        self.holds_up_several |= first != other;
    }

    /// Each part is cut off at what the parts before it leave of the thread's life.
    fn times(&self, length_ns: u64) -> ThreadTimes {
        let life_ns = self.end_ns.unwrap_or(length_ns).saturating_sub(self.begin_ns);
        let mut left_ns = life_ns;
        let mut part = |ns: u64| {
            let part_ns = ns.min(left_ns);
            left_ns -= part_ns;
            part_ns
        };
        ThreadTimes {
            life_ns,
            io_ns: part(self.io.sum_ns()),
            sync_ns: self.sync_ns.min(life_ns),
            waiting_ns: part(self.waiting.sum_ns()),
            cpu_ns: part(self.cpu_ns),
            run_delay_ns: part(self.run_delay_ns),
            asynchronous_io_ns: part(self.asynchronous.sum_ns()),
            idle_ns: left_ns,
        }
    }
}

/// The time that intervals cover together. They come roughly in the order of their ends.
struct Covered {
    /// Disjoint, in order.
    recent: Vec<Interval>,
    settled_ns: u64,
    /// Where the settled ones end.
    settled_to_ns: u64,
}

#[derive(Clone, Copy)]
struct Interval {
    from_ns: u64,
    to_ns: u64,
}

impl Covered {
    const fn new() -> Self {
        Self { recent: Vec::new(), settled_ns: 0, settled_to_ns: 0 }
    }

    fn add(&mut self, from_ns: u64, to_ns: u64) {
        let mut new = Interval { from_ns: from_ns.max(self.settled_to_ns), to_ns };
        if new.from_ns >= new.to_ns {
            return;
        }
        self.recent.retain(|old| {
            let is_apart = old.to_ns < new.from_ns || new.to_ns < old.from_ns;
            if !is_apart {
                new.from_ns = new.from_ns.min(old.from_ns);
                new.to_ns = new.to_ns.max(old.to_ns);
            }
            is_apart
        });
        let at = self.recent.partition_point(|old| old.to_ns < new.from_ns);
        self.recent.insert(at, new);
        if self.recent.len() > RECENT {
            let first = self.recent.remove(0);
            self.settled_ns += first.to_ns - first.from_ns;
            self.settled_to_ns = first.to_ns;
        }
    }

    fn sum_ns(&self) -> u64 {
        self.settled_ns + self.recent.iter().map(|part| part.to_ns - part.from_ns).sum::<u64>()
    }
}

fn top(all: &[ThreadFigures], count: usize, of: fn(&ThreadFigures) -> u64) -> Vec<ThreadFigures> {
    let mut ranked: Vec<_> = all.iter().filter(|figures| of(figures) > 0).collect();
    ranked.sort_unstable_by(|a, b| of(b).cmp(&of(a)).then(a.thread.cmp(&b.thread)));
    ranked.into_iter().take(count).copied().collect()
}

impl ThreadTimes {
    const fn active_ns(&self) -> u64 {
        self.life_ns - self.idle_ns
    }

    const fn add(&mut self, other: &Self) {
        self.life_ns = self.life_ns.saturating_add(other.life_ns);
        self.io_ns = self.io_ns.saturating_add(other.io_ns);
        self.sync_ns = self.sync_ns.saturating_add(other.sync_ns);
        self.waiting_ns = self.waiting_ns.saturating_add(other.waiting_ns);
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
        self.run_delay_ns = self.run_delay_ns.saturating_add(other.run_delay_ns);
        self.asynchronous_io_ns = self.asynchronous_io_ns.saturating_add(other.asynchronous_io_ns);
        self.idle_ns = self.idle_ns.saturating_add(other.idle_ns);
    }
}

impl WakeTotals {
    const fn add(&mut self, other: &Self) {
        self.wakes += other.wakes;
        self.waited_ns = self.waited_ns.saturating_add(other.waited_ns);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::event::Call;
    use crate::profile::testing::{io, wake};

    const MS: u64 = 1_000_000;

    proptest! {
        #[test]
        fn covered_time_is_that_of_the_union(
            mut parts in prop::collection::vec((0_u64..500, 0_u64..60), 0..RECENT)
        ) {
            parts.sort_by_key(|(from, length)| from + length);
            let mut covered = Covered::new();
            for &(from, length) in &parts {
                covered.add(from, from + length);
            }
            let is_covered =
                |ns: &u64| parts.iter().any(|(from, length)| (*from..from + length).contains(ns));
            prop_assert_eq!(covered.sum_ns(), (0..600).filter(is_covered).count() as u64);
        }

        #[test]
        fn many_intervals_never_cover_more_than_the_union(
            mut parts in prop::collection::vec((0_u64..5_000, 0_u64..60), 0..200)
        ) {
            parts.sort_by_key(|(from, length)| from + length);
            let mut covered = Covered::new();
            for &(from, length) in &parts {
                covered.add(from, from + length);
            }
            let is_covered =
                |ns: &u64| parts.iter().any(|(from, length)| (*from..from + length).contains(ns));
            prop_assert!(covered.sum_ns() <= (0..5_100).filter(is_covered).count() as u64);
            prop_assert!(covered.recent.len() <= RECENT);
        }
    }

    fn added(events: &[Event], length_ns: u64) -> Threads {
        let mut threads = ThreadTable::default();
        for event in events {
            threads.add(event, Class::of(event.op));
        }
        threads.finish(length_ns, true)
    }

    #[test]
    fn a_life_is_divided() {
        let spawn =
            Event { thread: 0, detail: 1, end_ns: 10 * MS, latency_ns: 0, ..io(Op::Spawn, 0, 0) };
        let sync = Event {
            thread: 1,
            end_ns: 40 * MS,
            latency_ns: 20 * MS,
            cpu_ns: 5 * MS,
            ..io(Op::Fsync, 0, 0)
        };
        let exit = Event { thread: 1, end_ns: 60 * MS, latency_ns: 0, ..io(Op::Exit, 0, 0) };
        let threads = added(&[spawn, sync, wake(0, 1, 10 * MS, 55 * MS), exit], 100 * MS);
        assert_eq!(threads.count, 2);
        let times = ThreadTimes {
            life_ns: 50 * MS,
            io_ns: 20 * MS,
            sync_ns: 20 * MS,
            waiting_ns: 10 * MS,
            cpu_ns: 5 * MS,
            run_delay_ns: 0,
            asynchronous_io_ns: 0,
            idle_ns: 15 * MS,
        };
        assert_eq!(threads.busiest[0].times, times);
        assert_eq!(threads.busiest[0].sync_share, 0.4);
        assert_eq!(threads.all.life_ns, 150 * MS);
        let waits = threads.waits.expect("wakes are recorded");
        assert_eq!(waits.pairs[0].waits_for, 0);
        assert_eq!(waits.share_of_think_time, 10.0 / 130.0);
    }

    #[test]
    fn a_child_that_runs_before_its_parent_begins_with_its_first_event() {
        let first = Event { thread: 1, end_ns: 20 * MS, latency_ns: 5 * MS, ..io(Op::Read, 0, 1) };
        let spawn = Event { detail: 1, end_ns: 21 * MS, ..io(Op::Spawn, 0, 0) };
        let threads = added(&[first, spawn], 100 * MS);
        assert_eq!(threads.busiest[0].times.life_ns, 85 * MS);
    }

    #[test]
    fn timers_and_io_are_not_dependencies() {
        let by = |waker: Call, wakee: Call| Event {
            offset: Call::pair(waker as u64, wakee as u64),
            ..wake(0, 1, MS, 2 * MS)
        };
        let events = [
            by(Call::Futex, Call::Futex),
            by(Call::Futex, Call::Sleep),
            by(Call::Poll, Call::Futex),
            by(Call::Futex, Call::Io),
            wake(1, 1, MS, 2 * MS),
        ];
        let waits = added(&events, 10 * MS).waits.expect("wakes are recorded");
        assert_eq!((waits.all.wakes, waits.ignored_wakes), (1, 4));
    }

    #[test]
    fn a_start_that_rounding_moved_does_not_overlap() {
        let mut threads = ThreadTable::default();
        let write = Event { end_ns: 10 * MS, latency_ns: MS, ..io(Op::Write, 0, 10) };
        threads.add(&write, Class::Write);
        let sync = Event { end_ns: 20 * MS, latency_ns: 10 * MS + 50_000, ..io(Op::Fsync, 0, 0) };
        assert_eq!(threads.add(&sync, Class::Sync), 10 * MS);
        let outer = Event { end_ns: 21 * MS, latency_ns: 3 * MS, ..io(Op::Read, 0, 10) };
        assert_eq!(threads.add(&outer, Class::Read), 18 * MS);
        let parallel = Event { flags: Flags::URING, latency_ns: MS + 1, end_ns: 22 * MS, ..outer };
        assert_eq!(threads.add(&parallel, Class::Read), 21 * MS - 1);
    }
}
