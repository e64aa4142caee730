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

use iotax_vdisk::Clock;

use super::io_errors::IoErrors;
use super::latency_target::{Search, Step};
use crate::engine::access::Accesses;
use crate::engine::pace::Schedule;
use crate::engine::window::{Flow, Tally};
use crate::engine::{Deadline, Engine, Io, Op, Outcome, Submitted, pace};
use crate::file_assignment::Span;
use crate::verify::WriteVerifier;

/// Everything a thread's loop works on besides its engine and clock; made before the start.
pub(crate) struct Worker<'a> {
    pub accesses: Accesses,
    /// `Some` in an open loop.
    pub schedule: Option<Schedule>,
    pub tally: Tally<'a>,
    pub verifier: WriteVerifier,
    /// The first block that is not as it was written ends it.
    pub verify_ends: bool,
    pub io_errors: IoErrors,
    pub slots: Slots,
    /// What the thread uses of each of its files.
    pub span: Span,
    /// The length of a pause.
    pub think_ns: u64,
    /// The end of the pause that it is in; 0 if it is in none.
    pub resume_ns: u64,
    /// Looks for its depth.
    pub search: Option<Search>,
    /// In proportion to other threads.
    pub flow: Option<pace::Turn<'a>>,
}

/// An I/O in flight.
#[derive(Clone, Copy)]
struct Slot {
    io: Io,
    submitted_ns: u64,
    intended_ns: u64,
}

/// The I/Os that may be in flight.
pub(crate) struct Slots {
    all: Box<[Slot]>,
    free: Vec<u32>,
    /// Checks that are over, but not judged.
    to_judge: Vec<(u32, Outcome)>,
    /// Reads, writes and trims in flight: syncs take a slot, but are no I/O in the sense of the
    /// record.
    in_flight: u64,
}

impl Slots {
    /// `depth` free slots.
    pub(crate) fn new(depth: u32) -> Self {
        let empty = Slot { io: Io::SYNC, submitted_ns: 0, intended_ns: 0 };
        Self {
            all: vec![empty; depth as usize].into_boxed_slice(),
            free: (0..depth).rev().collect(),
            to_judge: Vec::with_capacity(depth as usize),
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
    /// None, but something to do between two of them.
    Mark(Io),
    NoMore,
}

/// Runs the worker until its window closes, its bytes are moved, it is told to stop, or errors do
/// not end. Leaves nothing in flight.
pub(crate) fn drive<E: Engine, C: Clock + ?Sized, const OPEN: bool>(
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
        worker.tally.waited(before_ns, now_ns);
        if now_ns >= worker.tally.next_edge_ns && worker.tally.on_edge(now_ns) == Flow::Stop {
            break;
        }
        if worker.reap::<E, OPEN>(engine, now_ns) {
            let before_ns = std::mem::replace(&mut now_ns, clock.now_ns());
            worker.tally.passed(worker.slots.in_flight, before_ns, now_ns);
        }
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
        if !worker.has_room() {
            return Next::Wait(worker.until_edge(*now_ns));
        }
        if let Some(wait) = worker.others_first(*now_ns) {
            return Next::Wait(wait);
        }
        let io = match worker.next_io(engine, slot) {
            Drawn::Io(io) => io,
            Drawn::NoMore if worker.slots.none_taken() => return Next::Over,
            Drawn::NoMore | Drawn::NotNow => return Next::Wait(worker.until_edge(*now_ns)),
            Drawn::Mark(mark) => match worker.between_ios(mark, engine, clock, now_ns) {
                Some(deadline) => return Next::Wait(deadline),
                None => continue,
            },
        };
        if io.op == Op::Write && worker.verifier.takes_time() {
            // Data that takes time to make is no part of a latency.
            let made_ns = clock.now_ns();
            worker.tally.passed(worker.slots.in_flight, *now_ns, made_ns);
            *now_ns = made_ns;
        }
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
                    worker.verifier.over(io, outcome);
                    return Next::Over;
                }
                worker.count::<OPEN>(io, outcome, *now_ns, intended_ns, done_ns);
                *now_ns = done_ns;
                if io.check {
                    worker.judge(io, outcome, engine.read_buffer(slot));
                    // Comparing data does not count as latency.
                    *now_ns = clock.now_ns();
                    worker.tally.passed(worker.slots.in_flight, done_ns, *now_ns);
                }
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
                worker.verifier.over(io, Err(Errno::AGAIN));
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

    /// Whether the depth that is tried lets another I/O begin.
    #[inline]
    fn has_room(&mut self) -> bool {
        let taken = self.slots.all.len() - self.slots.free.len();
        self.search.as_mut().is_none_or(|search| search.has_room(taken))
    }

    /// What an I/O that took so long says of the depth that is tried.
    #[inline]
    fn judge_depth(&mut self, latency_ns: u64, done_ns: u64) {
        let Some(search) = &mut self.search else { return };
        match search.completed(latency_ns, done_ns) {
            Step::Same => {}
            Step::Found => self.tally.restart(done_ns),
            Step::Done => self.tally.give_up(),
            Step::Missed => {
                self.io_errors.missed_latency();
                self.tally.give_up();
            }
        }
    }

    /// Until when to wait, if other threads have to catch up before this one goes on. It sleeps
    /// once nothing is in flight any more, as in fio.
    #[inline]
    fn others_first(&self, now_ns: u64) -> Option<Deadline> {
        /// fio looks again and again; a thread that is ahead can wait for as long as an I/O takes.
        const GLANCE_NS: u64 = 10_000;
        let flow = self.flow.as_ref()?;
        if !flow.is_ahead() {
            return None;
        }
        if flow.sleep_ns > 0 && !self.slots.none_taken() {
            return Some(self.until_edge(now_ns));
        }
        Some(self.until_start(now_ns, now_ns + flow.sleep_ns.max(GLANCE_NS)))
    }

    /// The next I/O, with its data in place if it is a write.
    #[inline]
    fn next_io<E: Engine>(&mut self, engine: &mut E, slot: u32) -> Drawn {
        let Some(io) = self.accesses.next() else { return Drawn::NoMore };
        match io.op {
            Op::Read if io.check && !self.verifier.may_check(io) => {
                self.accesses.put_back();
                Drawn::NotNow
            }
            Op::Read | Op::Sync => Drawn::Io(io),
            Op::Trim if self.verifier.may_trim(io) => Drawn::Io(io),
            Op::Write if self.verifier.prepare(io, engine.write_buffer(slot, io.bytes)) => {
                Drawn::Io(io)
            }
            Op::Write | Op::Trim => {
                self.accesses.put_back();
                Drawn::NotNow
            }
            Op::Pause | Op::Forget => Drawn::Mark(io),
        }
    }

    /// Does what is to be done between two I/Os, or says until when to wait first. None of it is
    /// part of a latency: as in fio, a pause begins when nothing is in flight any more.
    #[cold]
    #[inline(never)]
    fn between_ios<E: Engine, C: Clock + ?Sized>(
        &mut self,
        mark: Io,
        engine: &mut E,
        clock: &C,
        now_ns: &mut u64,
    ) -> Option<Deadline> {
        if mark.op == Op::Forget {
            let touched = Span { start: mark.offset, bytes: mark.bytes.into() };
            let span = if mark.bytes == 0 { self.span } else { touched.in_pages() };
            engine.forget(mark.file, span);
            let before_ns = std::mem::replace(now_ns, clock.now_ns());
            self.tally.passed(self.slots.in_flight, before_ns, *now_ns);
            return None;
        }
        if !self.slots.none_taken() {
            self.accesses.put_back();
            return Some(self.until_edge(*now_ns));
        }
        if self.resume_ns == 0 {
            self.resume_ns = *now_ns + self.think_ns;
        }
        if *now_ns < self.resume_ns {
            self.accesses.put_back();
            return Some(self.until_start(*now_ns, self.resume_ns));
        }
        self.resume_ns = 0;
        None
    }

    #[inline]
    fn started<const OPEN: bool>(&mut self, io: Io, now_ns: u64, intended_ns: u64) {
        if let Some(flow) = &mut self.flow
            && io.op != Op::Sync
        {
            flow.count();
        }
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
    pub(crate) fn count<const OPEN: bool>(
        &mut self,
        io: Io,
        outcome: Outcome,
        submitted_ns: u64,
        intended_ns: u64,
        done_ns: u64,
    ) {
        if io.op == Op::Write {
            self.verifier.over(io, outcome);
        }
        if outcome == Ok(io.bytes) {
            self.tally.completed::<OPEN>(io, submitted_ns, intended_ns, done_ns);
            if io.op != Op::Sync {
                self.judge_depth(done_ns - submitted_ns, done_ns);
            }
            return;
        }
        if let Some(moved) = self.note_error(io, outcome) {
            let io = Io { bytes: moved, ..io };
            self.tally.completed::<OPEN>(io, submitted_ns, intended_ns, done_ns);
        }
    }

    /// An I/O that failed, or moved less than it should have; the latter is still an I/O, and
    /// `Some` says of how many bytes.
    #[cold]
    #[inline(never)]
    fn note_error(&mut self, io: Io, outcome: Outcome) -> Option<u32> {
        let successes = self.tally.counts.iter().map(|counts| counts.ios).sum();
        if self.io_errors.note(io, outcome, successes) == Flow::Stop {
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

    /// Counts what is over; true if some of it was checks, which take time.
    #[inline]
    fn reap<E: Engine, const OPEN: bool>(&mut self, engine: &mut E, now_ns: u64) -> bool {
        engine.reap(now_ns, |slot, outcome| {
            let Slot { io, submitted_ns, intended_ns } = self.slots.all[slot as usize];
            if io.check {
                self.slots.to_judge.push((slot, outcome));
            } else {
                self.slots.free.push(slot);
            }
            self.slots.in_flight -= u64::from(io.op != Op::Sync);
            self.count::<OPEN>(io, outcome, submitted_ns, intended_ns, now_ns);
        });
        let any_checks = !self.slots.to_judge.is_empty();
        while let Some((slot, outcome)) = self.slots.to_judge.pop() {
            let io = self.slots.all[slot as usize].io;
            self.judge(io, outcome, engine.read_buffer(slot));
            self.slots.free.push(slot);
        }
        any_checks
    }

    /// Looks at what a check has read.
    #[inline(never)]
    fn judge(&mut self, io: Io, outcome: Outcome, data: &[u8]) {
        let target = self.io_errors.target(io.file);
        let is_right = self.verifier.checked(io, outcome, &data[..io.bytes as usize], target);
        if !is_right && self.verify_ends {
            self.tally.give_up();
        }
    }

    /// Completions after the end: not counted, but a write may have to be verified later.
    fn drain<E: Engine>(&mut self, engine: &mut E, now_ns: u64) {
        engine.reap(now_ns, |slot, outcome| {
            self.verifier.over(self.slots.all[slot as usize].io, outcome);
            self.slots.free.push(slot);
        });
    }
}

#[cfg(test)]
mod tests;
