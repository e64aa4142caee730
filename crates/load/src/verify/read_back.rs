//! Reads back what was written, after the measurement, and compares.

use iotax_vdisk::Clock;

use super::write_log::WriteLog;
use crate::native::engines::{Deadline, Engine, Submitted};
use crate::native::io::{Io, Op, Outcome};
use crate::native::window::StopFlags;

/// What reading back has shown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// Blocks that are not as they were written, or could not be read.
    pub mismatches: u64,
    /// The first of them, for people.
    pub first: Option<String>,
}

/// Reads everything that `write_log` knows of one file through `engine`, `depth` reads of `block_bytes` at a
/// time. Nothing else may be in flight, and nobody may be writing. Ends early if told to stop.
pub(crate) fn read_back<E: Engine, C: Clock + ?Sized>(
    engine: &mut E,
    clock: &C,
    write_log: &WriteLog,
    (depth, block_bytes): (u32, u32),
    (file, target): (u16, &str),
    flags: StopFlags<'_>,
) -> Findings {
    let mut reader = Reader { write_log, target, findings: Findings::default() };
    let mut free: Vec<u32> = (0..depth).collect();
    let mut under_way = vec![Io::SYNC; depth as usize];
    let mut done: Vec<(u32, Outcome)> = Vec::with_capacity(depth as usize);
    let mut offset = 0;
    loop {
        while let Some(&slot) = free.last() {
            let next =
                if flags.abandoned() { None } else { write_log.next_known(offset, block_bytes) };
            let Some((at, bytes)) = next else { break };
            let io = Io { offset: at, bytes, file, op: Op::Read };
            match engine.submit(slot, io) {
                Submitted::Done(outcome) => reader.judge(io, outcome, engine.read_buffer(slot)),
                Submitted::InFlight => {
                    free.pop();
                    under_way[slot as usize] = io;
                }
                Submitted::Full => break,
            }
            offset = at + u64::from(bytes);
        }
        if free.len() == depth as usize {
            return reader.findings;
        }
        let now_ns = clock.now_ns();
        engine.wait(Deadline { now_ns, until_ns: now_ns + 100_000_000, precise: false });
        engine.reap(clock.now_ns(), |slot, outcome| done.push((slot, outcome)));
        for (slot, outcome) in done.drain(..) {
            reader.judge(under_way[slot as usize], outcome, engine.read_buffer(slot));
            free.push(slot);
        }
    }
}

struct Reader<'a> {
    write_log: &'a WriteLog,
    target: &'a str,
    findings: Findings,
}

impl Reader<'_> {
    fn judge(&mut self, io: Io, outcome: Outcome, data: &[u8]) {
        let unit_bytes = self.write_log.unit_bytes();
        let readable = outcome.unwrap_or(0);
        let mut offset = io.offset;
        for (index, unit) in (0..io.bytes / unit_bytes).zip(data.chunks(unit_bytes as usize)) {
            if (index + 1) * unit_bytes > readable {
                let reason = match outcome {
                    Err(errno) => std::io::Error::from(errno).to_string(),
                    Ok(_) => "cannot be read: the target ends before".to_owned(),
                };
                self.note(offset, &reason);
            } else if let Err(reason) = self.write_log.judge(unit, offset) {
                self.note(offset, reason);
            }
            offset += u64::from(unit_bytes);
        }
    }

    fn note(&mut self, offset: u64, reason: &str) {
        self.findings.mismatches += 1;
        if self.findings.first.is_none() {
            let target = self.target;
            self.findings.first = Some(format!("verify: offset {offset} of {target}: {reason}"));
        }
    }
}
