//! The counters of one thread, and their edges: those of the measured window and of its seconds,
//! and a check of the stop flags every 10 ms.
//!
//! The loop compares its clock reading with the next edge once per I/O; all other handling of time
//! happens here, at edges. An I/O belongs exactly to the window and the second in which it
//! completed: its completion time is compared before it is counted.

use iotax_experiment::Job;
use iotax_record::{DirectionRecord, LatencyHistogram};

use super::stop::StopFlags;
use super::{Io, Op};
use crate::counters::Usage;
use crate::driver::LoadProgress;

/// How often a thread looks at the stop flags and shows its progress.
const POLL_INTERVAL_NS: u64 = 10_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// The measured window on the trial's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// First instant.
    pub open_ns: u64,
    /// First instant after it.
    pub close_ns: u64,
}

impl Window {
    /// Whether no instant lies in it.
    pub(crate) const fn is_empty(self) -> bool {
        self.close_ns <= self.open_ns
    }
}

/// When a thread may issue I/O, on the trial's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    /// First instant.
    pub start_ns: u64,
    /// First instant after it; `u64::MAX` where the trial's end is the thread's.
    pub end_ns: u64,
}

impl Turn {
    /// Of a thread of `job` in a trial that starts at `start_ns`.
    pub(crate) fn of(job: &Job, start_ns: u64) -> Self {
        let end_ns = job.end_after_ns.map_or(u64::MAX, |after| start_ns.saturating_add(after));
        Self { start_ns: start_ns.saturating_add(job.start_delay_ns), end_ns }
    }
}

/// Whether the loop goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// It does.
    Go,
    /// The window or the job's own time is over, or somebody wants to stop.
    Stop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Ramp,
    Open,
    Closed,
}

/// Everything one thread counts.
pub(crate) struct Tally<'a> {
    /// What of the trial's window is the thread's: it closes with the thread's turn, if that is
    /// earlier.
    window: Window,
    /// The last instant of the trial's window.
    trial_closes_ns: u64,
    phase: Phase,
    given_up: bool,
    flags: StopFlags<'a>,
    live: Option<&'a LoadProgress>,
    shown: (u64, u64),
    next_second_ns: u64,
    /// The loop calls [`Tally::on_edge`] once its clock reads this or more.
    pub next_edge_ns: u64,
    /// By [`Op`]: reads, writes, trims, syncs.
    pub counts: [Counts; 4],
    /// I/O-nanoseconds in flight in the window.
    pub in_flight_io_ns: u64,
    in_flight_lately: u64,
    /// Time in the window in which the loop did nothing but wait.
    pub waiting_ns: u64,
    /// Latest start after the intended time, in the window.
    pub max_slip_ns: u64,
    /// The part of the window in which this thread ran.
    pub active: (u64, u64),
    /// What the thread used in the window.
    pub usage: Usage,
}

impl<'a> Tally<'a> {
    /// Counters for a thread in its turn.
    pub(crate) fn new(
        job: &Job,
        window: Window,
        turn: Turn,
        flags: StopFlags<'a>,
        live: Option<&'a LoadProgress>,
    ) -> Self {
        let trial_closes_ns = window.close_ns;
        let window = Window { close_ns: window.close_ns.min(turn.end_ns), ..window };
        let from_ns = turn.start_ns.max(window.open_ns);
        let seconds = usize::try_from((trial_closes_ns - window.open_ns) / SECOND_NS).unwrap_or(0);
        let open_loop = job.pace.offered_iops().is_some();
        let counts = || Counts::new(seconds, open_loop);
        Self {
            window,
            trial_closes_ns,
            phase: Phase::Ramp,
            given_up: false,
            flags,
            live,
            shown: (0, 0),
            next_second_ns: window.open_ns + SECOND_NS,
            next_edge_ns: turn.start_ns.min(window.open_ns),
            counts: [counts(), counts(), counts(), counts()],
            in_flight_io_ns: 0,
            in_flight_lately: 0,
            waiting_ns: 0,
            max_slip_ns: 0,
            active: (from_ns, window.close_ns.max(from_ns)),
            usage: Usage::default(),
        }
    }

    /// `in_flight` I/Os were under way from `from_ns` to `to_ns`, two readings of the clock.
    #[inline]
    pub(crate) fn passed(&mut self, in_flight: u64, from_ns: u64, to_ns: u64) {
        self.in_flight_io_ns += in_flight * (to_ns - from_ns);
        self.in_flight_lately = in_flight;
    }

    /// The loop waited from `from_ns` to `to_ns`.
    #[inline]
    pub(crate) fn waited(&mut self, from_ns: u64, to_ns: u64) {
        self.waiting_ns += to_ns - from_ns;
    }

    /// Counts an I/O that moved all its bytes.
    #[inline]
    pub(crate) fn completed<const OPEN: bool>(
        &mut self,
        io: Io,
        submitted_ns: u64,
        intended_ns: u64,
        done_ns: u64,
    ) {
        let counts = &mut self.counts[io.op as usize];
        counts.ios += 1;
        counts.bytes += u64::from(io.bytes);
        counts.service.record(done_ns - submitted_ns);
        if OPEN && let Some(response) = &mut counts.response {
            response.record(done_ns.saturating_sub(intended_ns));
        }
    }

    /// Does what is due at `now_ns`, and says when to come again ([`Tally::next_edge_ns`]).
    #[cold]
    #[inline(never)]
    pub(crate) fn on_edge(&mut self, now_ns: u64) -> Flow {
        if self.phase == Phase::Ramp && now_ns >= self.first_mark_ns() {
            if self.window.is_empty() {
                return Flow::Stop;
            }
            self.open(now_ns);
        }
        if self.phase == Phase::Open {
            while now_ns.min(self.window.close_ns) >= self.next_second_ns {
                self.counts.iter_mut().for_each(Counts::end_second);
                self.next_second_ns += SECOND_NS;
            }
            if now_ns >= self.window.close_ns {
                self.close(now_ns);
            }
        }
        self.show();
        if self.phase == Phase::Closed || self.given_up || self.flags.raised() {
            return Flow::Stop;
        }
        let mark_ns = match self.phase {
            Phase::Ramp => self.first_mark_ns(),
            Phase::Open | Phase::Closed => self.next_second_ns.min(self.window.close_ns),
        };
        self.next_edge_ns = mark_ns.min(now_ns + POLL_INTERVAL_NS);
        Flow::Go
    }

    /// The end of the ramp, or of a turn that is over before that.
    fn first_mark_ns(&self) -> u64 {
        self.window.open_ns.min(self.window.close_ns)
    }

    /// Makes the loop stop at its next turn.
    pub(crate) fn give_up(&mut self) {
        self.given_up = true;
        self.next_edge_ns = 0;
    }

    /// What was counted so far does not count: the thread's part of the window begins now.
    #[cold]
    pub(crate) fn restart(&mut self, now_ns: u64) {
        if self.phase != Phase::Open {
            return;
        }
        self.show();
        self.shown = (0, 0);
        self.counts.iter_mut().for_each(Counts::restart);
        (self.in_flight_io_ns, self.max_slip_ns) = (0, 0);
        self.active.0 = now_ns;
        self.usage = Usage::of_this_thread();
    }

    fn open(&mut self, now_ns: u64) {
        self.phase = Phase::Open;
        self.show();
        self.shown = (0, 0);
        self.counts.iter_mut().for_each(Counts::reset);
        self.in_flight_io_ns = self.in_flight_lately * (now_ns - self.window.open_ns);
        self.waiting_ns = 0;
        self.max_slip_ns = 0;
        self.usage = Usage::of_this_thread();
    }

    fn close(&mut self, now_ns: u64) {
        self.phase = Phase::Closed;
        self.in_flight_io_ns -=
            (self.in_flight_lately * (now_ns - self.window.close_ns)).min(self.in_flight_io_ns);
        self.end_last_second();
        self.usage = Usage::of_this_thread().since(&self.usage);
    }

    /// The second in which the thread's work is done is complete, if it lies in the trial's window.
    fn end_last_second(&mut self) {
        let second_began_ns = self.next_second_ns - SECOND_NS;
        if second_began_ns < self.window.close_ns && self.next_second_ns <= self.trial_closes_ns {
            self.counts.iter_mut().for_each(Counts::end_second);
        }
    }

    /// The thread ends at `now_ns`, possibly before the window does: because it has moved all its
    /// bytes (`job_done`: the second it is in is then complete), or because it was stopped.
    pub(crate) fn finish(&mut self, now_ns: u64, job_done: bool) {
        match self.phase {
            Phase::Ramp => {
                // Nothing of it fell into the window.
                self.show();
                self.shown = (0, 0);
                self.counts.iter_mut().for_each(Counts::reset);
                (self.in_flight_io_ns, self.max_slip_ns) = (0, 0);
                self.active.1 = self.active.0;
            }
            Phase::Open => {
                self.active.1 = now_ns.clamp(self.active.0, self.window.close_ns);
                if job_done {
                    self.end_last_second();
                }
                self.usage = Usage::of_this_thread().since(&self.usage);
            }
            Phase::Closed => {}
        }
        self.phase = Phase::Closed;
        self.show();
    }

    fn show(&mut self) {
        if let Some(live) = self.live {
            let moved = &self.counts[..Op::Sync as usize];
            let ios = moved.iter().map(|counts| counts.ios).sum();
            let bytes = moved.iter().map(|counts| counts.bytes).sum();
            live.add(ios - self.shown.0, bytes - self.shown.1);
            self.shown = (ios, bytes);
        }
    }
}

// What one thread counts of one kind of I/O.

/// Counters of one kind of I/O.
pub(crate) struct Counts {
    pub ios: u64,
    pub bytes: u64,
    pub errors: u64,
    pub short_ios: u64,
    pub service: LatencyHistogram,
    pub response: Option<LatencyHistogram>,
    per_second_ios: Vec<u32>,
    per_second_bytes: Vec<u64>,
    ios_at_second: u64,
    bytes_at_second: u64,
}

impl Counts {
    /// Room for so many seconds.
    pub(crate) fn new(seconds: usize, open_loop: bool) -> Self {
        Self {
            ios: 0,
            bytes: 0,
            errors: 0,
            short_ios: 0,
            service: LatencyHistogram::new(),
            response: open_loop.then(LatencyHistogram::new),
            per_second_ios: Vec::with_capacity(seconds),
            per_second_bytes: Vec::with_capacity(seconds),
            ios_at_second: 0,
            bytes_at_second: 0,
        }
    }

    /// Forgets what was counted before the window.
    pub(crate) fn reset(&mut self) {
        (self.ios, self.bytes, self.errors, self.short_ios) = (0, 0, 0, 0);
        (self.ios_at_second, self.bytes_at_second) = (0, 0);
        // A histogram is a quarter of a MiB; one that was never used is not even in memory.
        for histogram in [Some(&mut self.service), self.response.as_mut()].into_iter().flatten() {
            if histogram.count() > 0 {
                histogram.reset();
            }
        }
        self.per_second_ios.clear();
        self.per_second_bytes.clear();
    }

    /// The same within the window: its seconds so far count nothing.
    pub(crate) fn restart(&mut self) {
        let seconds = self.per_second_ios.len();
        self.reset();
        (0..seconds).for_each(|_| self.end_second());
    }

    /// What was counted since the last call is one second of the series.
    pub(crate) fn end_second(&mut self) {
        let ios = self.ios - self.ios_at_second;
        self.per_second_ios.push(u32::try_from(ios).unwrap_or(u32::MAX));
        self.per_second_bytes.push(self.bytes - self.bytes_at_second);
        (self.ios_at_second, self.bytes_at_second) = (self.ios, self.bytes);
    }

    /// The facts, moved out.
    pub(crate) fn take(&mut self) -> DirectionRecord {
        DirectionRecord {
            ios: self.ios,
            bytes: self.bytes,
            errors: self.errors,
            short_ios: self.short_ios,
            service: std::mem::take(&mut self.service),
            response: self.response.take(),
            per_second_ios: std::mem::take(&mut self.per_second_ios),
            per_second_bytes: std::mem::take(&mut self.per_second_bytes),
            fio_bins: Vec::new(),
            summary: None,
        }
    }
}
