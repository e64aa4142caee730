//! What is written: data that neither compresses nor dedupes, and that can be checked.

mod contents;
mod read_back;
mod write_log;

pub(crate) use contents::Contents;
pub(crate) use read_back::{Findings, ReadBack};
pub(crate) use write_log::{MAGIC, WriteLog};

use crate::engine::io::{Io, Op, Outcome};
use crate::file_assignment::{PAGE_BYTES, unit_bytes};
use read_back::{judge, judge_by};
use write_log::judge_alone;

/// Prepares the data of every write of one thread, and remembers it if it will be verified.
pub(crate) struct WriteVerifier {
    counter: u64,
    /// One per file; none if nothing is verified.
    write_logs: Vec<WriteLog>,
    /// Data of a given kind, if that is what is written.
    contents: Option<Contents>,
    /// What checks have shown.
    findings: Findings,
    /// Of a thread that verifies what others wrote: the size of a unit, in bytes.
    reads: Option<u32>,
}

impl WriteVerifier {
    /// For one thread; `seed` tells its data from that of all others.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            counter: seed,
            write_logs: Vec::new(),
            contents: None,
            findings: Findings::default(),
            reads: None,
        }
    }

    /// The same, with everything written on record for [`read_back`]: one write log per file.
    pub(crate) fn verifying(seed: u64, write_logs: Vec<WriteLog>) -> Self {
        Self { write_logs, ..Self::new(seed) }
    }

    /// For a thread that reads what others wrote, at multiples of `granule`.
    pub(crate) fn reading(granule: u64) -> Self {
        Self { reads: Some(unit_bytes(granule)), ..Self::new(0) }
    }

    /// The same, with this data.
    pub(crate) fn with(self, contents: Option<Contents>) -> Self {
        Self { contents, ..self }
    }

    /// Whether making data takes as long as it takes to move it.
    #[inline]
    pub(crate) fn takes_time(&self) -> bool {
        self.contents.is_some()
    }

    /// What was written, by file, if it is on record, and what checks have shown so far, if there are
    /// any.
    pub(crate) fn into_write_logs(self) -> (Vec<WriteLog>, Option<Findings>) {
        let checks = self.reads.is_some() || !self.write_logs.is_empty();
        (self.write_logs, checks.then_some(self.findings))
    }

    /// Makes `buffer`, which holds random data, unlike anything written before, in place: every
    /// page starts with the magic and a number that no page has had.
    ///
    /// False means that this write must wait: an earlier one to the same place is in flight, and
    /// nobody could say which of the two will last.
    #[inline]
    pub(crate) fn prepare(&mut self, io: Io, buffer: &mut [u8]) -> bool {
        match &mut self.contents {
            Some(contents) => contents.fill(buffer),
            None => self.stamp(buffer),
        }
        match self.write_logs.get_mut(usize::from(io.file)) {
            None => true,
            Some(write_log) => write_log.begin(io, buffer),
        }
    }

    /// Whether a trim may start. What it leaves is undefined, so its range is no longer verified.
    ///
    /// False means that it must wait for a write to the same place.
    #[inline]
    pub(crate) fn may_trim(&mut self, io: Io) -> bool {
        match self.write_logs.get_mut(usize::from(io.file)) {
            None => true,
            Some(write_log) => write_log.forget(io),
        }
    }

    #[inline]
    fn stamp(&mut self, buffer: &mut [u8]) {
        for page in buffer.chunks_mut(PAGE_BYTES) {
            self.counter = self.counter.wrapping_add(0x9E37_79B9_7F4A_7C15);
            if let Some(stamp) = page.first_chunk_mut::<16>() {
                stamp[..8].copy_from_slice(&MAGIC);
                stamp[8..].copy_from_slice(&self.counter.to_le_bytes());
            }
        }
    }

    /// Whether a check may start: nothing may be under way to the same place, and then nothing else
    /// begins there.
    #[inline]
    pub(crate) fn may_check(&mut self, io: Io) -> bool {
        self.write_logs.get_mut(usize::from(io.file)).is_none_or(|log| log.begin_check(io))
    }

    /// A check is over; false if it has read something else than was written.
    pub(crate) fn checked(&mut self, io: Io, outcome: Outcome, data: &[u8], target: &str) -> bool {
        let before = self.findings.mismatches;
        if let Some(unit_bytes) = self.reads {
            judge_by(unit_bytes, io, outcome, data, judge_alone, &mut |offset, reason| {
                self.findings.note(target, offset, reason);
            });
        }
        let Some(write_log) = self.write_logs.get_mut(usize::from(io.file)) else {
            return self.findings.mismatches == before;
        };
        write_log.end_check(io);
        judge(write_log, io, outcome, data, &mut |offset, reason| {
            self.findings.note(target, offset, reason);
        });
        let is_right = self.findings.mismatches == before;
        if !is_right {
            // It is counted once.
            write_log.forget(io);
        }
        is_right
    }

    /// A write is over, or a check whose data is not compared.
    #[inline]
    pub(crate) fn over(&mut self, io: Io, outcome: Outcome) {
        let Some(write_log) = self.write_logs.get_mut(usize::from(io.file)) else { return };
        match io.op {
            Op::Write => write_log.end(io, outcome),
            _ if io.check => write_log.end_check(io),
            _ => {}
        }
    }
}
