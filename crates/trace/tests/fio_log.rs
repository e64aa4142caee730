//! What is exported as a log of fio is imported again as it was, and fio replays it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

use iotax_testing::needs_program;
use iotax_trace::export::fio_log::{Exported, Options, Version, export};
use iotax_trace::import::{self, import};
use iotax_trace::{
    End, Event, FileState, Flags, Head, NO_FILE, Op, Reader, Source, TICK_NS, Writer,
};
use proptest::prelude::*;

const BOTH: [Version; 2] = [Version::Two, Version::Three];

fn event(op: Op, file: u32, offset: u64, length: u64, start_us: u64) -> Event {
    let latency_ns = 16 * TICK_NS;
    let moved = if op.moves_data() { length.cast_signed() } else { 0 };
    Event {
        op,
        flags: Flags::default(),
        thread: file,
        file,
        offset,
        length,
        result: moved,
        // The tick that ends after the microsecond begins.
        end_ns: (start_us * 1000).next_multiple_of(TICK_NS) + latency_ns,
        latency_ns,
        cpu_ns: 0,
        run_delay_ns: 0,
        detail: 0,
    }
}

fn trace(events: &[Event], files: u32) -> Vec<u8> {
    let head = Head::new("test", Source::Bpf);
    let mut writer = Writer::new(Vec::new(), &head).unwrap();
    for _ in 0..files {
        writer.file(FileState::default());
    }
    for event in events {
        writer.push(*event).unwrap();
    }
    writer.finish(&End::default()).unwrap()
}

fn exported(trace: &[u8], options: Options) -> (String, Exported) {
    let mut text = Vec::new();
    let exported = export(&mut Reader::new(trace).unwrap(), &mut text, options).unwrap();
    (String::from_utf8(text).unwrap(), exported)
}

fn events(trace: &[u8]) -> Vec<Event> {
    let mut reader = Reader::new(trace).unwrap();
    let mut events = Vec::new();
    while let Some(chunk) = reader.chunk().unwrap() {
        events.extend(chunk);
    }
    events
}

#[test]
fn a_log_has_the_order_of_starts() {
    let slow = Event { latency_ns: 40 * TICK_NS, ..event(Op::Read, 0, 0, 4096, 1003) };
    let failed = Event { result: -5, ..event(Op::Read, 0, 0, 4096, 2000) };
    let list = [
        event(Op::Write, 1, 4096, 512, 1000),
        slow,
        event(Op::Open, 1, 0, 0, 2001),
        failed,
        event(Op::Fdatasync, 1, 0, 0, 3000),
        event(Op::Truncate, 1, 0, 0, 3500),
        event(Op::Exit, NO_FILE, 0, 0, 4000),
    ];
    let trace = trace(&list, 2);
    let (text, exported_) = exported(&trace, Options { version: Version::Three, thread: None });
    assert_eq!(
        text,
        "fio version 3 iolog\n999 f0 add\n999 f0 open\n999 f0 read 0 4096\n1000 f1 add\n\
         1000 f1 open\n1000 f1 write 4096 512\n3000 f1 datasync 0 0\n3000 f0 close\n3000 f1 close\n"
    );
    assert_eq!((exported_.actions, exported_.without_data), (3, 1));
    assert_eq!(exported_.left_out, [(Op::Truncate, 1)].into());
    assert_eq!(exported_.files, [0, 1].into());
    let (text, _) = exported(&trace, Options { version: Version::Two, thread: Some(1) });
    assert_eq!(
        text,
        "fio version 2 iolog\nf1 add\nf1 open\nf1 wait 1 0\nf1 write 4096 512\nf1 wait 3 0\n\
         f1 datasync 0 0\nf1 close\n"
    );
}

/// I/Os with times that rise, in microseconds.
fn ios() -> impl Strategy<Value = Vec<Event>> {
    let op = prop_oneof![Just(Op::Read), Just(Op::Write), Just(Op::Fsync), Just(Op::Fdatasync)];
    let io = (op, 0_u32..3, 0_u64..1 << 40, 1_u64..1 << 30, 0_u64..5000);
    prop::collection::vec(io, 1..60).prop_map(|ios| {
        let mut now_us = 0;
        ios.into_iter()
            .map(|(op, file, offset, length, later_us)| {
                now_us += later_us;
                let is_sync = op.is_sync();
                let (offset, length) = if is_sync { (0, 0) } else { (offset, length) };
                event(op, file, offset, length, now_us)
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn what_is_exported_is_imported(list in ios()) {
        for version in BOTH {
            let (text, counts) = exported(&trace(&list, 3), Options { version, thread: None });
            prop_assert_eq!(counts.actions, list.len() as u64);
            let mut output = Vec::new();
            let options = import::Options { format: None, program: "test".to_owned() };
            let imported = import(vec![text.as_bytes()], &mut output, &options).unwrap();
            prop_assert_eq!(imported.skipped, 0);
            let found = events(&output);
            let found: Vec<_> =
                found.iter().filter(|event| !matches!(event.op, Op::Open | Op::Close)).collect();
            prop_assert_eq!(found.len(), list.len());
            let mut numbers = Vec::new();
            for (found, event) in found.into_iter().zip(&list) {
                prop_assert_eq!(
                    (found.op, found.offset, found.length, found.result),
                    (event.op, event.offset, event.length, event.result)
                );
                let unit_ns = if version == Version::Two { 1_000_000 } else { 1000 };
                let expected_ns = event.start_ns() / unit_ns * unit_ns;
                prop_assert_eq!(found.end_ns, expected_ns / TICK_NS * TICK_NS);
                numbers.push((event.file, found.file));
            }
            numbers.sort_unstable();
            numbers.dedup();
            prop_assert!(numbers.windows(2).all(|pair| pair[0].0 != pair[1].0));
        }
    }
}

#[test]
fn fio_replays_a_log() {
    if !needs_program("fio") {
        return;
    }
    let list = [
        event(Op::Write, 0, 0, 4096, 0),
        event(Op::Fdatasync, 0, 0, 0, 500),
        event(Op::Write, 0, 4096, 8192, 1000),
        event(Op::Read, 1, 16384, 4096, 2000),
        event(Op::Fsync, 0, 0, 0, 2500),
    ];
    for version in BOTH {
        let directory = tempfile::tempdir().unwrap();
        let (text, _) = exported(&trace(&list, 2), Options { version, thread: None });
        std::fs::write(directory.path().join("trace.log"), text).unwrap();
        std::fs::write(directory.path().join("f0"), []).unwrap();
        std::fs::write(directory.path().join("f1"), vec![1; 1 << 16]).unwrap();
        let output = Command::new("fio")
            .current_dir(directory.path())
            .args(["--name=replay", "--read_iolog=trace.log", "--ioengine=psync"])
            .args(["--output-format=json", "--output=result.json"])
            .output()
            .unwrap();
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && messages.is_empty(), "{version:?}: {messages}");
        let text = std::fs::read_to_string(directory.path().join("result.json")).unwrap();
        let result: serde_json::Value = serde_json::from_str(&text).unwrap();
        let job = &result["jobs"][0];
        assert_eq!(
            (&job["write"]["io_bytes"], &job["read"]["io_bytes"]),
            (&12288.into(), &4096.into())
        );
        // fio issues both, but does not count the last.
        assert!(job["sync"]["total_ios"].as_u64() >= Some(1), "{}", job["sync"]);
        let written = std::fs::metadata(directory.path().join("f0")).unwrap().len();
        assert_eq!(written, 12288);
    }
}
