//! Imports published block traces of cloud providers (CSV). Each virtual disk becomes one file and
//! one thread.
//!
//! | provider | columns | units |
//! |---|---|---|
//! | Alibaba | `device_id,opcode,offset,length,timestamp` | bytes, microseconds |
//! | Tencent | `timestamp,offset,size,io_type,volume_id` | sectors, seconds |

use std::collections::HashMap;
use std::io::{BufRead, Write};

use jiff::Timestamp;

use super::builder::Builder;
use super::lines::Lines;
use super::outcome::{Format, ImportError, Reason};
use crate::event::{Event, File, Flags, Op, Thread};
use crate::head::{FileKind, Unseen};

const COLUMNS: usize = 5;
const SECTOR_BYTES: u64 = 512;
const NAMES: [&str; 2] =
    ["device_id,opcode,offset,length,timestamp", "timestamp,offset,size,iotype,volumeid"];

/// One line.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    op: Op,
    disk: u64,
    offset: u64,
    length: u64,
    /// Time since the Unix epoch.
    time_ns: u64,
}

fn parse(line: &str, format: Format) -> Result<Row, Reason> {
    let mut columns = [""; COLUMNS];
    let mut count = 0;
    for field in line.split(',') {
        *columns.get_mut(count).ok_or(Reason::Malformed)? = field.trim();
        count += 1;
    }
    if count < COLUMNS {
        return Err(Reason::Malformed);
    }
    let number = |text: &str| text.parse::<u64>().map_err(|_| Reason::Number);
    let scaled = |text: &str, unit| number(text)?.checked_mul(unit).ok_or(Reason::Number);
    let row = if format == Format::Alibaba {
        let [disk, opcode, offset, length, time_us] = columns;
        Row {
            op: match opcode {
                "R" | "r" => Op::Read,
                "W" | "w" => Op::Write,
                _ => return Err(Reason::UnknownOpcode),
            },
            disk: number(disk)?,
            offset: number(offset)?,
            length: number(length)?,
            time_ns: scaled(time_us, 1000)?,
        }
    } else {
        let [time_s, offset, length, kind, disk] = columns;
        Row {
            op: match kind {
                "0" => Op::Read,
                "1" => Op::Write,
                _ => return Err(Reason::UnknownOpcode),
            },
            disk: number(disk)?,
            offset: scaled(offset, SECTOR_BYTES)?,
            length: scaled(length, SECTOR_BYTES)?,
            time_ns: scaled(time_s, 1_000_000_000)?,
        }
    };
    row.offset.checked_add(row.length).ok_or(Reason::Number)?;
    i64::try_from(row.length).map_err(|_| Reason::Number)?;
    Ok(row)
}

/// Whether a line names the columns.
fn is_header(line: &str) -> bool {
    let name: String = line
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '_')
        .map(|c| c.to_ascii_lowercase())
        .collect();
    NAMES.iter().any(|known| known.replace('_', "") == name)
}

/// The format of a sample, and its first row.
fn first_row(sample: &[u8], formats: &[Format]) -> Option<(Format, Row)> {
    let end = sample.iter().rposition(|byte| *byte == b'\n').unwrap_or(sample.len());
    let text = std::str::from_utf8(&sample[..end]).ok()?;
    let line = text.lines().find(|line| !line.trim().is_empty() && !is_header(line))?;
    formats.iter().find_map(|format| Some((*format, parse(line, *format).ok()?)))
}

pub(super) fn sniff(sample: &[u8]) -> Option<Format> {
    first_row(sample, &[Format::Alibaba, Format::Tencent]).map(|(format, _)| format)
}

/// Start time of the trace, and what it does not contain.
pub(super) fn preview(format: Format, sample: &[u8]) -> (Option<Timestamp>, Vec<Unseen>) {
    let started = first_row(sample, &[format])
        .and_then(|(_, row)| Timestamp::from_nanosecond(i128::from(row.time_ns)).ok());
    let mut unseen =
        vec![Unseen::Wakes, Unseen::CpuTime, Unseen::Calls, Unseen::Latencies, Unseen::StartState];
    if format == Format::Tencent {
        unseen.push(Unseen::Times);
    }
    (started, unseen)
}

struct Disk {
    file: File,
    thread: Thread,
}

pub(super) fn read<R: BufRead, W: Write>(
    input: R,
    format: Format,
    builder: &mut Builder<W>,
) -> Result<(), ImportError> {
    let mut lines = Lines::new(input);
    let mut disks: HashMap<u64, Disk> = HashMap::new();
    let mut began_ns = None;
    while let Some(line) = lines.next()? {
        let row = match line {
            Ok(line) if line.trim().is_empty() || is_header(line) => continue,
            Ok(line) => parse(line, format),
            Err(reason) => Err(reason),
        };
        let row = match row {
            Ok(row) => row,
            Err(reason) => {
                builder.skip_line(lines.number, reason);
                continue;
            }
        };
        let began_ns = *began_ns.get_or_insert(row.time_ns);
        let disk = disks.entry(row.disk).or_insert_with(|| Disk {
            file: builder.file(FileKind::BlockDevice, false),
            thread: builder.thread(),
        });
        builder.push(Event {
            flags: Flags::BLOCK_DEVICE,
            thread: disk.thread,
            file: disk.file,
            offset: row.offset,
            length: row.length,
            result: row.length.cast_signed(),
            end_ns: row.time_ns.saturating_sub(began_ns),
            ..Event::new(row.op)
        })?;
    }
    Ok(())
}
