//! Real programs, recorded by the kernel of this machine.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::File;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use iotax_capture::{Limits, Recorded, Recorder, Request, Subject};
use iotax_trace::{EndReason, Event, FileState, Flags, Head, Op, Reader, Source};

const LIMITS: Limits = Limits { time: Some(Duration::from_mins(1)), bytes: 1 << 30, overhead: 1e9 };

fn head() -> Head {
    Head { cpus: Some(1), ..Head::new("test", Source::Bpf) }
}

struct Trace {
    events: Vec<Event>,
    files: Vec<FileState>,
    lost: u64,
}

fn read(path: &Path) -> Trace {
    let mut reader = Reader::new(File::open(path).unwrap()).unwrap();
    let mut events = Vec::new();
    while let Some(chunk) = reader.chunk().unwrap() {
        events.extend(chunk);
    }
    Trace { events, files: reader.files, lost: reader.end.unwrap().lost }
}

fn recorded(command: &[&str], output: &Path) -> Recorded {
    let command = command.iter().map(Into::into).collect();
    let never = AtomicBool::new(false);
    let recorder = Recorder::attach().unwrap();
    let subject = Subject::Command(command);
    let request = Request { subject: &subject, output, head: head(), limits: LIMITS };
    recorder.record(request, &never, &mut |_| ()).unwrap()
}

#[test]
fn each_write_and_sync_of_dd_is_recorded() {
    if !iotax_testing::needs_bpf() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("dd.iotx");
    let file = dir.path().join("data");
    let of = format!("of={}", file.display());
    let command = ["dd", "if=/dev/zero", &of, "bs=8k", "count=500", "conv=fsync", "status=none"];
    let done = recorded(&command, &output);
    assert_eq!(done.reason, Some(EndReason::Command { code: Some(0) }));
    assert!(done.was_held, "it lies where the program writes");
    let trace = read(&output);
    assert_eq!(trace.lost, 0);
    let writes: Vec<&Event> = trace.events.iter().filter(|event| event.op == Op::Write).collect();
    assert_eq!(writes.len(), 500);
    for (write, at) in writes.iter().zip(0..) {
        assert_eq!((write.offset, write.length, write.result), (at * 8192, 8192, 8192));
        assert!(write.flags.contains(Flags::AT_POSITION));
        assert_eq!(write.file, writes[0].file);
    }
    let syncs = trace.events.iter().filter(|event| event.op == Op::Fsync);
    assert_eq!(syncs.map(|sync| sync.file).collect::<Vec<_>>(), [writes[0].file]);
    assert!(trace.files[writes[0].file as usize].is_new);
}

/// fio touches each block of a file once, in random order.
fn is_seen_of_fio(engine: &str, rw: &str, options: &[&str]) {
    const BLOCKS: usize = 1024;
    if !iotax_testing::needs_bpf() || !iotax_testing::needs_program("fio") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("fio.iotx");
    let data = dir.path().join("data");
    std::fs::write(&data, [7; 4096].repeat(BLOCKS)).unwrap();
    // Only clean pages can be dropped from the page cache and fault again later.
    File::open(&data).unwrap().sync_all().unwrap();
    let filename = format!("--filename={}", data.display());
    let (engine_option, rw_option) = (format!("--ioengine={engine}"), format!("--rw={rw}"));
    let mut command = vec!["fio", "--name=x", "--size=4M", "--bs=4k", "--invalidate=1", "--thread"];
    command.extend([filename.as_str(), &engine_option, &rw_option, "--output-format=terse"]);
    command.extend(options);
    recorded(&command, &output);
    let trace = read(&output);
    assert_eq!(trace.lost, 0);
    let op = match (engine, rw) {
        ("mmap", "randread") => Op::Fault,
        ("mmap", _) => Op::Dirty,
        (_, "randread") => Op::Read,
        _ => Op::Write,
    };
    let is_of_data = |event: &&Event| {
        let file = trace.files.get(event.file as usize);
        event.op == op
            && event.length == 4096
            && file.is_some_and(|file| file.size_bytes == 4 << 20)
    };
    let seen: Vec<&Event> = trace.events.iter().filter(is_of_data).collect();
    let mut offsets: Vec<u64> = seen.iter().map(|event| event.offset).collect();
    offsets.sort_unstable();
    let expected: Vec<u64> = (0..).take(BLOCKS).map(|block| block * 4096).collect();
    assert_eq!(offsets, expected, "{engine} {rw}: {} events", trace.events.len());
    assert!(seen.iter().all(|event| event.result == 4096));
    let issued = match engine {
        "io_uring" => Flags::URING,
        "libaio" => Flags::AIO,
        _ => Flags::default(),
    };
    assert!(seen.iter().all(|event| event.flags.contains(issued)));
}

#[test]
fn each_system_call_is_recorded() {
    for engine in ["psync", "sync", "vsync", "pvsync", "pvsync2"] {
        is_seen_of_fio(engine, "randread", &[]);
        is_seen_of_fio(engine, "randwrite", &["--fsync=10"]);
    }
}

#[test]
fn each_request_of_libaio_is_recorded() {
    is_seen_of_fio("libaio", "randread", &["--direct=1", "--iodepth=16"]);
    is_seen_of_fio("libaio", "randwrite", &["--direct=1", "--iodepth=16"]);
}

#[test]
fn each_request_of_io_uring_is_recorded() {
    for options in [
        &["--iodepth=16"][..],
        &["--iodepth=16", "--direct=1", "--fixedbufs=1", "--registerfiles=1"],
        &["--iodepth=8", "--sqthread_poll=1"],
    ] {
        is_seen_of_fio("io_uring", "randread", options);
        is_seen_of_fio("io_uring", "randwrite", options);
    }
}

#[test]
fn each_page_of_a_mapping_is_recorded() {
    is_seen_of_fio("mmap", "randread", &["--fadvise_hint=random"]);
    is_seen_of_fio("mmap", "randwrite", &[]);
}

#[test]
fn children_and_unlinked_files_are_followed() {
    if !iotax_testing::needs_bpf() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("sh.iotx");
    let script = "cd \"$1\"; (echo one > a; rm a; echo two > a; mv a b; rm b)";
    let place = dir.path().to_str().unwrap();
    recorded(&["sh", "-c", script, "sh", place], &output);
    let trace = read(&output);
    let written = |event: &&Event| event.op == Op::Write && event.length == 4;
    let files: Vec<_> = trace.events.iter().filter(written).map(|event| event.file).collect();
    assert_eq!(files.len(), 2);
    assert_ne!(files[0], files[1]);
    let removed: Vec<_> = trace
        .events
        .iter()
        .filter(|event| event.op == Op::Unlink && event.result == 0)
        .map(|event| event.file)
        .collect();
    assert_eq!(removed, files);
    let renamed = trace.events.iter().find(|event| event.op == Op::Rename).unwrap();
    assert_eq!(renamed.file, files[1]);
    assert!(trace.events.iter().any(|event| event.op == Op::Spawn));
}

#[test]
fn a_program_without_io_is_an_error_and_leaves_no_file() {
    if !iotax_testing::needs_bpf() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("none.iotx");
    let mut idle = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let recorder = Recorder::attach().unwrap();
    let subject = Subject::Processes(vec![idle.id()]);
    let limits = Limits { time: Some(Duration::ZERO), ..LIMITS };
    let stop = AtomicBool::new(false);
    let request = Request { subject: &subject, output: &output, head: head(), limits };
    let result = recorder.record(request, &stop, &mut |_| ());
    idle.kill().unwrap();
    idle.wait().unwrap();
    let error = result.unwrap_err().to_string();
    assert!(error.starts_with("no I/O was recorded"), "{error}");
    assert!(!output.exists());
}
