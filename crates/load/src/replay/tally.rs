//! Counters of one track.

use iotax_record::{JobRecord, LatencyHistogram, OperationRecord, ReplayTimes};
use iotax_trace::Op;
use rustix::io::Errno;

use super::graph::Io;
use crate::counters::Usage;
use crate::driver::LoadProgress;
use crate::engine::window::Counts;

const SECOND_NS: u64 = 1_000_000_000;
/// How often a track shows its progress.
const SHOWN_NS: u64 = 10_000_000;
/// After this many consecutive failures of a track, the replay assumes that the target is gone and
/// stops.
const TOO_MANY_IN_A_ROW: u32 = 1000;

/// An operation that is over.
pub(super) struct Over {
    /// How much later it could start than planned.
    pub late_ns: u64,
    /// After the common start.
    pub started_ns: u64,
    /// After the common start.
    pub done_ns: u64,
    /// A sync that another thread's sync covered, so that it was not issued.
    pub is_shared: bool,
}

pub(super) struct Tally<'a> {
    live: Option<&'a LoadProgress>,
    read: Counts,
    write: Counts,
    sync: Counts,
    /// Other operations, by `Op`, if the trace has them.
    others: Vec<Option<Other>>,
    /// Response times of requests, if the thread answers any.
    answers: Option<LatencyHistogram>,
    pub lateness: LatencyHistogram,
    pub times: ReplayTimes,
    next_second_ns: u64,
    next_shown_ns: u64,
    shown: Moved,
    in_flight_io_ns: u64,
    in_a_row: u32,
    pub operations: u64,
    pub waits: u64,
    pub bounded_waits: u64,
    pub shared_syncs: u64,
    pub added_syncs: u64,
    pub failed_as_recorded: u64,
    pub first_error: Option<String>,
    /// When the last operation ended.
    pub last_ns: u64,
    /// The time was up before its last node.
    pub was_cut: bool,
    usage: Usage,
}

struct Other {
    latency: LatencyHistogram,
    errors: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Moved {
    ios: u64,
    bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Sync,
    Other,
}

const fn kind(op: Op) -> Kind {
    match op {
        Op::Read | Op::SendFile | Op::CopyRange | Op::Fault => Kind::Read,
        Op::Write => Kind::Write,
        Op::Fsync | Op::Fdatasync | Op::Msync | Op::SyncAll => Kind::Sync,
        _ => Kind::Other,
    }
}

impl<'a> Tally<'a> {
    /// `expected` are the operations of the trace.
    pub(super) fn new(
        expected: &[u64; Op::ALL.len()],
        seconds: usize,
        live: Option<&'a LoadProgress>,
    ) -> Self {
        let other = |op: &Op| {
            let is_there = kind(*op) == Kind::Other && expected[*op as usize] > 0;
            is_there.then(|| Other { latency: LatencyHistogram::new(), errors: 0 })
        };
        let counts = || Counts::new(seconds, false);
        Self {
            live,
            read: counts(),
            write: counts(),
            sync: counts(),
            others: Op::ALL.iter().map(other).collect(),
            answers: None,
            lateness: LatencyHistogram::new(),
            times: ReplayTimes::default(),
            next_second_ns: SECOND_NS,
            next_shown_ns: 0,
            shown: Moved::default(),
            in_flight_io_ns: 0,
            in_a_row: 0,
            operations: 0,
            waits: 0,
            bounded_waits: 0,
            shared_syncs: 0,
            added_syncs: 0,
            failed_as_recorded: 0,
            first_error: None,
            last_ns: 0,
            was_cut: false,
            usage: Usage::default(),
        }
    }

    /// Counts answers, too.
    pub(super) fn with_answers(self, answers: bool) -> Self {
        Self { answers: answers.then(LatencyHistogram::new), ..self }
    }

    /// Counts an answer.
    #[inline]
    pub(super) fn answer(&mut self, response_ns: u64, done_ns: u64) {
        self.last_ns = self.last_ns.max(done_ns);
        if let Some(answers) = &mut self.answers {
            answers.record(response_ns);
        }
    }

    /// The common start.
    pub(super) fn begin(&mut self) {
        self.usage = Usage::of_this_thread();
    }

    pub(super) fn end(&mut self) {
        self.usage = Usage::of_this_thread().since(&self.usage);
        self.show();
    }

    /// Counts an operation. False if too many have failed in a row.
    #[inline]
    pub(super) fn count(
        &mut self,
        io: &Io,
        over: &Over,
        outcome: Result<u64, Errno>,
        target: impl FnOnce() -> String,
    ) -> bool {
        self.reach(over.done_ns);
        self.operations += 1;
        self.lateness.record(over.late_ns);
        if over.done_ns >= self.next_shown_ns {
            self.next_shown_ns = over.done_ns + SHOWN_NS;
            self.show();
        }
        let took_ns = over.done_ns.saturating_sub(over.started_ns);
        let moved = match outcome {
            Ok(moved) => moved,
            Err(errno) => return self.fail(io, errno, target),
        };
        self.in_a_row = 0;
        match kind(io.op) {
            Kind::Other => {
                if let Some(other) = &mut self.others[io.op as usize] {
                    other.latency.record(took_ns);
                }
            }
            kind => {
                let counts = self.counts(kind);
                counts.ios += 1;
                counts.bytes += moved;
                if !over.is_shared {
                    counts.service.record(took_ns);
                }
                if kind != Kind::Sync {
                    let recorded = u64::try_from(io.result).unwrap_or(0);
                    self.counts(kind).short_ios += u64::from(moved < recorded);
                    self.in_flight_io_ns += took_ns;
                }
            }
        }
        true
    }

    /// Counts a sync that is not in the recording.
    pub(super) fn count_added(
        &mut self,
        over: &Over,
        failed: Option<Errno>,
        target: impl FnOnce() -> String,
    ) {
        self.reach(over.done_ns);
        self.added_syncs += 1;
        match failed {
            None => self.sync.service.record(over.done_ns.saturating_sub(over.started_ns)),
            Some(errno) => {
                self.sync.errors += 1;
                let error = std::io::Error::from(errno);
                self.first_error.get_or_insert_with(|| format!("sync of {}: {error}", target()));
            }
        }
    }

    const fn counts(&mut self, kind: Kind) -> &mut Counts {
        match kind {
            Kind::Write => &mut self.write,
            Kind::Sync => &mut self.sync,
            Kind::Read | Kind::Other => &mut self.read,
        }
    }

    #[cold]
    #[inline(never)]
    fn fail(&mut self, io: &Io, errno: Errno, target: impl FnOnce() -> String) -> bool {
        if io.result == -i64::from(errno.raw_os_error()) {
            self.failed_as_recorded += 1;
            return true;
        }
        match kind(io.op) {
            Kind::Other => {
                if let Some(other) = &mut self.others[io.op as usize] {
                    other.errors += 1;
                }
            }
            kind => self.counts(kind).errors += 1,
        }
        self.first_error.get_or_insert_with(|| {
            let (op, offset, error) = (io.op, io.offset, std::io::Error::from(errno));
            format!("{op} at offset {offset} of {}: {error}", target())
        });
        self.in_a_row += 1;
        self.in_a_row < TOO_MANY_IN_A_ROW
    }

    /// The end of an operation is the time now.
    #[inline]
    fn reach(&mut self, done_ns: u64) {
        while done_ns >= self.next_second_ns {
            self.end_second();
        }
        self.last_ns = done_ns;
    }

    fn end_second(&mut self) {
        [&mut self.read, &mut self.write, &mut self.sync].into_iter().for_each(Counts::end_second);
        self.next_second_ns += SECOND_NS;
    }

    fn show(&mut self) {
        let Some(live) = self.live else { return };
        let now = Moved {
            ios: self.read.ios + self.write.ios,
            bytes: self.read.bytes + self.write.bytes,
        };
        live.add(now.ios - self.shown.ios, now.bytes - self.shown.bytes);
        self.shown = now;
    }

    /// Converts the counters to a part of the job's result for a window of this length.
    pub(super) fn record(&mut self, window_ns: u64) -> JobRecord {
        while self.next_second_ns <= window_ns {
            self.end_second();
        }
        let sync_errors = std::mem::take(&mut self.sync.errors);
        let others = Op::ALL.iter().zip(&mut self.others);
        let mut operations: Vec<_> = others
            .filter_map(|(op, other)| {
                let other = other.take()?;
                let name = op.name().to_owned();
                let (latency, errors) = (other.latency, other.errors);
                Some(OperationRecord { name, latency, errors, ..OperationRecord::default() })
            })
            .collect();
        if let Some(latency) = self.answers.take() {
            let name = OperationRecord::REQUEST.to_owned();
            operations.push(OperationRecord { name, latency, ..OperationRecord::default() });
        }
        let sync = self.sync.take().service;
        if sync_errors > 0 {
            // A job has no other place for syncs that failed.
            let name = "sync".to_owned();
            operations.push(OperationRecord {
                name,
                errors: sync_errors,
                ..OperationRecord::default()
            });
        }
        JobRecord {
            read: self.read.take(),
            write: self.write.take(),
            sync,
            cpu_user_ns: self.usage.user_ns,
            cpu_system_ns: self.usage.system_ns,
            minor_faults: self.usage.minor_faults,
            major_faults: self.usage.major_faults,
            context_switches: self.usage.context_switches,
            cpu_wait_ns: self.usage.cpu_wait_ns,
            in_flight_io_ns: self.in_flight_io_ns,
            first_error: self.first_error.take(),
            operations,
            ..JobRecord::default()
        }
    }
}
