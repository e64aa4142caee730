//! The loop that issues I/Os: the hot path.
//!
//! Compiled once per engine and kind of loop. Per I/O it draws, submits, reads the clock once and
//! counts; it never allocates, locks, formats or makes a system call of its own.
//!
//! # Which clock reading is which time
//!
//! An engine that is done when `submit` returns: one reading, taken then, is the completion time
//! of this I/O and the submission time of the next. What happens in between - counting this one,
//! drawing the next, some 20 ns - is part of the next latency, as it is part of the rate.
//!
//! An engine with I/Os in flight: one reading after each wait is the completion time of
//! everything reaped after it and the submission time of everything submitted next, because all
//! that leaves the process in one system call right after.
//!
//! In both cases every nanosecond of the loop belongs to the latencies in flight, so throughput
//! times mean latency equals the depth kept (Little's law) unless time itself is wrong.

use rustix::io::Errno;

use super::access::Accesses;
use iotax_vdisk::Clock;

use super::engines::{Deadline, Engine, Submitted};
use super::io::{Io, Op, Outcome};
use super::pace::Schedule;
use super::trouble::Trouble;
use super::window::{Flow, Tally};
use crate::verify::Scribe;

/// Everything a thread's loop works on besides its engine and clock; made before the start.
pub struct Worker<'a> {
    pub accesses: Accesses,
    /// `Some` in an open loop.
    pub schedule: Option<Schedule>,
    pub tally: Tally<'a>,
    pub scribe: Scribe,
    pub trouble: Trouble,
    pub slots: Slots,
}

/// An I/O in flight.
#[derive(Clone, Copy)]
struct Slot {
    io: Io,
    submitted_ns: u64,
    intended_ns: u64,
}

/// The I/Os that may be in flight.
pub struct Slots {
    all: Box<[Slot]>,
    free: Vec<u32>,
    /// Reads and writes in flight: syncs take a slot, but are no I/O in the sense of the record.
    in_flight: u64,
}

impl Slots {
    /// `depth` free slots.
    pub fn new(depth: u32) -> Self {
        let empty = Slot { io: Io::SYNC, submitted_ns: 0, intended_ns: 0 };
        Self {
            all: vec![empty; depth as usize].into_boxed_slice(),
            free: (0..depth).rev().collect(),
            in_flight: 0,
        }
    }

    fn none_taken(&self) -> bool {
        self.free.len() == self.all.len()
    }
}

/// What the loop does after issuing.
enum Next {
    /// Waits for completions, and for the next intended start if that is earlier.
    Wait(Deadline),
    /// Everything asked for was issued and has completed, or the window is over.
    Over,
}

/// What comes next.
enum Drawn {
    Io(Io),
    /// One that must wait for one in flight.
    NotNow,
    NoMore,
}

/// Runs the worker until its window closes, its bytes are moved, it is told to stop, or errors do
/// not end. Leaves nothing in flight.
pub fn drive<E: Engine, C: Clock + ?Sized, const OPEN: bool>(
    engine: &mut E,
    clock: &C,
    worker: &mut Worker<'_>,
) {
    let mut now_ns = clock.now_ns();
    while let Next::Wait(deadline) = issue::<E, C, OPEN>(engine, clock, worker, &mut now_ns) {
        let in_flight = worker.slots.in_flight;
        if worker.slots.none_taken() {
            clock.sleep_until(deadline.until_ns);
        } else {
            engine.wait(deadline);
        }
        let before_ns = std::mem::replace(&mut now_ns, clock.now_ns());
        worker.tally.passed(in_flight, before_ns, now_ns);
        if now_ns >= worker.tally.next_edge_ns && worker.tally.on_edge(now_ns) == Flow::Stop {
            break;
        }
        worker.reap::<E, OPEN>(engine, now_ns);
    }
    worker.tally.finish(now_ns, worker.accesses.is_exhausted());
    while !worker.slots.none_taken() {
        let now_ns = clock.now_ns();
        engine.wait(Deadline { now_ns, until_ns: now_ns + 100_000_000, precise: false });
        let drained_ns = clock.now_ns();
        worker.drain(engine, drained_ns);
    }
}

/// Issues I/Os while slots are free and it is time. Leaves the latest clock reading in `now_ns`.
#[inline]
fn issue<E: Engine, C: Clock + ?Sized, const OPEN: bool>(
    engine: &mut E,
    clock: &C,
    worker: &mut Worker<'_>,
    now_ns: &mut u64,
) -> Next {
    loop {
        if *now_ns >= worker.tally.next_edge_ns && worker.tally.on_edge(*now_ns) == Flow::Stop {
            return Next::Over;
        }
        let Some(&slot) = worker.slots.free.last() else {
            return Next::Wait(worker.until_edge(*now_ns));
        };
        let intended_ns = match &worker.schedule {
            Some(schedule) if OPEN => schedule.peek(),
            _ => *now_ns,
        };
        if OPEN && intended_ns > *now_ns {
            return Next::Wait(worker.until_start(*now_ns, intended_ns));
        }
        let io = match worker.next_io(engine, slot) {
            Drawn::Io(io) => io,
            Drawn::NoMore if worker.slots.none_taken() => return Next::Over,
            Drawn::NoMore | Drawn::NotNow => return Next::Wait(worker.until_edge(*now_ns)),
        };
        match engine.submit(slot, io) {
            Submitted::Done(outcome) => {
                let done_ns = clock.now_ns();
                let is_io = u64::from(io.op != Op::Sync);
                worker.tally.passed(worker.slots.in_flight + is_io, *now_ns, done_ns);
                worker.started::<OPEN>(io, *now_ns, intended_ns);
                if done_ns >= worker.tally.next_edge_ns
                    && worker.tally.on_edge(done_ns) == Flow::Stop
                {
                    *now_ns = done_ns;
                    if io.op == Op::Write {
                        worker.scribe.wrote(io, outcome);
                    }
                    return Next::Over;
                }
                worker.count::<OPEN>(io, outcome, *now_ns, intended_ns, done_ns);
                *now_ns = done_ns;
            }
            Submitted::InFlight => {
                worker.slots.free.pop();
                worker.slots.all[slot as usize] = Slot { io, submitted_ns: *now_ns, intended_ns };
                worker.started::<OPEN>(io, *now_ns, intended_ns);
                // Its latency begins before it is submitted, and so does its being in flight.
                worker.slots.in_flight += u64::from(io.op != Op::Sync);
                if E::SUBMIT_COSTS {
                    let submitted_ns = clock.now_ns();
                    worker.tally.passed(worker.slots.in_flight, *now_ns, submitted_ns);
                    *now_ns = submitted_ns;
                }
            }
            Submitted::Full => {
                worker.accesses.put_back();
                worker.scribe.wrote(io, Err(Errno::AGAIN));
                return Next::Wait(worker.until_edge(*now_ns));
            }
        }
    }
}

impl Worker<'_> {
    /// Nothing to do but to wait for completions, and to look around at the next edge.
    #[inline]
    fn until_edge(&self, now_ns: u64) -> Deadline {
        Deadline { now_ns, until_ns: self.tally.next_edge_ns, precise: false }
    }

    #[inline]
    fn until_start(&self, now_ns: u64, intended_ns: u64) -> Deadline {
        let precise = intended_ns <= self.tally.next_edge_ns;
        Deadline { now_ns, until_ns: intended_ns.min(self.tally.next_edge_ns), precise }
    }

    /// The next I/O, with its data in place if it is a write.
    #[inline]
    fn next_io<E: Engine>(&mut self, engine: &mut E, slot: u32) -> Drawn {
        let Some(io) = self.accesses.next() else { return Drawn::NoMore };
        if io.op == Op::Write && !self.scribe.prepare(io, engine.write_buffer(slot, io.bytes)) {
            self.accesses.put_back();
            return Drawn::NotNow;
        }
        Drawn::Io(io)
    }

    #[inline]
    fn started<const OPEN: bool>(&mut self, io: Io, now_ns: u64, intended_ns: u64) {
        if OPEN && io.op != Op::Sync {
            let slip_ns = now_ns - intended_ns;
            self.tally.max_slip_ns = self.tally.max_slip_ns.max(slip_ns);
            if let Some(schedule) = &mut self.schedule {
                schedule.advance();
            }
        }
    }

    /// Counts an I/O that is over.
    #[inline]
    pub fn count<const OPEN: bool>(
        &mut self,
        io: Io,
        outcome: Outcome,
        submitted_ns: u64,
        intended_ns: u64,
        done_ns: u64,
    ) {
        if io.op == Op::Write {
            self.scribe.wrote(io, outcome);
        }
        if outcome == Ok(io.bytes) {
            self.tally.completed::<OPEN>(io, submitted_ns, intended_ns, done_ns);
            return;
        }
        if let Some(moved) = self.trouble(io, outcome) {
            let io = Io { bytes: moved, ..io };
            self.tally.completed::<OPEN>(io, submitted_ns, intended_ns, done_ns);
        }
    }

    /// An I/O that failed, or moved less than it should have; the latter is still an I/O, and
    /// `Some` says of how many bytes.
    #[cold]
    #[inline(never)]
    fn trouble(&mut self, io: Io, outcome: Outcome) -> Option<u32> {
        let successes = self.tally.counts.iter().map(|counts| counts.ios).sum();
        if self.trouble.note(io, outcome, successes) == Flow::Stop {
            self.tally.give_up();
        }
        let counts = &mut self.tally.counts[io.op as usize];
        match outcome {
            Ok(moved) if moved > 0 => {
                counts.short_ios += 1;
                Some(moved)
            }
            Ok(_) | Err(_) => {
                counts.errors += 1;
                None
            }
        }
    }

    #[inline]
    fn reap<E: Engine, const OPEN: bool>(&mut self, engine: &mut E, now_ns: u64) {
        engine.reap(now_ns, |slot, outcome| {
            let Slot { io, submitted_ns, intended_ns } = self.slots.all[slot as usize];
            self.slots.free.push(slot);
            self.slots.in_flight -= u64::from(io.op != Op::Sync);
            self.count::<OPEN>(io, outcome, submitted_ns, intended_ns, now_ns);
        });
    }

    /// Completions after the end: not counted, but a write may have to be verified.
    fn drain<E: Engine>(&mut self, engine: &mut E, now_ns: u64) {
        engine.reap(now_ns, |slot, outcome| {
            let io = self.slots.all[slot as usize].io;
            if io.op == Op::Write {
                self.scribe.wrote(io, outcome);
            }
            self.slots.free.push(slot);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use iotax_spec::{Job, Pace};
    use iotax_vdisk::ManualClock;

    use super::super::access::Span;
    use super::super::testing::job;
    use super::super::window::{StopFlags, Window};
    use super::*;

    const MS: u64 = 1_000_000;

    /// Answers every I/O after `service_ns` of virtual time, at once (then time passes inside
    /// `submit`) or later.
    struct Simulated {
        clock: Arc<ManualClock>,
        service_ns: u64,
        later: bool,
        pending: Vec<(u64, u32, Io)>,
        most_in_flight: usize,
        buffer: Vec<u8>,
    }

    impl Engine for Simulated {
        const SUBMIT_COSTS: bool = false;

        fn submit(&mut self, slot: u32, io: Io) -> Submitted {
            if !self.later {
                self.clock.advance(self.service_ns);
                return Submitted::Done(Ok(io.bytes));
            }
            self.pending.push((self.clock.now_ns() + self.service_ns, slot, io));
            self.most_in_flight = self.most_in_flight.max(self.pending.len());
            Submitted::InFlight
        }

        fn wait(&mut self, deadline: Deadline) {
            let first = self.pending.iter().map(|pending| pending.0).min().unwrap();
            self.clock.sleep_until(first.min(deadline.until_ns));
        }

        fn reap(&mut self, now_ns: u64, mut completed: impl FnMut(u32, Outcome)) {
            self.pending.retain(|(done_ns, slot, io)| {
                if *done_ns <= now_ns {
                    completed(*slot, Ok(io.bytes));
                }
                *done_ns > now_ns
            });
        }

        fn write_buffer(&mut self, _: u32, bytes: u32) -> &mut [u8] {
            &mut self.buffer[..bytes as usize]
        }

        fn read_buffer(&mut self, _: u32) -> &[u8] {
            &self.buffer
        }
    }

    /// What is counted in a window of 1 s after 100 ms, and the most I/Os in flight.
    fn simulate(job: &Job, service_ns: u64, later: bool) -> (TallyFacts, usize) {
        let clock = Arc::new(ManualClock::starting_at(5 * MS));
        let never = AtomicBool::new(false);
        let start_ns = 10 * MS;
        let window = Window { open_ns: start_ns + 100 * MS, close_ns: start_ns + 1100 * MS };
        let flags = StopFlags { user: &never, broken: &never };
        let schedule = match job.pace {
            Pace::Closed => None,
            Pace::Even { iops } => Some(Schedule::even(start_ns, iops, 0, 1)),
            Pace::Poisson { iops } => Some(Schedule::poisson(start_ns, iops, 1, 4)),
        };
        let open = schedule.is_some();
        let mut worker = Worker {
            accesses: Accesses::new(job, Span { start: 0, bytes: 1 << 20 }, 1),
            schedule,
            tally: Tally::new(job, window, start_ns, flags, None),
            scribe: Scribe::new(1),
            trouble: Trouble::new("simulated".to_owned()),
            slots: Slots::new(job.queue_depth),
        };
        clock.sleep_until(start_ns);
        let mut engine = Simulated {
            clock: Arc::clone(&clock),
            service_ns,
            later,
            pending: Vec::new(),
            most_in_flight: 0,
            buffer: vec![0; 4096],
        };
        if open {
            drive::<_, _, true>(&mut engine, &*clock, &mut worker);
        } else {
            drive::<_, _, false>(&mut engine, &*clock, &mut worker);
        }
        assert!(worker.slots.none_taken() && engine.pending.is_empty());
        let (in_flight_io_ns, max_slip_ns) =
            (worker.tally.in_flight_io_ns, worker.tally.max_slip_ns);
        let read = worker.tally.counts[0].take();
        (TallyFacts { read, in_flight_io_ns, max_slip_ns }, engine.most_in_flight)
    }

    struct TallyFacts {
        read: iotax_record::DirectionRecord,
        in_flight_io_ns: u64,
        max_slip_ns: u64,
    }

    fn paced(pace: Pace, queue_depth: u32) -> Job {
        Job { pace, queue_depth, ..job() }
    }

    #[test]
    fn a_closed_loop_keeps_its_depth_in_flight() {
        for (later, depth, expected) in [(false, 1, 1000), (true, 1, 1000), (true, 8, 8000)] {
            let (facts, most) = simulate(&paced(Pace::Closed, depth), MS, later);
            assert_eq!(facts.read.ios, expected);
            assert_eq!(facts.read.per_second_ios, [u32::try_from(expected).unwrap()]);
            assert_eq!(facts.in_flight_io_ns, u64::from(depth) * 1000 * MS);
            assert_eq!(most, if later { depth as usize } else { 0 });
            assert_eq!(facts.read.service.max_ns() / MS, 1);
        }
    }

    #[test]
    fn an_open_loop_starts_each_io_when_it_is_meant_to() {
        for later in [false, true] {
            let (facts, most) = simulate(&paced(Pace::Even { iops: 500.0 }, 4), MS, later);
            assert_eq!(facts.read.ios, 500);
            assert_eq!((facts.max_slip_ns, most), (0, usize::from(later)));
            assert_eq!(facts.in_flight_io_ns, 500 * MS);
            let response = facts.read.response.unwrap();
            assert_eq!(response.max_ns(), facts.read.service.max_ns());
        }
    }

    #[test]
    fn an_overloaded_open_loop_skips_nothing_and_shows_the_wait_in_the_response() {
        // Offered 2000 per second, served 1000: after 1.1 s the backlog is 1100 deep, half a
        // millisecond apart, and the last I/O has waited 550 ms.
        for (later, service_ns, depth) in [(false, MS, 1), (true, 4 * MS, 4)] {
            let (facts, most) =
                simulate(&paced(Pace::Even { iops: 2000.0 }, depth), service_ns, later);
            assert!(facts.read.ios.abs_diff(1000) <= 4);
            assert!(most <= depth as usize);
            let slip_ms = facts.max_slip_ns / MS;
            assert!((540..=551).contains(&slip_ms), "{slip_ms}");
            assert!(facts.read.service.max_ns() < 5 * MS);
            assert!(facts.read.response.unwrap().max_ns() > 500 * MS);
        }
    }

    #[test]
    fn poisson_arrivals_that_meet_a_busy_server_wait_as_in_an_m_d_1_queue() {
        // Mean wait of M/D/1: rho * s / (2 * (1 - rho)) (Pollaczek and Khinchine).
        let (rate, service_ns) = (50_000.0, 10_000);
        let (facts, _) = simulate(&paced(Pace::Poisson { iops: rate }, 1), service_ns, false);
        let rho = rate * service_ns as f64 / 1e9;
        let expected = service_ns as f64 * (1.0 + rho / (2.0 * (1.0 - rho)));
        let mean = facts.read.response.unwrap().mean_ns();
        assert!((mean / expected - 1.0).abs() < 0.1, "{mean} instead of {expected}");
    }
}
