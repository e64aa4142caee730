//! Imports of real traces give the expected events.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use iotax_trace::import::{
    Format, ImportError, Imported, Options, Place, Reason, Skipped, import, sniff,
};
use iotax_trace::{Event, FileKind, FileState, Flags, NO_FILE, Op, Reader, Source, Unseen};
use proptest::prelude::*;

const APP: &[u8] = include_bytes!("data/app.strace");
const APP_WITH_PATHS: &[u8] = include_bytes!("data/app-y.strace");
const FIO_SYNCS: &[u8] = include_bytes!("data/syncs.iolog");
const FIO_MIXED: &[u8] = include_bytes!("data/mixed.iolog");
/// Of Linux 6.1: `dd` reads and writes, syncs, reads ahead; `blkdiscard`.
const BLKTRACE: &[u8] = include_bytes!("data/vda.blktrace");

struct Trace {
    imported: Imported,
    started: String,
    source: Source,
    files: Vec<FileState>,
    events: Vec<Event>,
    lost: u64,
}

fn try_import(inputs: &[&[u8]], format: Option<Format>) -> Result<Trace, ImportError> {
    let mut output = Vec::new();
    let options = Options { format, program: "test".to_owned() };
    let imported = import(inputs.to_vec(), &mut output, &options)?;
    let mut reader = Reader::new(output.as_slice()).unwrap();
    let mut events = Vec::new();
    while let Some(chunk) = reader.chunk().unwrap() {
        events.extend(chunk);
    }
    let end = reader.end.unwrap();
    assert_eq!((events.len() as u64, end.lost), (imported.events, imported.lost));
    assert_eq!(reader.files.len(), imported.files as usize);
    assert_eq!(reader.head.unseen, imported.unseen);
    for event in &events {
        assert!(event.thread < imported.threads);
        assert!(event.file == NO_FILE || event.file < imported.files);
    }
    Ok(Trace {
        imported,
        started: reader.head.started,
        source: reader.head.source,
        files: reader.files,
        events,
        lost: end.lost,
    })
}

fn imported(inputs: &[&[u8]]) -> Trace {
    try_import(inputs, None).unwrap()
}

/// Offset and moved bytes of what was done to a file by an operation.
fn done(trace: &Trace, file: u32, op: Op) -> Vec<(u64, u64)> {
    let events = trace.events.iter().filter(|event| (event.file, event.op) == (file, op));
    events.map(|event| (event.offset, event.moved())).collect()
}

#[test]
fn strace_tells_of_an_application() {
    let trace = imported(&[APP]);
    assert_eq!((trace.source, trace.imported.skipped), (Source::Strace, 0));
    assert_eq!(trace.started, "2026-11-28T07:18:22.107839Z");
    assert!(trace.imported.unseen.contains(&Unseen::Faults));
    assert!(!trace.imported.unseen.contains(&Unseen::Latencies));
    // The process, two threads and a child.
    assert_eq!(trace.imported.threads, 4);
    let [data, log, directory, copy] = [0, 1, 2, 3];
    assert_eq!(trace.files.len(), 4);
    assert!(trace.files[2].kind == FileKind::Directory && trace.files[2].is_new);
    assert!(trace.files[3].is_new && !trace.files[0].is_new);
    assert_eq!((trace.files[1].size_bytes, trace.files[3].size_bytes), (0, 0));

    // `read` of a duplicate, of the child and of the parent go on where the others ended.
    let at_position: Vec<u64> = trace
        .events
        .iter()
        .filter(|e| e.file == data && e.op == Op::Read && e.flags.contains(Flags::AT_POSITION))
        .map(|event| event.offset)
        .collect();
    assert_eq!(at_position, [4096, 5096, 5596, 6326]);
    assert_eq!(done(&trace, data, Op::Write), [(0, 8192), (16384, 4096), (6296, 30)]);
    let appended = done(&trace, log, Op::Write);
    assert_eq!(appended.iter().map(|(_, moved)| moved).sum::<u64>(), 1500);
    let mut end = 0;
    for (offset, moved) in &appended {
        assert_eq!(*offset, end);
        end += moved;
    }
    let write = trace.events.iter().find(|e| e.file == log && e.op == Op::Write).unwrap();
    assert!(write.flags.contains(Flags::APPEND.with(Flags::DATA_SYNC)));
    assert_eq!(write.latency_ns / 10_000, 52);

    let one = |op: Op| {
        let found: Vec<_> = trace.events.iter().filter(|event| event.op == op).collect();
        assert_eq!(found.len(), 1, "{op}");
        *found[0]
    };
    assert_eq!((one(Op::Msync).file, one(Op::Msync).length), (data, 8192));
    assert_eq!(one(Op::Truncate).offset, 10000);
    assert_eq!(one(Op::Allocate).length, 65536);
    assert_eq!((one(Op::Rename).file, one(Op::Rename).detail), (log, 0));
    assert_eq!((one(Op::Mkdir).file, one(Op::Unlink).file), (directory, copy));
    let copied = one(Op::CopyRange);
    assert_eq!((copied.file, copied.offset, copied.detail), (log, 0, copy.into()));
    assert_eq!((one(Op::SendFile).file, one(Op::SendFile).moved()), (log, 200));
    assert_eq!(one(Op::Map).detail, 1 << 8 | 3);
    assert_eq!(trace.events.iter().filter(|event| event.op == Op::Spawn).count(), 3);
    assert_eq!(trace.events.iter().filter(|event| event.op == Op::Exit).count(), 4);
    assert!(trace.events.is_sorted_by_key(|event| event.end_ns));
}

/// What each thread did, with files renumbered in the order of the first event.
fn by_thread(trace: &Trace) -> BTreeMap<u32, Vec<(Op, u32, u64, i64)>> {
    let mut threads: BTreeMap<u32, Vec<_>> = BTreeMap::new();
    for event in &trace.events {
        // Appends of two threads may come in another order.
        let offset = if event.flags.contains(Flags::APPEND) { 0 } else { event.offset };
        let done = (event.op, event.file, offset, event.result);
        threads.entry(event.thread).or_default().push(done);
    }
    threads
}

#[test]
fn lines_without_a_pid_and_with_paths_say_the_same() {
    let trace = imported(&[APP_WITH_PATHS]);
    assert_eq!(trace.imported.skipped, 0, "{:?}", trace.imported.examples);
    assert_eq!(by_thread(&trace), by_thread(&imported(&[APP])));
}

#[test]
fn strace_without_times_says_what_to_do() {
    let text = b"openat(AT_FDCWD, \"x\", O_RDONLY) = 3\nread(3, \"\", 5) = 0\n";
    assert_eq!(sniff(text), Some(Format::Strace));
    let Err(error) = try_import(&[text], None) else { panic!("it was imported") };
    let expected = Skipped { input: 0, place: Place::Line(1), reason: Reason::Time };
    assert!(matches!(&error, ImportError::Empty { first: Some(first) } if *first == expected));
    assert!(error.to_string().contains("line 1: the timestamp is missing"), "{error}");
}

#[test]
fn sizes_before_the_trace_are_what_was_read() {
    let text = "\
        1700000000.0 openat(AT_FDCWD, \"/srv/db\", O_RDWR) = 3 <0.000001>\n\
        1700000000.1 pwrite64(3, \"\"..., 4096, 1048576) = 4096 <0.000001>\n\
        1700000000.2 pread64(3, \"\"..., 8192, 1044480) = 8192 <0.000001>\n\
        1700000000.3 openat(AT_FDCWD, \"/srv/new\", O_RDWR|O_CREAT|O_EXCL, 0600) = 4 <0.000001>\n\
        1700000000.4 pread64(4, \"\", 8192, 0) = 0 <0.000001>\n\
        1700000000.5 openat(AT_FDCWD, \"/srv/gone\", O_RDONLY) = -1 ENOENT (No such file) <0.1>\n\
        1700000000.6 openat(AT_FDCWD, \"/srv/log\", O_WRONLY|O_APPEND) = 5 <0.000001>\n\
        1700000000.7 fstat(5, {st_mode=S_IFREG|0644, st_size=777, ...}) = 0 <0.000001>\n\
        1700000000.8 write(5, \"\"..., 100) = 100 <0.000001>\n\
        1700000000.9 fstat(5, {st_mode=S_IFREG|0644, st_size=877, ...}) = 0 <0.000001>\n";
    let trace = imported(&[text.as_bytes()]);
    let sizes: Vec<u64> = trace.files.iter().map(|file| file.size_bytes).collect();
    assert_eq!(sizes, [1_048_576, 0, 777]);
    assert!(trace.files[1].is_new);
    assert_eq!(done(&trace, 2, Op::Write), [(777, 100)]);
    let failed = trace.events.iter().find(|event| event.errno().is_some()).unwrap();
    assert_eq!((failed.op, failed.file, failed.result), (Op::Open, NO_FILE, -2));
}

#[test]
fn too_many_unknown_descriptors_are_an_error() {
    let line = "7 1700000000.0 read(9, \"\"..., 10) = 10 <0.000001>\n";
    let known = "7 1700000000.0 pread64(8, \"\"..., 10, 50) = 10 <0.000001>\n";
    let text = known.repeat(9) + line;
    assert_eq!(imported(&[text.as_bytes()]).imported.skipped, 1);
    let text = known.repeat(8) + line;
    let error = try_import(&[text.as_bytes()], None).err().unwrap();
    assert!(matches!(error, ImportError::TooManySkipped { skipped: 1, records: 9, first }
            if first.reason == Reason::UnknownDescriptor && first.place == Place::Line(9)));
}

#[test]
fn logs_of_fio_are_merged() {
    let trace = imported(&[FIO_SYNCS]);
    assert_eq!(done(&trace, 0, Op::Write).len(), 16);
    assert_eq!(done(&trace, 0, Op::Fdatasync).len(), 4);
    assert_eq!(done(&trace, 0, Op::Fsync).len(), 3);
    assert_eq!((trace.files[0].size_bytes, trace.imported.threads), (0, 1));
    let first = trace.events.iter().find(|event| event.op == Op::Write).unwrap();
    assert_eq!(first.end_ns, first.rounded().end_ns);
    assert_eq!(first.end_ns / 1000, 103);

    let both = imported(&[FIO_SYNCS, FIO_MIXED]);
    assert_eq!((both.imported.threads, both.imported.files), (2, 3));
    assert_eq!(both.events.len(), trace.events.len() + imported(&[FIO_MIXED]).events.len());
    assert!(both.events.is_sorted_by_key(|event| event.end_ns));
}

#[test]
fn waits_of_version_2_are_milliseconds() {
    let text = b"fio version 2 iolog\n/dev/sdb add\n/dev/sdb open\n/dev/sdb wait 5 0\n\
        /dev/sdb write 4096 4096\n/dev/sdb wait 7 0\n/dev/sdb trim 0 4096\n/dev/sdb close\n";
    let trace = imported(&[text]);
    assert!(trace.imported.unseen.contains(&Unseen::Times));
    assert_eq!((trace.files[0].kind, trace.files[0].size_bytes), (FileKind::BlockDevice, 8192));
    let times: Vec<_> = trace.events.iter().map(|e| (e.op, e.end_ns.div_ceil(1_000_000))).collect();
    assert_eq!(times, [(Op::Open, 0), (Op::Write, 5), (Op::Allocate, 7), (Op::Close, 7)]);
}

#[test]
fn cloud_traces_are_told_apart() {
    let alibaba = b"device_id,opcode,offset,length,timestamp\n\
        419,W,8792731648,16384,1577808000000046\n725,R,4096,512,1577808000000146\n";
    let trace = imported(&[alibaba]);
    assert_eq!(trace.imported.format, Format::Alibaba);
    assert_eq!(trace.started, "2019-12-31T16:00:00.000046Z");
    let [write, read] = trace.events[..] else { panic!("{:?}", trace.events) };
    assert_eq!(
        (write.op, write.file, write.offset, write.length),
        (Op::Write, 0, 8_792_731_648, 16384)
    );
    assert_eq!((read.op, read.thread, read.end_ns.div_ceil(1000)), (Op::Read, 1, 100));
    assert_eq!(trace.files[1].size_bytes, 4608);

    let tencent = b"1538323200,12910952,128,0,1063\n1538323201,12910953,8,1,1063\n";
    let trace = imported(&[tencent]);
    assert_eq!(trace.imported.format, Format::Tencent);
    assert!(trace.imported.unseen.contains(&Unseen::Times));
    assert_eq!(done(&trace, 0, Op::Read), [(12_910_952 * 512, 65536)]);
    assert_eq!(done(&trace, 0, Op::Write), [(12_910_953 * 512, 4096)]);

    let Err(error) = try_import(&[alibaba, alibaba], None) else { panic!("it was imported") };
    assert!(matches!(error, ImportError::TooManyInputs { format: Format::Alibaba, inputs: 2 }));
}

#[test]
fn traces_that_are_not_in_order_are_refused() {
    let row = |time_us: u64| format!("1,R,0,512,{time_us}\n");
    let text = (0..40_000).fold(row(0), |text, at| text + &row(50_000_000 - 1000 * at));
    let error = try_import(&[text.as_bytes()], None).err().unwrap();
    assert!(matches!(error, ImportError::Unordered { .. }), "{error}");
}

/// A record of blktrace.
#[derive(Clone, Copy)]
struct Record {
    time_ns: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    category: u32,
    sequence: u32,
    device: u32,
    error: u16,
}

const READ: u32 = 1;
const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
const DISCARD: u32 = 1 << 13;
const FUA: u32 = 1 << 15;
const QUEUE: u32 = 1;
const REQUEUE: u32 = 6;
const ISSUE: u32 = 7;
const COMPLETE: u32 = 8;

fn record(time_ns: u64, action: u32, category: u32, sector: u64, bytes: u32) -> Record {
    Record { time_ns, sector, bytes, action, category, sequence: 0, device: 8 << 20, error: 0 }
}

fn binary(records: &[Record], is_big_endian: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, record) in (1_u32..).zip(records) {
        let mut put = |number: u64, bytes: usize| {
            if is_big_endian {
                out.extend(&number.to_be_bytes()[8 - bytes..]);
            } else {
                out.extend(&number.to_le_bytes()[..bytes]);
            }
        };
        put(0x6561_7407, 4);
        put(if record.sequence > 0 { record.sequence } else { number }.into(), 4);
        put(record.time_ns, 8);
        put(record.sector, 8);
        put(record.bytes.into(), 4);
        put((record.category << 16 | record.action).into(), 4);
        put(77, 4);
        put(record.device.into(), 4);
        put(0, 4);
        put(record.error.into(), 2);
        put(3, 2);
        out.extend(b"pdu");
    }
    out
}

#[test]
fn requests_of_blktrace_are_matched() {
    let records = [
        record(1_000_000, QUEUE, WRITE, 8, 4096),
        record(1_001_000, ISSUE, WRITE | FUA, 8, 8192),
        record(1_002_000, ISSUE, READ, 800, 4096),
        record(1_003_000, COMPLETE, WRITE | FUA, 8, 4096),
        record(1_052_000, COMPLETE, READ, 800, 4096),
        record(1_064_000, COMPLETE, WRITE | FUA, 16, 4096),
        record(1_070_000, ISSUE, FLUSH, 0, 0),
        record(1_080_000, COMPLETE, FLUSH, 0, 0),
        record(1_090_000, ISSUE, DISCARD | WRITE, 64, 1 << 20),
        record(1_091_000, REQUEUE, DISCARD | WRITE, 64, 1 << 20),
        record(1_092_000, ISSUE, DISCARD | WRITE, 64, 1 << 20),
        Record {
            error: 5_u16.wrapping_neg(),
            ..record(1_100_000, COMPLETE, DISCARD | WRITE, 64, 0)
        },
    ];
    for is_big_endian in [false, true] {
        let bytes = binary(&records, is_big_endian);
        let trace = imported(&[&bytes]);
        assert_eq!((trace.imported.skipped, trace.lost), (0, 0), "{:?}", trace.imported.examples);
        let found: Vec<_> = trace
            .events
            .iter()
            .map(|e| (e.op, e.offset, e.length, e.result, (e.latency_ns + 500) / 1000))
            .collect();
        assert_eq!(
            found,
            [
                (Op::Read, 409_600, 4096, 4096, 50),
                (Op::Write, 4096, 8192, 8192, 63),
                (Op::Fdatasync, 0, 0, 0, 10),
                (Op::Allocate, 32768, 1 << 20, -5, 10),
            ]
        );
        assert!(trace.events[1].flags.contains(Flags::DATA_SYNC.with(Flags::BLOCK_DEVICE)));
        assert_eq!(trace.files[0].kind, FileKind::BlockDevice);
        assert_eq!(trace.files[0].size_bytes, 413_696);
    }
}

#[test]
fn a_disk_is_traced() {
    let trace = imported(&[BLKTRACE, &[]]);
    assert_eq!((trace.imported.skipped, trace.lost), (0, 0), "{:?}", trace.imported.examples);
    assert!(trace.started.starts_with("2026-11-28T07:"), "{}", trace.started);
    let mut reads: Vec<(u64, u64)> = (1000..1010).map(|block| (4096 * block, 4096)).collect();
    reads.extend([(0, 196_608), (458_752, 65536)]);
    assert_eq!(done(&trace, 0, Op::Read), reads);
    assert_eq!(done(&trace, 0, Op::Write), [(196_608, 262_144)]);
    let others: Vec<_> = trace.events[11..].iter().map(|e| (e.op, e.offset, e.length)).collect();
    assert_eq!(others[0], (Op::Fdatasync, 0, 0));
    assert_eq!(others[3], (Op::Allocate, 1 << 20, 1 << 20));
    // 5.3 ms by blkparse.
    assert_eq!(trace.events[14].latency_ns / 100_000, 53);
    assert_eq!(trace.files[0].size_bytes, 4_136_960);
}

#[test]
fn cpus_are_merged_and_missing_records_are_counted() {
    let issues: Vec<Record> =
        (0..20).map(|at| record(1000 * at, ISSUE, READ, 8 * at, 4096)).collect();
    let completions: Vec<Record> =
        (0..20).map(|at| record(1000 * at + 500, COMPLETE, READ, 8 * at, 4096)).collect();
    let (first, second) = (binary(&issues, false), binary(&completions, false));
    let trace = imported(&[&[], &first, &second]);
    assert_eq!((trace.events.len(), trace.imported.skipped), (20, 0));
    let error = try_import(&[&second], None).err().unwrap();
    assert!(matches!(error, ImportError::Empty { first: Some(first) }
        if first.reason == Reason::NoRequest && first.place == Place::Byte(0)));

    let mut records = [issues, completions].concat();
    records.sort_by_key(|record| record.time_ns);
    for (number, record) in (1..).zip(&mut records) {
        record.sequence = if number < 30 { number } else { number + 7 };
    }
    assert_eq!(imported(&[&binary(&records, false)]).lost, 7);

    let mut cut = binary(&records, false);
    cut.truncate(cut.len() - 10);
    assert_eq!(imported(&[&cut]).events.len(), 19);
    cut[51 * 4] ^= 1;
    let error = try_import(&[&cut], None).err().unwrap();
    assert_eq!(error.to_string(), "byte 204: not a blktrace record (version 7)");
}

#[test]
fn devices_without_a_queue_begin_when_queued() {
    let records: Vec<Record> = (0..20)
        .flat_map(|at| {
            let time_ns = 1_000_000 * at;
            [
                record(time_ns, QUEUE, WRITE, 8 * at, 4096),
                record(time_ns + 2000, COMPLETE, WRITE, 8 * at, 4096),
            ]
        })
        .collect();
    let trace = imported(&[&binary(&records, false)]);
    assert_eq!(trace.events.len(), 20);
    assert!(trace.events.iter().all(|event| event.latency_ns / 10 == 200));
}

#[test]
fn what_nobody_wrote_is_refused() {
    let import = |inputs: &[&[u8]]| try_import(inputs, None).err().unwrap();
    assert!(matches!(import(&[]), ImportError::NoInput));
    assert!(matches!(import(&[b""]), ImportError::UnknownFormat));
    assert!(matches!(import(&[b"fio version 1 iolog\n"]), ImportError::UnknownFormat));
    assert!(matches!(import(&[b"hello\nworld\n"]), ImportError::UnknownFormat));
    assert!(matches!(import(&[b"fio version 3 iolog\n"]), ImportError::Empty { first: None }));
    let error = import(&[b"fio version 3 iolog\n", b"1 f0 add"]);
    assert_eq!(error.to_string(), "input 2, line 1: the line is not in the expected format");
}

const FORMATS: [Format; 5] =
    [Format::Strace, Format::FioLog, Format::Blktrace, Format::Alibaba, Format::Tencent];

/// A text with some of its bytes changed.
fn damaged(text: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), prop_oneof![any::<u8>(), b' '..b'~']);
    prop::collection::vec(change, 0..30).prop_map(move |changes| {
        let mut text = text.to_vec();
        for (at, byte) in changes {
            let at = at.index(text.len());
            text[at] = byte;
        }
        text
    })
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..1000)) {
        sniff(&bytes);
        for format in FORMATS {
            let _ = try_import(&[&bytes], Some(format));
        }
    }

    #[test]
    fn damaged_input_does_not_panic(
        text in prop_oneof![
            damaged(APP), damaged(APP_WITH_PATHS), damaged(FIO_MIXED), damaged(BLKTRACE)
        ]
    ) {
        let _ = try_import(&[&text], None);
    }

    #[test]
    fn rows_do_not_panic(
        rows in prop::collection::vec(prop::collection::vec(any::<u64>(), 5), 1..20),
        opcode in prop::option::of("[RW01]"),
    ) {
        let text = rows.iter().fold(String::new(), |text, row| match &opcode {
            Some(opcode) => format!("{text}{},{opcode},{},{},{}\n", row[0], row[1], row[2], row[3]),
            None => format!("{text}{},{},{},1,{}\n", row[0], row[1], row[2], row[3]),
        });
        for format in FORMATS {
            let _ = try_import(&[text.as_bytes()], Some(format));
        }
    }

    #[test]
    fn records_do_not_panic(
        records in prop::collection::vec(
            (any::<u64>(), 1_u32..12, any::<u32>(), 0_u64..20, any::<u32>(), any::<u16>()),
            1..40,
        )
    ) {
        let records: Vec<Record> = records
            .into_iter()
            .map(|(time_ns, action, category, sector, bytes, error)| Record {
                error,
                ..record(time_ns, action, category & 0xffff, sector, bytes)
            })
            .collect();
        let _ = try_import(&[&binary(&records, false)], None);
    }
}
