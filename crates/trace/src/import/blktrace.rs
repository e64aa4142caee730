//! Binary data of blktrace: each request from its issue to the driver (`D`) to its completion
//! (`C`). Devices without a request queue, such as those of the device mapper, have no `D`: their
//! requests begin when they are queued (`Q`).
//!
//! A merged request is one I/O, as the device saw it. Whether somebody waits for a request
//! (`REQ_SYNC`) says nothing about durability, and is ignored; only FUA makes a write durable. A
//! process may have several requests in flight.

use std::collections::HashMap;
use std::io::{self, BufRead, Read, Write};

use jiff::Timestamp;

use super::builder::{Builder, KEEP_SIZE, PUNCH_HOLE};
use super::merge::{Merge, Timed};
use super::outcome::{ImportError, Place, Reason, Skipped};
use crate::event::{Event, File, Flags, Op, Thread};
use crate::head::{FileKind, Unseen};

/// Magic number of a record; the lowest byte is the version.
const MAGIC: u32 = 0x6561_7407;
const RECORD: usize = 48;
const SECTOR_BYTES: u64 = 512;
/// Maximum number of requests in flight.
const MOST_PENDING: usize = 1 << 17;

/// What a block trace does not contain.
pub(super) const UNSEEN: [Unseen; 4] =
    [Unseen::Wakes, Unseen::CpuTime, Unseen::Calls, Unseen::StartState];

/// Categories, in the upper half of the action.
mod category {
    pub(super) const WRITE: u32 = 1 << (1 + 16);
    pub(super) const FLUSH: u32 = 1 << (2 + 16);
    pub(super) const COMMAND: u32 = 1 << (9 + 16);
    pub(super) const NOTIFY: u32 = 1 << (10 + 16);
    pub(super) const DISCARD: u32 = 1 << (13 + 16);
    pub(super) const FUA: u32 = 1 << (15 + 16);
}

/// Actions, in the lower half.
mod action {
    pub(super) const QUEUE: u32 = 1;
    pub(super) const REQUEUE: u32 = 6;
    pub(super) const ISSUE: u32 = 7;
    pub(super) const COMPLETE: u32 = 8;
}

/// The notification that tells the time of day.
const TIME_OF_DAY: u32 = 1;

#[derive(Debug, Clone, Copy)]
struct Record {
    sequence: u32,
    time_ns: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    pid: u32,
    device: u32,
    cpu: u32,
    error: u16,
    data_bytes: u16,
    is_swapped: bool,
}

impl Record {
    /// `None` if it is not one.
    fn parse(bytes: &[u8; RECORD]) -> Option<Self> {
        let magic = u32::from_ne_bytes(at(bytes, 0));
        let is_swapped = magic == MAGIC.swap_bytes();
        if magic != MAGIC && !is_swapped {
            return None;
        }
        let u16 = |place| {
            let number = u16::from_ne_bytes(at(bytes, place));
            if is_swapped { number.swap_bytes() } else { number }
        };
        let u32 = |place| {
            let number = u32::from_ne_bytes(at(bytes, place));
            if is_swapped { number.swap_bytes() } else { number }
        };
        let u64 = |place| {
            let number = u64::from_ne_bytes(at(bytes, place));
            if is_swapped { number.swap_bytes() } else { number }
        };
        Some(Self {
            sequence: u32(4),
            time_ns: u64(8),
            sector: u64(16),
            bytes: u32(24),
            action: u32(28),
            pid: u32(32),
            device: u32(36),
            cpu: u32(40),
            error: u16(44),
            data_bytes: u16(46),
            is_swapped,
        })
    }

    const fn is(&self, category: u32) -> bool {
        self.action & category != 0
    }

    const fn is_flush(&self) -> bool {
        self.is(category::FLUSH) && self.bytes == 0
    }

    fn key(&self) -> Key {
        Key { device: self.device, sector: self.sector, is_flush: self.is_flush() }
    }
}

fn at<const N: usize>(bytes: &[u8; RECORD], place: usize) -> [u8; N] {
    std::array::from_fn(|index| bytes[place + index])
}

pub(super) fn is_blktrace(sample: &[u8]) -> bool {
    sample.first_chunk().is_some_and(|bytes| Record::parse(bytes).is_some())
}

/// The time of day that a sample tells.
pub(super) fn started(mut sample: &[u8]) -> Option<Timestamp> {
    loop {
        let record = Record::parse(sample.first_chunk()?)?;
        let (data, rest) = sample[RECORD..].split_at_checked(usize::from(record.data_bytes))?;
        sample = rest;
        if record.is(category::NOTIFY) && record.action & 0xffff == TIME_OF_DAY {
            let (seconds, data) = data.split_first_chunk()?;
            let nanoseconds = data.first_chunk()?;
            let read = |bytes: &[u8; 4]| {
                let number = u32::from_ne_bytes(*bytes);
                if record.is_swapped { number.swap_bytes() } else { number }
            };
            let nanoseconds = i32::try_from(read(nanoseconds)).ok()?;
            return Timestamp::new(i64::from(read(seconds)), nanoseconds).ok();
        }
    }
}

/// The records of one CPU, or of a merged file.
struct Records<R> {
    input: R,
    number: usize,
    at_byte: u64,
}

struct Item {
    record: Record,
    at_byte: u64,
}

impl<R: BufRead> Timed for Records<R> {
    type Item = Item;

    fn next(&mut self) -> Result<Option<(u64, Item)>, ImportError> {
        loop {
            let at_byte = self.at_byte;
            let mut bytes = [0; RECORD];
            match self.input.read_exact(&mut bytes) {
                Ok(()) => {}
                // A trace that was stopped may end within a record.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                Err(error) => return Err(error.into()),
            }
            let Some(record) = Record::parse(&bytes) else {
                let place = Place::Byte(at_byte);
                let at = Skipped { input: self.number, place, reason: Reason::NotARecord };
                return Err(ImportError::Corrupt { at });
            };
            let data_bytes = u64::from(record.data_bytes);
            io::copy(&mut self.input.by_ref().take(data_bytes), &mut io::sink())?;
            self.at_byte += RECORD as u64 + data_bytes;
            if !record.is(category::NOTIFY) {
                return Ok(Some((record.time_ns, Item { record, at_byte })));
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    device: u32,
    sector: u64,
    is_flush: bool,
}

/// A request in flight.
struct Pending {
    op: Op,
    flags: Flags,
    thread: Thread,
    offset: u64,
    length: u64,
    /// Bytes that were completed before.
    done: u64,
    began_ns: u64,
    is_issued: bool,
    /// The request was requeued and will be issued again.
    is_requeued: bool,
    input: usize,
    at_byte: u64,
}

struct Device {
    file: File,
    has_queue: bool,
}

#[derive(Default)]
struct Requests {
    pending: HashMap<Key, Pending>,
    devices: HashMap<u32, Device>,
    threads: HashMap<u32, Thread>,
    /// The sequence number that each CPU wrote last.
    sequences: HashMap<u32, u32>,
}

pub(super) fn read<R: BufRead, W: Write>(
    inputs: Vec<R>,
    builder: &mut Builder<W>,
) -> Result<(), ImportError> {
    let inputs = inputs.into_iter().enumerate();
    let inputs = inputs.map(|(number, input)| Records { input, number, at_byte: 0 }).collect();
    let mut merge = Merge::new(inputs)?;
    let mut requests = Requests::default();
    let mut began_ns = None;
    while let Some(next) = merge.next()? {
        let began_ns = *began_ns.get_or_insert(next.time);
        let Item { mut record, at_byte } = next.item;
        record.time_ns = next.time.saturating_sub(began_ns);
        builder.lost += requests.missing(&record);
        // Commands such as SMART requests carry no data of the user.
        if record.is(category::COMMAND) {
            continue;
        }
        match record.action & 0xffff {
            action::QUEUE if !requests.has_queue(record.device) => {
                requests.begin(&record, builder, next.input, at_byte);
            }
            action::ISSUE => requests.issue(&record, builder, next.input, at_byte),
            action::REQUEUE => {
                if let Some(pending) = requests.pending.get_mut(&record.key()) {
                    pending.is_requeued = true;
                }
            }
            action::COMPLETE => match requests.complete(&record) {
                Ok(Some(event)) => builder.push(event)?,
                Ok(None) => {}
                Err(reason) => {
                    let place = Place::Byte(at_byte);
                    builder.skip(Skipped { input: next.input, place, reason });
                }
            },
            _ => {}
        }
    }
    requests.abandon(builder, |_| true);
    Ok(())
}

impl Requests {
    /// Records of this CPU that are missing before this one.
    fn missing(&mut self, record: &Record) -> u64 {
        let before = self.sequences.insert(record.cpu, record.sequence);
        let missing = before.map_or(0, |before| record.sequence.wrapping_sub(before));
        // With two traces of one CPU, or unsorted records, lost records cannot be counted.
        if missing > 1 && missing < u32::MAX / 2 { u64::from(missing - 1) } else { 0 }
    }

    fn has_queue(&self, device: u32) -> bool {
        self.devices.get(&device).is_some_and(|device| device.has_queue)
    }

    fn issue<W: Write>(
        &mut self,
        record: &Record,
        builder: &mut Builder<W>,
        input: usize,
        at_byte: u64,
    ) {
        if let Some(pending) = self.pending.get_mut(&record.key())
            && pending.is_requeued
        {
            pending.is_requeued = false;
            return;
        }
        self.begin(record, builder, input, at_byte);
        let device = self.devices.get_mut(&record.device).expect("a request began on it");
        if !std::mem::replace(&mut device.has_queue, true) {
            self.pending.retain(|key, pending| key.device != record.device || pending.is_issued);
        }
    }

    fn begin<W: Write>(
        &mut self,
        record: &Record,
        builder: &mut Builder<W>,
        input: usize,
        at_byte: u64,
    ) {
        if self.pending.len() >= MOST_PENDING {
            let newest_ns = record.time_ns;
            self.abandon(builder, |pending| {
                newest_ns.saturating_sub(pending.began_ns) > 60_000_000_000
            });
        }
        if self.pending.len() >= MOST_PENDING {
            self.abandon(builder, |_| true);
        }
        self.devices.entry(record.device).or_insert_with(|| Device {
            file: builder.file(FileKind::BlockDevice, false),
            has_queue: false,
        });
        let thread = *self.threads.entry(record.pid).or_insert_with(|| builder.thread());
        let op = if record.is(category::DISCARD) {
            Op::Allocate
        } else if record.is_flush() {
            Op::Fdatasync
        } else if record.is(category::WRITE) {
            Op::Write
        } else {
            Op::Read
        };
        let flags = Flags::BLOCK_DEVICE;
        let is_durable = record.is(category::FUA);
        let pending = Pending {
            op,
            flags: if is_durable { flags.with(Flags::DATA_SYNC) } else { flags },
            thread,
            offset: record.sector.saturating_mul(SECTOR_BYTES),
            length: u64::from(record.bytes),
            done: 0,
            began_ns: record.time_ns,
            is_issued: record.action & 0xffff == action::ISSUE,
            is_requeued: false,
            input,
            at_byte,
        };
        let before = self.pending.insert(record.key(), pending);
        if let Some(before) = before.filter(|before| before.is_issued) {
            builder.skip(before.skipped());
        }
    }

    /// The I/O, if this completes it.
    fn complete(&mut self, record: &Record) -> Result<Option<Event>, Reason> {
        let error = i64::from(record.error.cast_signed()).abs();
        let Some(mut pending) = self.pending.remove(&record.key()) else {
            // The requested flush ends after the one that the device executed.
            let is_empty = record.bytes == 0 && error == 0;
            return if is_empty { Ok(None) } else { Err(Reason::NoRequest) };
        };
        pending.done += u64::from(record.bytes);
        if error == 0 && pending.done < pending.length {
            let sector = record.sector.saturating_add(u64::from(record.bytes) / SECTOR_BYTES);
            self.pending.insert(Key { sector, ..record.key() }, pending);
            return Ok(None);
        }
        let device = self.devices.get(&record.device).ok_or(Reason::NoRequest)?;
        let moved = if pending.op.moves_data() { pending.length.cast_signed() } else { 0 };
        Ok(Some(Event {
            flags: pending.flags,
            thread: pending.thread,
            file: device.file,
            offset: if pending.op == Op::Fdatasync { 0 } else { pending.offset },
            length: pending.length,
            result: if error == 0 { moved } else { -error },
            end_ns: record.time_ns,
            latency_ns: record.time_ns.saturating_sub(pending.began_ns),
            detail: if pending.op == Op::Allocate { KEEP_SIZE | PUNCH_HOLE } else { 0 },
            ..Event::new(pending.op)
        }))
    }

    /// Forgets requests that were issued but not completed, and counts them.
    fn abandon<W: Write>(&mut self, builder: &mut Builder<W>, is_lost: impl Fn(&Pending) -> bool) {
        let mut lost = Vec::new();
        self.pending.retain(|_, pending| {
            let is_lost = is_lost(pending);
            if is_lost && pending.is_issued {
                lost.push(pending.skipped());
            }
            !is_lost
        });
        lost.sort_by_key(|skipped| match skipped.place {
            Place::Byte(at) | Place::Line(at) => (skipped.input, at),
        });
        for skipped in lost {
            builder.skip(skipped);
        }
    }
}

impl Pending {
    const fn skipped(&self) -> Skipped {
        let place = Place::Byte(self.at_byte);
        Skipped { input: self.input, place, reason: Reason::NoCompletion }
    }
}
