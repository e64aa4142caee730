//! I/O logs that fio replays with `read_iolog`.
//!
//! A log has reads, writes, syncs and discards, one at a time: I/O that ran in parallel in several
//! threads becomes sequential. Files are called `f0`, `f1` and so on by their numbers; fio looks
//! for them in its working directory or `--directory`. They must exist and be large enough for all
//! reads.
//!
//! Version 3 gives each action its time in microseconds. Version 2 has `wait` lines, whose number
//! fio takes for milliseconds since it was started; so times are accurate only to a millisecond.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::io::{self, Read, Write};

use crate::event::{Event, File, Op, Thread};
use crate::file::{Error, Reader};
use crate::head::FileKind;

/// Events are sorted by start time within a window of this many events.
const HORIZON: usize = 1 << 16;

/// A version of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    Two,
    /// fio 3.31 and newer.
    Three,
}

#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub version: Version,
    /// Only the I/O of this thread.
    pub thread: Option<Thread>,
}

/// What was written.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Exported {
    /// I/Os of the log.
    pub actions: u64,
    /// Files that the log uses.
    pub files: BTreeSet<File>,
    /// Events that a log cannot express, by operation.
    pub left_out: BTreeMap<Op, u64>,
    /// I/Os that failed or transferred no data.
    pub without_data: u64,
}

/// An I/O of a log. Its order is that of starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Action {
    start_ns: u64,
    number: u64,
    file: File,
    name: &'static str,
    offset: u64,
    length: u64,
}

/// What the export does with an event.
enum Fate {
    Action {
        name: &'static str,
        length: u64,
    },
    /// Not an I/O of its own.
    Drop,
    LeaveOut,
    WithoutData,
}

fn fate(event: &Event, kind: FileKind) -> Fate {
    let moved = event.moved();
    match event.op {
        Op::Open | Op::Close => Fate::Drop,
        op if !op.is_io() => Fate::Drop,
        _ if event.errno().is_some() => Fate::WithoutData,
        Op::Read | Op::Write | Op::Fault | Op::SendFile if moved == 0 => Fate::WithoutData,
        Op::Read | Op::Fault | Op::SendFile => Fate::Action { name: "read", length: moved },
        Op::Write => Fate::Action { name: "write", length: moved },
        Op::Fsync => Fate::Action { name: "sync", length: 0 },
        Op::Fdatasync => Fate::Action { name: "datasync", length: 0 },
        // fio discards on block devices only.
        Op::Allocate if kind == FileKind::BlockDevice => {
            Fate::Action { name: "trim", length: event.length }
        }
        _ => Fate::LeaveOut,
    }
}

/// Writes the I/O of a trace as a log of fio.
pub fn export<R: Read, W: Write>(
    reader: &mut Reader<R>,
    output: W,
    options: Options,
) -> Result<Exported, Error> {
    let mut log =
        Log { output, version: options.version, begun_ns: 0, exported: Exported::default() };
    log.begin()?;
    let mut waiting = BinaryHeap::new();
    let mut number = 0;
    while let Some(events) = reader.chunk()? {
        for event in events {
            if options.thread.is_some_and(|thread| thread != event.thread) {
                continue;
            }
            let kind = reader.files.get(event.file as usize).map(|file| file.kind);
            match fate(&event, kind.unwrap_or_default()) {
                Fate::Action { name, length } => {
                    let (start_ns, file) = (event.start_ns(), event.file);
                    let offset = event.offset;
                    waiting.push(Reverse(Action { start_ns, number, file, name, offset, length }));
                    number += 1;
                }
                Fate::Drop => {}
                Fate::LeaveOut => *log.exported.left_out.entry(event.op).or_default() += 1,
                Fate::WithoutData => log.exported.without_data += 1,
            }
            if waiting.len() > HORIZON
                && let Some(Reverse(action)) = waiting.pop()
            {
                log.action(action)?;
            }
        }
    }
    while let Some(Reverse(action)) = waiting.pop() {
        log.action(action)?;
    }
    log.finish()
}

struct Log<W> {
    output: W,
    version: Version,
    /// The time of the last line. fio needs them in order.
    begun_ns: u64,
    exported: Exported,
}

impl<W: Write> Log<W> {
    fn begin(&mut self) -> io::Result<()> {
        let version = match self.version {
            Version::Two => 2,
            Version::Three => 3,
        };
        writeln!(self.output, "fio version {version} iolog")
    }

    /// Writes the timestamp at the start of a line, in version 3.
    fn time(&mut self) -> io::Result<()> {
        match self.version {
            Version::Two => Ok(()),
            Version::Three => write!(self.output, "{} ", self.begun_ns / 1000),
        }
    }

    fn action(&mut self, action: Action) -> io::Result<()> {
        let Action { start_ns, file, name, offset, length, .. } = action;
        let before_ms = self.begun_ns / 1_000_000;
        self.begun_ns = self.begun_ns.max(start_ns);
        if self.exported.files.insert(file) {
            for action in ["add", "open"] {
                self.time()?;
                writeln!(self.output, "f{file} {action}")?;
            }
        }
        let now_ms = self.begun_ns / 1_000_000;
        if self.version == Version::Two && now_ms > before_ms {
            writeln!(self.output, "f{file} wait {now_ms} 0")?;
        }
        self.time()?;
        writeln!(self.output, "f{file} {name} {offset} {length}")?;
        self.exported.actions += 1;
        Ok(())
    }

    fn finish(mut self) -> Result<Exported, Error> {
        for file in std::mem::take(&mut self.exported.files) {
            self.time()?;
            writeln!(self.output, "f{file} close")?;
            self.exported.files.insert(file);
        }
        self.output.flush()?;
        Ok(self.exported)
    }
}
