//! A chunk of events, column by column: values are stored as differences in variable-length
//! integers, and each column is compressed separately.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use rustc_hash::FxHashMap;

use crate::event::{Event, File, Flags, Op, TICK_NS};
use crate::varint::{long, put, put_all, short, take, take_all, unzigzag, zigzag};

/// Columns of a chunk, in their order.
const COLUMNS: usize = 12;
/// No column of a chunk is longer when decoded: 64 Ki events of at most ten bytes.
const LONGEST: u64 = 10 * CHUNK as u64;
/// Events of a full chunk.
pub const CHUNK: usize = 1 << 16;

/// Error of a chunk with impossible contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Corrupt;

/// Where the next I/O on each file is expected, and how large. Encoder and decoder agree on it,
/// and begin with nothing in each chunk.
#[derive(Default)]
struct Expected {
    by_file: FxHashMap<(File, Op), (u64, u64)>,
}

impl Expected {
    /// Offset and length that follow on from the previous event of this kind.
    fn of(&self, file: File, op: Op) -> (u64, u64) {
        self.by_file.get(&(file, op)).copied().unwrap_or_default()
    }

    fn follow(&mut self, event: &Event) {
        // A wake-up has no place.
        if event.op == Op::Wake {
            return;
        }
        let next = event.offset.wrapping_add(event.length);
        self.by_file.insert((event.file, event.op), (next, event.length));
    }
}

/// Result minus the requested length: 0 if everything was transferred.
const fn result_code(event: &Event) -> u64 {
    let full = if event.op.moves_data() { event.length.cast_signed() } else { 0 };
    zigzag(event.result.wrapping_sub(full))
}

const fn result_of(code: u64, op: Op, length: u64) -> i64 {
    let full = if op.moves_data() { length.cast_signed() } else { 0 };
    unzigzag(code).wrapping_add(full)
}

/// The times in a wake-up take as few digits as others.
const fn packed(event: Event) -> Event {
    match event.op {
        Op::Wake => Event {
            length: short(event.length),
            result: short(event.result.cast_unsigned()).cast_signed(),
            ..event
        },
        _ => event,
    }
}

fn unpacked(event: Event) -> Option<Event> {
    Some(match event.op {
        Op::Wake => Event {
            length: long(event.length)?,
            result: long(event.result.cast_unsigned())?.cast_signed(),
            ..event
        },
        _ => event,
    })
}

pub(crate) fn encode(events: &[Event]) -> Vec<u8> {
    let mut columns: [Vec<u64>; COLUMNS] = Default::default();
    let mut expected = Expected::default();
    let mut before_ticks = 0_u64;
    for event in events {
        let event = &packed(*event);
        let (offset, length) = expected.of(event.file, event.op);
        let end_ticks = event.end_ns / TICK_NS;
        let numbers = [
            event.op as u64,
            u64::from(event.flags.0),
            u64::from(event.thread),
            // `NO_FILE` gets the shortest encoding.
            u64::from(event.file.wrapping_add(1)),
            zigzag(event.offset.wrapping_sub(offset).cast_signed()),
            zigzag(event.length.wrapping_sub(length).cast_signed()),
            result_code(event),
            zigzag(end_ticks.wrapping_sub(before_ticks).cast_signed()),
            short(event.latency_ns),
            short(event.cpu_ns),
            event.detail,
            short(event.run_delay_ns),
        ];
        for (column, number) in columns.iter_mut().zip(numbers) {
            column.push(number);
        }
        before_ticks = end_ticks;
        expected.follow(event);
    }
    let mut out = Vec::new();
    put(&mut out, events.len() as u64);
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    for column in columns {
        encoder.write_all(&put_all(&column)).expect("memory takes all");
        let packed = encoder.reset(Vec::new()).expect("memory takes all");
        put(&mut out, packed.len() as u64);
        out.extend(packed);
    }
    out
}

pub(crate) fn decode(mut bytes: &[u8]) -> Result<Vec<Event>, Corrupt> {
    let count = usize::try_from(take(&mut bytes).ok_or(Corrupt)?).map_err(|_| Corrupt)?;
    if count > CHUNK {
        return Err(Corrupt);
    }
    let mut columns = Vec::with_capacity(COLUMNS);
    let (mut decoder, mut column) = (DeflateDecoder::new(&[][..]), Vec::new());
    for _ in 0..COLUMNS {
        let length = usize::try_from(take(&mut bytes).ok_or(Corrupt)?).map_err(|_| Corrupt)?;
        let (packed, rest) = bytes.split_at_checked(length).ok_or(Corrupt)?;
        bytes = rest;
        decoder.reset(packed);
        column.clear();
        decoder.by_ref().take(LONGEST).read_to_end(&mut column).map_err(|_| Corrupt)?;
        columns.push(take_all(&column, count).ok_or(Corrupt)?);
    }
    if !bytes.is_empty() {
        return Err(Corrupt);
    }
    let mut expected = Expected::default();
    let mut before_ticks = 0_u64;
    let mut events = Vec::with_capacity(count);
    let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
    for _ in 0..count {
        let numbers: [u64; COLUMNS] =
            std::array::from_fn(|column| columns[column].next().expect("as many as were counted"));
        let [op, flags, thread, file, offset, length, result, end, latency, cpu, detail, delay] =
            numbers;
        let op = u8::try_from(op).ok().and_then(Op::from_number).ok_or(Corrupt)?;
        let narrow = |number: u64| u32::try_from(number).map_err(|_| Corrupt);
        let file = narrow(file)?.wrapping_sub(1);
        let (expected_offset, expected_length) = expected.of(file, op);
        let length = expected_length.wrapping_add_signed(unzigzag(length));
        let end_ticks = before_ticks.wrapping_add_signed(unzigzag(end));
        let event = Event {
            op,
            flags: Flags(u16::try_from(flags).map_err(|_| Corrupt)?),
            thread: narrow(thread)?,
            file,
            offset: expected_offset.wrapping_add_signed(unzigzag(offset)),
            length,
            result: result_of(result, op, length),
            end_ns: end_ticks.checked_mul(TICK_NS).ok_or(Corrupt)?,
            latency_ns: long(latency).ok_or(Corrupt)?,
            cpu_ns: long(cpu).ok_or(Corrupt)?,
            run_delay_ns: long(delay).ok_or(Corrupt)?,
            detail,
        };
        before_ticks = end_ticks;
        expected.follow(&event);
        events.push(unpacked(event).ok_or(Corrupt)?);
    }
    Ok(events)
}
