//! Parquet tables contain each event of a trace.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotax_trace::export::parquet::export;
use iotax_trace::{End, Event, FileState, Flags, Head, NO_FILE, Op, Reader, Source, Writer};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::RowAccessor as _;

fn head() -> Head {
    Head::new("test", Source::Bpf)
}

#[test]
fn each_event_is_a_row() {
    const EVENTS: u32 = 300_000;
    let mut writer = Writer::new(Vec::new(), &head()).unwrap();
    let file = writer.file(FileState::default());
    for number in 0..EVENTS {
        let at = u64::from(number);
        let event = match number % 3 {
            0 => Event { file, offset: at * 4096, flags: Flags::DIRECT, ..Event::new(Op::Write) },
            1 => Event { file, result: -5, ..Event::new(Op::Fsync) },
            _ => Event { file: NO_FILE, detail: 7, ..Event::new(Op::Wake) },
        };
        let times = Event { end_ns: at * 65_536 + 64_000, latency_ns: 64, ..event };
        writer.push(Event { thread: number % 5, length: 4096, ..times }).unwrap();
    }
    let trace = writer.finish(&End::default()).unwrap();
    let mut events = Vec::new();
    let mut reader = Reader::new(trace.as_slice()).unwrap();
    while let Some(chunk) = reader.chunk().unwrap() {
        events.extend(chunk);
    }

    let mut table = Vec::new();
    let rows = export(&mut Reader::new(trace.as_slice()).unwrap(), &mut table).unwrap();
    assert_eq!(rows, u64::from(EVENTS));
    let path = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(path.path(), &table).unwrap();
    let table = SerializedFileReader::new(path.reopen().unwrap()).unwrap();
    let mut found = 0;
    for (row, event) in table.get_row_iter(None).unwrap().zip(&events) {
        let row = row.unwrap();
        assert_eq!(row.get_string(0).unwrap(), event.op.name());
        let file = (event.file != NO_FILE).then_some(i64::from(event.file));
        assert_eq!(row.get_long(1).ok(), file);
        let columns: Vec<i64> = (2..12).map(|column| row.get_long(column).unwrap()).collect();
        let expected = [
            event.thread.into(),
            event.start_ns().cast_signed(),
            event.latency_ns.cast_signed(),
            event.offset.cast_signed(),
            event.length.cast_signed(),
            event.result,
            event.flags.0.into(),
            event.cpu_ns.cast_signed(),
            event.run_delay_ns.cast_signed(),
            event.detail.cast_signed(),
        ];
        assert_eq!(columns, expected);
        found += 1;
    }
    assert_eq!(found, EVENTS);
}
