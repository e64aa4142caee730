//! Replays in a process of their own: how much memory they take, and what is left when they are
//! killed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;

use iotax_experiment::IndexEnds;
use iotax_load::{IoTarget, LoadDriver as _, Replay, ReplayOptions, Request};
use iotax_record::LoadRecord;
use iotax_trace::{Call, End, Event, FileState, Head, NO_FILE, Op, Source, Writer};

const PAGE: u64 = 4096;
const MIB: u64 = 1 << 20;
/// Set for a process that replays instead of testing.
const CHILD: &str = "IOTAX_TEST_REPLAY_IN";

fn event(op: Op, thread: u32, end_ns: u64) -> Event {
    Event { thread, file: 0, end_ns, latency_ns: 100, ..Event::new(op) }
}

fn write_trace(directory: &Path, files: &[FileState], events: impl Iterator<Item = Event>) {
    let head = Head::new("test", Source::Bpf);
    let mut writer = Writer::new(Vec::new(), &head).unwrap();
    for file in files {
        writer.file(file.clone());
    }
    for event in events {
        writer.push(event).unwrap();
    }
    fs::write(directory.join("trace"), writer.finish(&End::default()).unwrap()).unwrap();
}

/// For the process that waits for this one.
fn say(words: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{words}").unwrap();
}

fn replay(directory: &Path) -> LoadRecord {
    let replay = Replay::open(&directory.join("trace"), ReplayOptions::default()).unwrap();
    let workload = replay.recording().workload("test");
    let request = Request {
        workload: &workload,
        index_ends: &IndexEnds::Both,
        target: IoTarget::Path(directory),
        ramp_ns: 0,
        time_ns: workload.time_ns,
        part: None,
        seed: 7,
        stop: &AtomicBool::new(false),
        live: None,
    };
    say("begins");
    let load = replay.run(&request).unwrap();
    say("ends");
    load
}

/// This program again, as a process that only does what the test `name` has a child do.
fn child(name: &str, directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn asked_for() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

/// A figure of `/proc/self/status`, in bytes.
fn status_bytes(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_matches([':', ' ', '\t']).strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
}

/// Far more events than are read ahead. All that the test would find in a recording of 10 GB, it
/// finds here: nothing is kept of an event that was replayed.
#[test]
fn a_long_recording_takes_little_memory() {
    const EVENTS: u64 = 600_000;
    const THREADS: u64 = 8;
    if let Some(directory) = asked_for() {
        let before = status_bytes("VmRSS");
        replay(&directory);
        say(&format!("took {}", status_bytes("VmHWM").saturating_sub(before)));
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let of = |number: u64| {
        let thread = u32::try_from(number % THREADS).unwrap();
        let end_ns = 1_000_000 + 1000 * number;
        let read = Event { length: 1, result: 1, ..event(Op::Read, thread, end_ns) };
        // One in four wakes another thread.
        if number % 4 != 3 {
            return Event { offset: number % PAGE, ..read };
        }
        let futex = Call::Futex as u64;
        let detail = (number + 1) % THREADS;
        let offset = Call::pair(futex, futex);
        Event { op: Op::Wake, file: NO_FILE, detail, offset, length: 0, result: 0, ..read }
    };
    let file = FileState { size_bytes: PAGE, ..FileState::default() };
    write_trace(directory.path(), &[file], (0..EVENTS).map(of));
    let said = child("a_long_recording_takes_little_memory", directory.path());
    let said = said.wait_with_output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let took = said.lines().find_map(|line| line.split_once("took "));
    let took: u64 = took.unwrap().1.parse().unwrap();
    assert!(took < 64 * MIB, "{} MiB", took / MIB);
}

/// Files of all kinds: created, renamed, removed, grown, with holes.
fn write_eventful(directory: &Path) {
    let grown = FileState { size_bytes: 64 * PAGE, ..FileState::default() };
    let new = FileState { is_new: true, ..FileState::default() };
    let mut events = Vec::new();
    let mut push = |op, file, offset, length: u64| {
        let end_ns = 1_000_000 + 20_000 * events.len() as u64;
        let result = if op == Op::Write { length.cast_signed() } else { 0 };
        let thread = u32::try_from(events.len() % 3).unwrap();
        events.push(Event { file, offset, length, result, ..event(op, thread, end_ns) });
    };
    push(Op::Open, 1, 0, 0);
    for round in 0..300 {
        push(Op::Write, 0, (60 + round) * PAGE, PAGE);
        push(Op::Fdatasync, 0, 0, 0);
        push(Op::Write, 1, round * PAGE, PAGE);
        if round == 150 {
            push(Op::Rename, 2, 0, 0);
            push(Op::Truncate, 3, 0, 0);
        }
    }
    push(Op::Unlink, 1, 0, 0);
    let files = [grown.clone(), new, grown.clone(), grown];
    write_trace(directory, &files, events.into_iter());
}

/// docs/measure/replays-killed.sh does it 200 times with the program.
#[test]
fn the_next_replay_works_after_one_was_killed() {
    const NAME: &str = "the_next_replay_works_after_one_was_killed";
    if let Some(directory) = asked_for() {
        loop {
            replay(&directory);
        }
    }
    let directory = tempfile::tempdir().unwrap();
    write_eventful(directory.path());
    for kill_after in 0..10_usize {
        let mut killed = child(NAME, directory.path());
        let lines = BufReader::new(killed.stdout.take().unwrap()).lines();
        // While files are laid out or restored, or in the middle of the replay.
        let words = lines.filter(|line| {
            let line = line.as_ref().unwrap();
            line.ends_with("begins") || line.ends_with("ends")
        });
        let last = words.take(1 + kill_after % 4).count();
        assert_eq!(last, 1 + kill_after % 4);
        std::thread::yield_now();
        killed.kill().unwrap();
        killed.wait().unwrap();
        let load = replay(directory.path());
        let job = &load.jobs[0];
        assert_eq!((job.first_error.as_deref(), job.write.ios), (None, 600), "{kill_after}");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "one directory of its own");
    }
}
