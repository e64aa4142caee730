//! Reads back what was written, after the measurement, and compares.

use iotax_vdisk::Clock;

use super::write_log::WriteLog;
use crate::engine::io::{Io, Op, Outcome};
use crate::engine::stop::StopFlags;
use crate::engine::{Deadline, Engine, Submitted};

/// What reading back has shown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// Blocks that are not as they were written, or could not be read.
    pub mismatches: u64,
    /// The first of them, for people.
    pub first: Option<String>,
}

impl Findings {
    /// A block of a target that is not as it was written.
    pub(super) fn note(&mut self, target: &str, offset: u64, reason: &str) {
        self.mismatches += 1;
        if self.first.is_none() {
            self.first = Some(format!("verify: offset {offset} of {target}: {reason}"));
        }
    }
}

/// Reads back and compares what a write log knows of one file. Nothing else may be in flight, and nobody
/// may write to the file.
pub(crate) struct ReadBack<'a> {
    /// What was written.
    pub write_log: &'a WriteLog,
    /// Reads at a time.
    pub depth: u32,
    /// Bytes of one at most.
    pub block_bytes: u32,
    /// Which of the thread's files.
    pub file: u16,
    /// What people call it.
    pub target: &'a str,
    /// The first block that is not as it was written ends it.
    pub ends: bool,
}

impl ReadBack<'_> {
    /// Adds what is found to `findings`. Ends early if told to stop.
    pub(crate) fn perform<E: Engine, C: Clock + ?Sized>(
        &self,
        engine: &mut E,
        clock: &C,
        flags: StopFlags<'_>,
        findings: &mut Findings,
    ) {
        let Self { write_log, depth, block_bytes, file, .. } = *self;
        let mut free: Vec<u32> = (0..depth).collect();
        let mut under_way = vec![Io::SYNC; depth as usize];
        let mut done: Vec<(u32, Outcome)> = Vec::with_capacity(depth as usize);
        let mut offset = 0;
        let before = findings.mismatches;
        loop {
            while let Some(&slot) = free.last() {
                let is_over = flags.abandoned() || self.ends && findings.mismatches > before;
                let next = if is_over { None } else { write_log.next_known(offset, block_bytes) };
                let Some((at, bytes)) = next else { break };
                let io = Io { offset: at, bytes, file, op: Op::Read, check: true };
                match engine.submit(slot, io) {
                    Submitted::Done(outcome) => {
                        self.judge(io, outcome, engine.read_buffer(slot), findings);
                    }
                    Submitted::InFlight => {
                        free.pop();
                        under_way[slot as usize] = io;
                    }
                    Submitted::Full => break,
                }
                offset = at + u64::from(bytes);
            }
            if free.len() == depth as usize {
                return;
            }
            let now_ns = clock.now_ns();
            engine.wait(Deadline { now_ns, until_ns: now_ns + 100_000_000, precise: false });
            engine.reap(clock.now_ns(), |slot, outcome| done.push((slot, outcome)));
            for (slot, outcome) in done.drain(..) {
                let io = under_way[slot as usize];
                self.judge(io, outcome, engine.read_buffer(slot), findings);
                free.push(slot);
            }
        }
    }

    fn judge(&self, io: Io, outcome: Outcome, data: &[u8], findings: &mut Findings) {
        judge(self.write_log, io, outcome, data, &mut |offset, reason| {
            findings.note(self.target, offset, reason);
        });
    }
}

/// Names the units of what was read that are not as they were written, as far as that is known.
pub(super) fn judge(
    write_log: &WriteLog,
    io: Io,
    outcome: Outcome,
    data: &[u8],
    note: &mut dyn FnMut(u64, &str),
) {
    let of_unit = |unit: &[u8], offset| {
        if write_log.knows(offset) { write_log.judge(unit, offset) } else { Ok(()) }
    };
    let mut is_known = |offset, reason: &str| {
        if write_log.knows(offset) {
            note(offset, reason);
        }
    };
    judge_by(write_log.unit_bytes(), io, outcome, data, of_unit, &mut is_known);
}

/// Names the units that `of_unit` has something against, or that could not be read.
pub(super) fn judge_by(
    unit_bytes: u32,
    io: Io,
    outcome: Outcome,
    data: &[u8],
    of_unit: impl Fn(&[u8], u64) -> Result<(), &'static str>,
    note: &mut dyn FnMut(u64, &str),
) {
    let readable = outcome.unwrap_or(0);
    let offsets = (io.offset..).step_by(unit_bytes as usize);
    let units = (1..=io.bytes / unit_bytes).zip(data.chunks(unit_bytes as usize));
    for (offset, (number, unit)) in offsets.zip(units) {
        if number * unit_bytes <= readable {
            if let Err(reason) = of_unit(unit, offset) {
                note(offset, reason);
            }
            continue;
        }
        match outcome {
            Err(errno) => note(offset, &std::io::Error::from(errno).to_string()),
            Ok(_) => note(offset, "cannot be read: the target ends before"),
        }
    }
}
