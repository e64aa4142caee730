//! I/O logs of fio, versions 2 and 3 (`write_iolog`). Each log belongs to one job and becomes one
//! thread.
//!
//! The times of version 3 are microseconds since the job began, of the moment at which fio issued
//! the I/O. In version 2, only `wait` lines carry times. fio takes their number for milliseconds
//! since it was started, although its manual calls it microseconds since the last `wait`.

use std::collections::HashMap;
use std::io::{BufRead, Write};

use super::builder::{Builder, KEEP_SIZE, PUNCH_HOLE};
use super::lines::Lines;
use super::merge::{Merge, Timed};
use super::outcome::{ImportError, Place, Reason, Skipped};
use crate::event::{Event, File, Flags, Op};
use crate::head::{FileKind, Unseen};

const MAGIC: &str = "fio version ";
/// `O_RDWR`
const READ_WRITE: u64 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    Two,
    Three,
}

/// The version of a log that begins like this.
pub(super) fn version(sample: &[u8]) -> Option<Version> {
    let rest = sample.strip_prefix(MAGIC.as_bytes())?;
    if rest.starts_with(b"2 iolog") {
        Some(Version::Two)
    } else if rest.starts_with(b"3 iolog") {
        Some(Version::Three)
    } else {
        None
    }
}

pub(super) fn unseen(sample: &[u8]) -> Vec<Unseen> {
    let mut unseen = vec![Unseen::Wakes, Unseen::CpuTime, Unseen::Latencies, Unseen::StartState];
    if version(sample) == Some(Version::Two) {
        unseen.push(Unseen::Times);
    }
    unseen
}

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
enum Action {
    Add,
    /// In ms since fio was started.
    Wait(u64),
    Do {
        op: Op,
        offset: u64,
        length: u64,
        detail: u64,
    },
}

#[derive(Debug)]
struct Entry {
    file: Box<str>,
    action: Action,
}

/// Takes the time, in microseconds, and the entry from a line.
fn parse(line: &str, version: Version) -> Result<(u64, Entry), Reason> {
    let mut words = line.split_whitespace();
    let time_us = match version {
        Version::Two => 0,
        Version::Three => {
            words.next().and_then(|word| word.parse().ok()).ok_or(Reason::Malformed)?
        }
    };
    let file = words.next().ok_or(Reason::Malformed)?.into();
    let name = words.next().ok_or(Reason::Malformed)?;
    let mut number = || words.next().and_then(|word| word.parse().ok()).ok_or(Reason::Number);
    let act = |op, detail| Action::Do { op, offset: 0, length: 0, detail };
    let action = match name {
        "add" => Action::Add,
        "open" => act(Op::Open, READ_WRITE),
        "close" => act(Op::Close, 0),
        "wait" if version == Version::Three => return Err(Reason::Wait),
        "wait" => Action::Wait(number()?),
        "sync" => act(Op::Fsync, 0),
        "datasync" => act(Op::Fdatasync, 0),
        "read" | "write" | "trim" | "sync_file_range" => {
            let (op, detail) = match name {
                "read" => (Op::Read, 0),
                "write" => (Op::Write, 0),
                "trim" => (Op::Allocate, KEEP_SIZE | PUNCH_HOLE),
                _ => (Op::SyncRange, 0),
            };
            let (offset, length) = (number()?, number()?);
            offset.checked_add(length).ok_or(Reason::Number)?;
            i64::try_from(length).map_err(|_| Reason::Number)?;
            Action::Do { op, offset, length, detail }
        }
        _ => return Err(Reason::UnknownAction),
    };
    Ok((time_us, Entry { file, action }))
}

struct Log<R> {
    lines: Lines<R>,
    version: Version,
    time_ns: u64,
}

impl<R: BufRead> Log<R> {
    fn open(number: usize, input: R) -> Result<Self, ImportError> {
        let mut lines = Lines::new(input);
        let first = lines.next()?.and_then(Result::ok).unwrap_or_default();
        let version = version(first.as_bytes()).ok_or_else(|| {
            let at = Skipped { input: number, place: Place::Line(1), reason: Reason::Malformed };
            ImportError::Corrupt { at }
        })?;
        Ok(Self { lines, version, time_ns: 0 })
    }
}

/// A parsed line or the reason it is unusable, with its line number.
struct Item {
    line: u64,
    entry: Result<Entry, Reason>,
}

impl<R: BufRead> Timed for Log<R> {
    type Item = Item;

    fn next(&mut self) -> Result<Option<(u64, Item)>, ImportError> {
        loop {
            let Some(line) = self.lines.next()? else { return Ok(None) };
            let parsed = line.and_then(|line| {
                if line.trim().is_empty() { Ok(None) } else { parse(line, self.version).map(Some) }
            });
            let entry = match parsed {
                Ok(None) => continue,
                Ok(Some((_, Entry { action: Action::Wait(until_ms), .. }))) => {
                    self.time_ns = self.time_ns.max(until_ms.saturating_mul(1_000_000));
                    continue;
                }
                Ok(Some((time_us, entry))) => {
                    self.time_ns = self.time_ns.max(time_us.saturating_mul(1000));
                    Ok(entry)
                }
                Err(reason) => Err(reason),
            };
            return Ok(Some((self.time_ns, Item { line: self.lines.number, entry })));
        }
    }
}

pub(super) fn read<R: BufRead, W: Write>(
    inputs: Vec<R>,
    builder: &mut Builder<W>,
) -> Result<(), ImportError> {
    let mut files: HashMap<Box<str>, File> = HashMap::new();
    let logs = inputs.into_iter().enumerate();
    let logs =
        logs.map(|(number, input)| Log::open(number, input)).collect::<Result<Vec<_>, _>>()?;
    let mut threads = vec![None; logs.len()];
    let mut merge = Merge::new(logs)?;
    while let Some(next) = merge.next()? {
        let Item { line, entry } = next.item;
        let entry = match entry {
            Ok(entry) => entry,
            Err(reason) => {
                builder.skip(Skipped { input: next.input, place: Place::Line(line), reason });
                continue;
            }
        };
        let kind = kind(&entry.file);
        let file = *files.entry(entry.file).or_insert_with(|| builder.file(kind, false));
        let Action::Do { op, offset, length, detail } = entry.action else { continue };
        let thread = *threads[next.input].get_or_insert_with(|| builder.thread());
        let is_device = kind == FileKind::BlockDevice;
        builder.push(Event {
            flags: if is_device { Flags::BLOCK_DEVICE } else { Flags::default() },
            thread,
            file,
            offset: if op == Op::Open { builder.size_now(file) } else { offset },
            length,
            result: if op.moves_data() { length.cast_signed() } else { 0 },
            end_ns: next.time,
            detail,
            ..Event::new(op)
        })?;
    }
    Ok(())
}

fn kind(name: &str) -> FileKind {
    let is_device = name.starts_with("/dev/") && !name.starts_with("/dev/shm/");
    if is_device { FileKind::BlockDevice } else { FileKind::Regular }
}
