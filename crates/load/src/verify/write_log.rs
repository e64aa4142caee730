//! Records what one thread has written where, and checks blocks that are read back.
//!
//! Written data is divided into units of at most 4 KiB, each with its own header. So blocks of
//! different sizes may partly overwrite each other and every unit can still be checked, and no
//! device tears a unit in two.

use iotax_vdisk::Clock;

use crate::engine::stop::StopFlags;
use crate::engine::{Deadline, Engine, Io, Op, Outcome, Submitted};
use crate::file_assignment::{HEADER_BYTES, Span, unit_bytes};

/// Starts every stamped page: how a file laid out by this crate is recognised.
pub(crate) const MAGIC: [u8; 8] = *b"iotax\x00\x01\xf7";

const CHECKSUM_AT: usize = 28;

pub(crate) struct WriteLog {
    /// Which run, and in the low 16 bits which thread of it.
    run: u64,
    span: Span,
    unit_bytes: u32,
    /// By unit of the span: the number of the write that it must hold; 0 where nobody knows.
    latest: Vec<u32>,
    writes: u32,
    in_flight: Vec<Written>,
}

#[derive(Clone, Copy)]
struct Written {
    io: Io,
    number: u32,
}

/// Most I/Os that a thread keeps in flight.
const MAX_IN_FLIGHT: usize = 65_536;

impl WriteLog {
    /// An empty write log of one file.
    ///
    /// `run` tells this run's data from that of earlier ones, `writer` this thread's from that of
    /// others in this run; `granule` divides all sizes, and all offsets from the start of `span`.
    pub(crate) fn new(run: u64, writer: u16, span: Span, granule: u64) -> Self {
        let unit_bytes = unit_bytes(granule);
        let units = usize::try_from(span.bytes.div_ceil(u64::from(unit_bytes)))
            .expect("spans have fewer units than memory has bytes");
        Self {
            run: run << 16 | u64::from(writer),
            span,
            unit_bytes,
            latest: vec![0; units],
            writes: 0,
            in_flight: Vec::with_capacity(MAX_IN_FLIGHT.min(units)),
        }
    }

    pub(crate) fn unit_bytes(&self) -> u32 {
        self.unit_bytes
    }

    /// Puts headers into the data of a write that starts now; false if it must not start now.
    pub(crate) fn begin(&mut self, io: Io, data: &mut [u8]) -> bool {
        if self.is_under_way(io) {
            return false;
        }
        // 0 is "nobody knows".
        self.writes = self.writes.checked_add(1).unwrap_or(1);
        self.in_flight.push(Written { io, number: self.writes });
        let mut offset = io.offset;
        for unit in data.chunks_exact_mut(self.unit_bytes as usize) {
            self.write_header(unit, offset);
            offset += u64::from(self.unit_bytes);
        }
        true
    }

    /// Whether a write is in flight to where `io` goes.
    fn is_under_way(&self, io: Io) -> bool {
        self.in_flight.iter().any(|other| {
            io.offset < other.io.offset + u64::from(other.io.bytes)
                && other.io.offset < io.offset + u64::from(io.bytes)
        })
    }

    /// A check of a range begins; false if it must not, since something is in flight there.
    pub(crate) fn begin_check(&mut self, io: Io) -> bool {
        if self.is_under_way(io) {
            return false;
        }
        self.in_flight.push(Written { io, number: 0 });
        true
    }

    pub(crate) fn end_check(&mut self, io: Io) {
        self.in_flight.retain(|other| other.io != io);
    }

    /// Whether it is known what the unit at an offset must hold.
    pub(crate) fn knows(&self, offset: u64) -> bool {
        self.latest[self.unit_of(offset)] != 0
    }

    /// What lies in a range may be anything from now on; false if a write there is in flight.
    pub(crate) fn forget(&mut self, io: Io) -> bool {
        if self.is_under_way(io) {
            return false;
        }
        let first = self.unit_of(io.offset);
        self.latest[first..first + (io.bytes / self.unit_bytes) as usize].fill(0);
        true
    }

    fn write_header(&self, unit: &mut [u8], offset: u64) {
        unit[..8].copy_from_slice(&MAGIC);
        unit[8..16].copy_from_slice(&self.run.to_le_bytes());
        unit[16..24].copy_from_slice(&offset.to_le_bytes());
        unit[24..28].copy_from_slice(&self.writes.to_le_bytes());
        let checksum = checksum(unit);
        unit[CHECKSUM_AT..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
    }

    /// A write is over: its units must hold it from now on, or, if it failed, may hold anything.
    pub(crate) fn end(&mut self, io: Io, outcome: Outcome) {
        let Some(at) = self.in_flight.iter().position(|written| written.io == io) else { return };
        let written = self.in_flight.swap_remove(at);
        let number = if outcome == Ok(io.bytes) { written.number } else { 0 };
        let first = self.unit_of(io.offset);
        let units = (io.bytes / self.unit_bytes) as usize;
        self.latest[first..first + units].fill(number);
    }

    fn unit_of(&self, offset: u64) -> usize {
        usize::try_from((offset - self.span.start) / u64::from(self.unit_bytes))
            .expect("the write_log has one entry per unit")
    }

    /// The next stretch of at most `max_bytes` whose contents are known, at or after `offset`.
    pub(crate) fn next_known(&self, offset: u64, max_bytes: u32) -> Option<(u64, u32)> {
        let from = self.unit_of(offset.max(self.span.start));
        let first = from + self.latest.get(from..)?.iter().position(|number| *number != 0)?;
        let most = (max_bytes / self.unit_bytes) as usize;
        let known = self.latest[first..].iter().take(most).take_while(|number| **number != 0);
        let bytes = u32::try_from(known.count()).expect("at most a block") * self.unit_bytes;
        Some((self.span.start + first as u64 * u64::from(self.unit_bytes), bytes))
    }

    /// Judges one unit that was read back from `offset`.
    pub(crate) fn judge(&self, unit: &[u8], offset: u64) -> Result<(), &'static str> {
        let word = |at: usize| u64::from_le_bytes(array(&unit[at..at + 8]));
        if unit[..8] != MAGIC {
            return Err("does not contain the written data");
        }
        if word(8) != self.run {
            return Err("contains data from an earlier run or from another thread: the write was \
                        lost");
        }
        if word(16) != offset {
            return Err("contains data that belongs at another offset");
        }
        let stored = u32::from_le_bytes(array(&unit[CHECKSUM_AT..HEADER_BYTES]));
        if stored != checksum(unit) {
            return Err("does not match its checksum");
        }
        let number = u32::from_le_bytes(array(&unit[24..28]));
        if number != self.latest[self.unit_of(offset)] {
            return Err("contains an older version: the last write was lost");
        }
        Ok(())
    }
}

/// Judges a unit by its own header, where no write log says what it must hold.
pub(super) fn judge_alone(unit: &[u8], offset: u64) -> Result<(), &'static str> {
    let word = |at: usize| u64::from_le_bytes(array(&unit[at..at + 8]));
    if unit[..8] != MAGIC {
        return Err("contains data that no job with `verify` wrote");
    }
    let stored = u32::from_le_bytes(array(&unit[CHECKSUM_AT..HEADER_BYTES]));
    if stored != checksum(unit) {
        return Err("does not match its checksum, or was not written by a job with `verify`");
    }
    if word(16) != offset {
        return Err("contains data that belongs at another offset");
    }
    Ok(())
}

fn checksum(unit: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&unit[..CHECKSUM_AT]), &unit[HEADER_BYTES..])
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("the slice has this length")
}

// Reads back what was written, after the measurement, and compares.

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

/// Reads back and compares what a write log knows of one file. Nothing else may be in flight, and
/// nobody may write to the file.
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
            Ok(_) => note(offset, "cannot be read: it is beyond the end of the target"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Op;
    use rustix::io::Errno;

    const SPAN: Span = Span { start: 8192, bytes: 65_536 };

    fn write(offset: u64, bytes: u32) -> Io {
        Io { offset, bytes, file: 0, op: Op::Write, check: false }
    }

    fn written(write_log: &mut WriteLog, io: Io) -> Vec<u8> {
        let mut data = vec![0x5A; io.bytes as usize];
        assert!(write_log.begin(io, &mut data));
        write_log.end(io, Ok(io.bytes));
        data
    }

    #[test]
    fn units_divide_the_smallest_block_and_a_page() {
        assert_eq!([512, 4096, 6144, 1 << 20, 12].map(unit_bytes), [512, 4096, 2048, 4096, 4]);
    }

    #[test]
    fn a_check_keeps_writes_away_and_a_trim_makes_its_place_unknown() {
        let mut write_log = WriteLog::new(7, 3, SPAN, 4096);
        let io = write(8192, 8192);
        let check = Io { op: Op::Read, check: true, ..io };
        assert!(write_log.begin(io, &mut [0; 8192]));
        assert!(!write_log.begin_check(check) && !write_log.forget(io));
        write_log.end(io, Ok(8192));
        assert!(write_log.begin_check(check));
        let other = write(12_288, 4096);
        assert!(!write_log.begin(other, &mut [0; 4096]) && !write_log.begin_check(check));
        assert!(!write_log.forget(other));
        write_log.end_check(check);
        assert!(write_log.forget(other) && !write_log.knows(12_288) && write_log.knows(8192));
        assert_eq!(write_log.next_known(0, 65_536), Some((8192, 4096)));
    }

    /// Who did not write it can tell as much, but not whether it is the last version.
    #[test]
    fn data_of_others_is_judged_by_itself() {
        let mut write_log = WriteLog::new(7, 3, SPAN, 4096);
        let first = written(&mut write_log, write(8192, 4096));
        let second = written(&mut write_log, write(8192, 4096));
        assert_eq!((judge_alone(&first, 8192), judge_alone(&second, 8192)), (Ok(()), Ok(())));
        assert!(judge_alone(&first, 12_288).is_err() && judge_alone(&[0; 4096], 8192).is_err());
        let mut flipped = first;
        flipped[4000] ^= 1;
        assert!(judge_alone(&flipped, 8192).is_err());
    }

    #[test]
    fn what_was_written_last_is_right_and_everything_else_is_told_apart() {
        let mut write_log = WriteLog::new(7, 3, SPAN, 4096);
        let first = written(&mut write_log, write(8192, 4096));
        assert_eq!(write_log.judge(&first, 8192), Ok(()));
        assert_eq!(
            write_log.judge(&first, 12_288),
            Err("contains data that belongs at another offset")
        );
        let second = written(&mut write_log, write(8192, 4096));
        assert_eq!(write_log.judge(&second, 8192), Ok(()));
        assert_eq!(
            write_log.judge(&first, 8192),
            Err("contains an older version: the last write was lost")
        );
        let mut flipped = second.clone();
        flipped[4000] ^= 1;
        assert_eq!(write_log.judge(&flipped, 8192), Err("does not match its checksum"));
        assert_eq!(write_log.judge(&[0; 4096], 8192), Err("does not contain the written data"));
        let stale = written(&mut WriteLog::new(6, 3, SPAN, 4096), write(8192, 4096));
        assert_eq!(
            write_log.judge(&stale, 8192),
            Err("contains data from an earlier run or from another thread: the write was lost")
        );
    }

    #[test]
    fn a_write_waits_for_an_overlapping_one_and_a_failed_one_is_forgotten() {
        let mut write_log = WriteLog::new(1, 0, SPAN, 4096);
        let (mut small, mut large) = (vec![0; 4096], vec![0; 8192]);
        assert!(write_log.begin(write(12_288, 4096), &mut small));
        assert!(!write_log.begin(write(8192, 8192), &mut large));
        write_log.end(write(12_288, 4096), Ok(4096));
        assert_eq!(write_log.next_known(0, 1 << 20), Some((12_288, 4096)));
        assert!(write_log.begin(write(8192, 8192), &mut large));
        write_log.end(write(8192, 8192), Err(Errno::IO));
        assert_eq!(write_log.next_known(0, 1 << 20), None);
    }

    #[test]
    fn known_stretches_end_at_gaps_and_at_the_buffer() {
        let mut write_log = WriteLog::new(1, 0, SPAN, 4096);
        for block in [0, 1, 2, 5] {
            written(&mut write_log, write(8192 + block * 4096, 4096));
        }
        assert_eq!(write_log.next_known(0, 8192), Some((8192, 8192)));
        assert_eq!(write_log.next_known(16_384, 8192), Some((16_384, 4096)));
        assert_eq!(write_log.next_known(20_480, 8192), Some((28_672, 4096)));
        assert_eq!(write_log.next_known(32_768, 8192), None);
        assert_eq!(write_log.next_known(8192 + 65_536, 8192), None);
    }
}
