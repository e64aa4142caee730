//! Hand-made traces, replayed in a temporary directory.

mod sessions;

use std::fs;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::PathBuf;

use iotax_experiment::IndexEnds;
use iotax_record::ReplayRecord;
use iotax_trace::{
    Call, End, Event, FileKind, FileState, Flags, Gap, Head, NO_FILE, Op, Source, Unseen, Writer,
};
use proptest::prelude::*;
use rustix::fs::{SeekFrom, seek};
use tempfile::TempDir;

use super::parts::{Cut, EventPlace};
use super::*;
use crate::engine::testing;
use crate::index::is_ours;

const MS: u64 = 1_000_000;
const PAGE: u64 = 4096;

/// Builds a trace in which each event ends shortly after the previous one.
struct Trace {
    files: Vec<FileState>,
    events: Vec<Event>,
    unseen: Vec<Unseen>,
    lost: u64,
    now_ns: u64,
    step_ns: u64,
}

fn trace() -> Trace {
    Trace {
        files: Vec::new(),
        events: Vec::new(),
        unseen: Vec::new(),
        lost: 0,
        now_ns: MS,
        step_ns: 10_000,
    }
}

fn file(size_bytes: u64) -> FileState {
    FileState { size_bytes, ..FileState::default() }
}

impl Trace {
    fn push(&mut self, event: Event) {
        self.now_ns += self.step_ns;
        self.events.push(Event { end_ns: self.now_ns, ..event });
    }

    fn io(&mut self, thread: u32, op: Op, number: u32, offset: u64, length: u64) {
        let result = if op.moves_data() { length.cast_signed() } else { 0 };
        let file = number;
        self.push(Event { thread, op, file, offset, length, result, ..blank() });
    }

    fn wake(&mut self, thread: u32, other: u32) {
        self.wake_in(thread, other, [Call::Futex, Call::Futex]);
    }

    fn wake_in(&mut self, thread: u32, other: u32, [waker, sleeper]: [Call; 2]) {
        let detail = u64::from(other);
        let wake = Event { op: Op::Wake, thread, file: NO_FILE, detail, ..blank() };
        self.push(Event { offset: Call::pair(waker as u64, sleeper as u64), ..wake });
    }

    fn client(&mut self, thread: u32, op: Op, connection: u64) {
        let detail = connection;
        self.push(Event { thread, op, file: NO_FILE, detail, result: 100, ..blank() });
    }

    fn written(&self, directory: &TempDir) -> PathBuf {
        let head = Head { unseen: self.unseen.clone(), ..Head::new("test", Source::Bpf) };
        let mut writer = Writer::new(Vec::new(), &head).unwrap();
        for file in &self.files {
            writer.file(file.clone());
        }
        for event in &self.events {
            writer.push(*event).unwrap();
        }
        let end = End { lost: self.lost, ..End::default() };
        let path = directory.path().join("trace");
        fs::write(&path, writer.finish(&end).unwrap()).unwrap();
        path
    }
}

fn blank() -> Event {
    Event { file: 0, latency_ns: 1000, ..Event::new(Op::Read) }
}

/// A recording, and where it is replayed.
struct Place {
    directory: TempDir,
    recording: Recording,
    sessions: Sessions,
}

impl Place {
    fn of(trace: &Trace) -> Self {
        Self::with(trace, Options::default()).unwrap()
    }

    fn with(trace: &Trace, options: Options) -> Result<Self, Error> {
        let directory = tempfile::tempdir().unwrap();
        let recording = Recording::open(&trace.written(&directory), options)?;
        Ok(Self { directory, recording, sessions: Sessions::default() })
    }

    fn path(&self, name: &str) -> PathBuf {
        let own = format!("iotax-replay-{}", self.recording.survey.hash);
        self.directory.path().join(own).join(name)
    }

    fn replay(&self, ahead: ReadAhead) -> LoadRecord {
        self.replay_until(ahead, self.recording.length_ns(), &AtomicBool::new(false))
    }

    fn replay_until(&self, ahead: ReadAhead, time_ns: u64, stop: &AtomicBool) -> LoadRecord {
        self.try_replay(ahead, time_ns, None, stop).unwrap()
    }

    fn part(&self, number: u32) -> LoadRecord {
        self.try_replay(TINY, 1, Some(number), &AtomicBool::new(false)).unwrap()
    }

    /// Cuts after some events, whether or not anything crosses the cuts.
    fn cut_after(&mut self, numbers: &[usize]) {
        let bytes = fs::read(self.directory.path().join("trace")).unwrap();
        let mut reader = iotax_trace::Reader::new(&*bytes).unwrap();
        let (mut number, mut operations, mut cuts) = (0, 0, Vec::new());
        while let Some(chunk) = reader.chunk().unwrap() {
            for (in_chunk, event) in chunk.iter().enumerate() {
                operations += u64::from(graph::is_replayed(event));
                if numbers.contains(&number) {
                    let chunk_at = reader.chunk_at();
                    let last = EventPlace { chunk_at, in_chunk, number: number as u64 };
                    cuts.push(Cut::after(event, last, operations));
                }
                number += 1;
            }
        }
        self.recording.survey.cuts = Ok(cuts);
    }

    fn try_replay(
        &self,
        ahead: ReadAhead,
        time_ns: u64,
        part: Option<u32>,
        stop: &AtomicBool,
    ) -> Result<LoadRecord, Error> {
        let workload = testing::workload(vec![testing::job()]);
        let request = Request {
            workload: &workload,
            index_ends: &IndexEnds::Both,
            target: IoTarget::Path(self.directory.path()),
            ramp_ns: 0,
            time_ns,
            part,
            seed: 7,
            stop,
            live: None,
        };
        session::run(&self.recording, &self.sessions, &request, ahead)
    }

    /// Replays it on a file or device.
    fn on(&self, device: &Path) -> LoadRecord {
        let workload = testing::workload(vec![testing::job()]);
        let request = Request {
            workload: &workload,
            index_ends: &IndexEnds::Both,
            target: IoTarget::Path(device),
            ramp_ns: 0,
            time_ns: 1,
            part: Some(0),
            seed: 7,
            stop: &AtomicBool::new(false),
            live: None,
        };
        session::run(&self.recording, &self.sessions, &request, TINY).unwrap()
    }

    fn prepare(&self) -> Result<(), Error> {
        let target = IoTarget::Path(self.directory.path());
        prepare(&self.recording, target, &|_, _| {}, &AtomicBool::new(false))
    }
}

const TINY: ReadAhead = ReadAhead { nodes: 1, clocked_nodes: 1 };

fn facts(load: &LoadRecord) -> &ReplayRecord {
    load.replay.as_ref().unwrap()
}

/// Two threads that write in turn: each wakes the other when it has synced.
fn in_turn(rounds: u64) -> Trace {
    let mut trace = trace();
    trace.files.push(file(0));
    for round in 0..rounds {
        for thread in [0, 1] {
            let offset = (2 * round + u64::from(thread)) * PAGE;
            trace.io(thread, Op::Write, 0, offset, PAGE);
            trace.io(thread, Op::Fdatasync, 0, 0, 0);
            trace.wake_in(thread, 1 - thread, [Call::Signal, Call::Poll]);
        }
    }
    trace
}

#[test]
fn bytes_and_counts_are_those_of_the_trace_whatever_the_read_ahead() {
    let rounds = 40;
    let place = Place::of(&in_turn(rounds));
    for ahead in [ReadAhead::default(), TINY] {
        let load = place.replay(ahead);
        let job = &load.jobs[0];
        assert_eq!(job.first_error, None);
        assert_eq!((job.write.ios, job.write.bytes), (2 * rounds, 2 * rounds * PAGE));
        assert_eq!(job.write.service.count(), 2 * rounds);
        assert_eq!(job.sync.count(), 2 * rounds);
        assert_eq!((job.read.ios, job.write.errors, job.write.short_ios), (0, 0, 0));
        let replay = facts(&load);
        assert_eq!((replay.operations, replay.left_over), (4 * rounds, 0));
        assert_eq!(replay.waits, 2 * rounds);
        assert_eq!(replay.lateness.count(), 4 * rounds);
        assert!(load.window_ns > 0 && job.threads == 2);
        let written = fs::read(place.path("f0")).unwrap();
        assert_eq!(written.len() as u64, 2 * rounds * PAGE);
        let mut pages: Vec<&[u8]> = written.chunks(4096).collect();
        pages.sort_unstable();
        pages.dedup();
        assert_eq!(pages.len() as u64, 2 * rounds, "no two pages are alike");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_trace_makes_a_replay_stand_still(
        all in prop::collection::vec((0..5_u32, 0..5_u32, 0..6_u8, 0..3_u32), 1..200),
        nodes in 1..8_usize,
    ) {
        let mut trace = trace();
        trace.step_ns = 1000;
        trace.files = vec![file(PAGE); 3];
        let mut ios = 0;
        for (thread, other, what, number) in all {
            ios += u64::from(what > 1);
            match what {
                0 | 1 => trace.wake(thread, other),
                2 => trace.io(thread, Op::Write, number, 0, PAGE),
                3 => trace.io(thread, Op::Fdatasync, number, 0, 0),
                4 => trace.io(thread, Op::Read, number, 0, PAGE),
                _ => {
                    let flags = Flags::AIO;
                    let read = Event { thread, file: number, flags, length: PAGE, ..blank() };
                    trace.push(Event { result: 4096, latency_ns: 3500, ..read });
                }
            }
        }
        prop_assume!(ios > 0);
        let place = Place::of(&trace);
        let load = place.replay(ReadAhead { nodes, clocked_nodes: nodes });
        let replay = facts(&load);
        prop_assert_eq!(load.jobs[0].first_error.as_deref(), None);
        let clocked = replay.clocked_threads > 0;
        prop_assert!(replay.operations == ios || clocked && replay.operations < ios);
        prop_assert_eq!(replay.operations + replay.left_over, ios);
    }
}

#[test]
fn threads_that_sync_in_turn_share_syncs_and_all_are_counted() {
    let place = Place::of(&in_turn(30));
    assert!(place.recording.survey.roles.files[0].shares_syncs);
    let mut alone = trace();
    alone.files.push(file(0));
    for threads in [0, 1, 2, 3, 0, 1, 2, 3] {
        alone.io(threads, Op::Write, 0, u64::from(threads) * PAGE, PAGE);
        alone.io(threads, Op::Fsync, 0, 0, 0);
    }
    // No thread waits for another, and all are due at the same time: only the group keeps them
    // apart.
    let place = Place::of(&alone);
    assert!(place.recording.survey.roles.files[0].shares_syncs);
    let load = place.replay(ReadAhead::default());
    let shared = facts(&load).shared_syncs;
    assert_eq!((load.jobs[0].sync.count(), load.jobs[0].write.ios), (8 - shared, 8));
    assert!(shared < 8, "the first sync is issued");
}

#[test]
fn who_waited_for_a_sync_of_another_thread_waits_for_any_or_issues_one() {
    let mut trace = trace();
    trace.files.push(file(0));
    trace.files.push(file(PAGE));
    for round in 0..12 {
        let (leader, follower) = (round % 3, (round + 2) % 3);
        trace.io(leader, Op::Write, 0, u64::from(round) * PAGE, PAGE);
        trace.io(leader, Op::Fdatasync, 0, 0, 0);
        // The next leader asked during the sync, and the follower before the write.
        trace.wake(leader, (leader + 1) % 3);
        trace.wake(leader, follower);
        let asked = trace.events.last_mut().unwrap();
        asked.latency_ns = 4 * trace.step_ns;
        trace.io(follower, Op::Read, 1, 0, 1);
    }
    let place = Place::of(&trace);
    let roles = &place.recording.survey.roles;
    assert!(roles.files[0].commits && roles.threads.iter().all(|thread| thread.commits));
    let load = place.replay(ReadAhead::default());
    let replay = facts(&load);
    assert_eq!(load.jobs[0].first_error.as_deref(), None);
    assert_eq!((replay.operations, replay.left_over, load.jobs[0].write.ios), (36, 0, 12));
    let (shared, added) = (replay.shared_syncs, replay.added_syncs);
    let issued = load.jobs[0].sync.count();
    assert!(issued > 0);
    assert_eq!(issued + shared, 12 + added);
    // Most waits for another thread have become waits for a sync, or turns.
    assert!(replay.waits < 12, "{}", replay.waits);
}

#[test]
fn files_are_laid_out_as_they_lay_and_restored_after_each_trial() {
    let mut trace = trace();
    let gap = |offset, is_unwritten| Gap { offset, bytes: 4 * PAGE, is_unwritten };
    let gaps = vec![gap(4 * PAGE, false), gap(8 * PAGE, true)];
    trace.files.push(FileState { gaps, ..file(16 * PAGE) });
    trace.files.push(file(3 * PAGE));
    trace.io(0, Op::Write, 0, 5 * PAGE, PAGE);
    trace.io(0, Op::Write, 0, 9 * PAGE, PAGE);
    trace.io(0, Op::Write, 0, 16 * PAGE, PAGE);
    trace.io(0, Op::Read, 1, 0, 3 * PAGE);
    let place = Place::of(&trace);
    place.prepare().unwrap();
    let read_only = place.path("f1");
    let inode = fs::metadata(&read_only).unwrap().ino();
    for _ in 0..2 {
        let laid_out = fs::read(place.path("f0")).unwrap();
        let is_data = |page: &[u8]| page.iter().any(|byte| *byte != 0);
        let data: Vec<bool> = laid_out.chunks(4096).map(is_data).collect();
        let expected: Vec<bool> = (0..16).map(|page| !(4..12).contains(&page)).collect();
        assert_eq!(data, expected);
        let opened = fs::File::open(place.path("f0")).unwrap();
        // File systems without holes say that there is data everywhere.
        let first_hole = seek(&opened, SeekFrom::Hole(0)).unwrap();
        assert!([4 * PAGE, 16 * PAGE].contains(&first_hole));
        assert!(is_ours(&read_only));
        let load = place.replay(TINY);
        assert_eq!((load.jobs[0].write.ios, load.jobs[0].read.bytes), (3, 3 * PAGE));
        assert_eq!(fs::metadata(place.path("f0")).unwrap().len(), 17 * PAGE);
        place.prepare().unwrap();
    }
    assert_eq!(fs::metadata(&read_only).unwrap().ino(), inode, "it is used as it is");
}

#[test]
fn a_layout_that_was_cut_short_is_made_again() {
    let mut trace = trace();
    trace.files.push(file(8 * PAGE));
    trace.io(0, Op::Read, 0, 0, 8 * PAGE);
    let place = Place::of(&trace);
    place.prepare().unwrap();
    fs::write(place.path(".iotax-replay"), "partial\n").unwrap();
    fs::write(place.path("f0"), vec![0; 32_768]).unwrap();
    place.prepare().unwrap();
    assert!(is_ours(&place.path("f0")));
}

#[test]
fn what_others_own_is_left_alone() {
    let place = Place::of(&in_turn(1));
    let own = place.path("f0");
    fs::create_dir(own.parent().unwrap()).unwrap();
    fs::write(&own, "theirs").unwrap();
    let error = place.prepare().unwrap_err();
    assert!(matches!(error, Error::ReplayTarget { .. }), "{error}");
    assert_eq!(fs::read_to_string(own).unwrap(), "theirs");
}

#[test]
fn names_come_and_go_in_their_order() {
    let mut trace = trace();
    trace.files.push(FileState { is_new: true, ..file(0) });
    trace.files.push(file(PAGE));
    trace.files.push(FileState { is_new: true, ..file(0) });
    trace.files.push(FileState { kind: FileKind::Directory, ..file(0) });
    for round in 0..20 {
        let thread = round % 3;
        match round {
            0 => trace.io(0, Op::Open, 0, 0, 0),
            1..18 => trace.io(thread, Op::Write, 0, u64::from(round) * PAGE, PAGE),
            18 => {
                let rename = Event { op: Op::Rename, thread: 1, file: 0, detail: 2, ..blank() };
                trace.push(rename);
            }
            _ => {
                trace.io(2, Op::Open, 0, 0, 0);
                trace.io(2, Op::Stat, 0, 0, 0);
                trace.io(0, Op::Open, 2, 0, 0);
                trace.io(1, Op::Write, 2, 0, PAGE);
                trace.io(0, Op::Unlink, 2, 0, 0);
                trace.io(1, Op::Read, 2, 0, PAGE);
                trace.io(0, Op::Fsync, 3, 0, 0);
            }
        }
    }
    let absent = Event { op: Op::Stat, file: NO_FILE, result: -2, ..blank() };
    trace.push(absent);
    let place = Place::of(&trace);
    for ahead in [TINY, ReadAhead::default()] {
        let load = place.replay(ahead);
        let job = &load.jobs[0];
        assert_eq!(job.first_error, None);
        assert_eq!((job.write.ios, job.read.ios, job.sync.count()), (18, 1, 1));
        assert_eq!(facts(&load).failed_as_recorded, 1);
        let count = |name: &str| {
            let found = job.operations.iter().find(|operation| operation.name == name);
            found.map(|operation| (operation.latency.count(), operation.errors))
        };
        assert_eq!(count("open"), Some((3, 0)));
        assert_eq!(count("rename"), Some((1, 0)));
        assert_eq!(count("unlink"), Some((1, 0)));
        assert!(!place.path("f0").exists() && !place.path("f2").exists());
        assert_eq!(fs::metadata(place.path("f1")).unwrap().len(), 18 * PAGE);
    }
}

#[test]
fn flags_faults_and_ranges_reach_the_file() {
    let mut trace = trace();
    trace.files.push(file(64 * PAGE));
    let page = |op, offset: u64| Event {
        op,
        offset: offset * PAGE,
        length: PAGE,
        result: PAGE.cast_signed(),
        ..blank()
    };
    trace.push(Event { flags: Flags::DATA_SYNC, ..page(Op::Write, 1) });
    trace.push(Event { flags: Flags::SYNC, ..page(Op::Write, 2) });
    trace.push(page(Op::Fault, 10));
    trace.push(page(Op::Fault, 63));
    trace.push(Event { result: 0, ..page(Op::Dirty, 11) });
    trace.push(Event { result: 0, ..page(Op::Msync, 11) });
    trace.push(Event { result: 0, detail: 2, ..page(Op::SyncRange, 1) });
    trace.push(Event { result: 0, ..page(Op::Allocate, 70) });
    trace.push(Event { result: 0, ..page(Op::Truncate, 65) });
    trace.push(Event { result: 0, detail: 4, ..page(Op::Advise, 0) });
    trace.push(Event { op: Op::SyncAll, file: NO_FILE, ..blank() });
    let place = Place::of(&trace);
    let load = place.replay(TINY);
    let job = &load.jobs[0];
    assert_eq!(job.first_error, None);
    assert_eq!((job.write.ios, job.read.ios, job.sync.count()), (2, 2, 2));
    assert_eq!(facts(&load).operations, 11);
    assert_eq!(fs::metadata(place.path("f0")).unwrap().len(), 65 * PAGE);
}

#[test]
fn requests_that_overlap_are_issued_by_several_threads() {
    let mut trace = trace();
    trace.files.push(file(64 * PAGE));
    for request in 0..64 {
        let length = PAGE;
        trace.push(Event {
            flags: Flags::URING,
            offset: request * PAGE,
            length,
            result: length.cast_signed(),
            latency_ns: 80_000,
            ..blank()
        });
    }
    let place = Place::of(&trace);
    let lanes = place.recording.survey.roles.threads[0].lanes;
    assert!((7..=9).contains(&lanes), "{lanes}");
    let load = place.replay(TINY);
    assert_eq!((load.jobs[0].read.ios, load.jobs[0].threads), (64, 1));
    let notes = place.recording.workload("app").notes;
    assert!(notes.iter().any(|note| note.starts_with("Overlapping")), "{notes:?}");
}

#[test]
fn a_thread_that_lives_by_timers_holds_up_nobody() {
    let mut trace = trace();
    trace.files = vec![file(PAGE), file(PAGE)];
    for round in 0..400 {
        trace.io(0, Op::Write, 0, 0, PAGE);
        if round % 100 == 50 {
            trace.io(1, Op::Write, 1, 0, PAGE);
            trace.wake(1, 0);
        }
    }
    // Long after all others: no thread waits for it.
    trace.now_ns += 3_600_000 * MS;
    trace.io(1, Op::Write, 1, 0, PAGE);
    let place = Place::of(&trace);
    let roles = &place.recording.survey.roles.threads;
    assert_eq!([roles[0].is_clocked, roles[1].is_clocked], [false, true]);
    let load = place.replay(TINY);
    let replay = facts(&load);
    assert_eq!((replay.clocked_threads, replay.bounded_waits, replay.waits), (1, 4, 0));
    assert!(load.jobs[0].write.ios >= 400 && replay.left_over >= 1);
    assert_eq!(load.jobs[0].write.ios + replay.left_over, 405);
}

#[test]
fn a_thread_that_waits_after_its_pauses_lives_by_timers_if_it_hardly_wakes_others() {
    let is_clocked = |wakes: u32| {
        let mut trace = trace();
        trace.files = vec![file(PAGE)];
        for round in 0..100 {
            trace.now_ns += MS;
            trace.io(0, Op::Write, 0, 0, PAGE);
            trace.wake(0, 2);
            trace.wake(2, 0);
            if round % 20 == 10 {
                // It slept for 20 ms, and then waited for a short time.
                trace.wake(0, 1);
                (0..wakes).for_each(|_| trace.wake(1, 0));
            }
        }
        Place::of(&trace).recording.survey.roles.threads[1].is_clocked
    };
    assert_eq!([0, 3, 6].map(is_clocked), [true, true, false]);
}

#[test]
fn a_replay_ends_when_it_is_stopped_and_when_its_time_is_up() {
    let mut trace = in_turn(10);
    trace.now_ns += 3_600_000 * MS;
    trace.io(0, Op::Write, 0, 0, PAGE);
    let place = Place::of(&trace);
    let stop = AtomicBool::new(false);
    let load = place.replay_until(TINY, 300 * MS, &stop);
    assert_eq!((load.window_ns, load.jobs[0].write.ios), (300 * MS, 20));
    assert_eq!(facts(&load).left_over, 1);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        match place.try_replay(TINY, place.recording.length_ns(), None, &stop) {
            Ok(load) => assert!(load.jobs[0].write.ios <= 20),
            // On a busy machine, the layout was not finished yet.
            Err(error) => assert!(matches!(error, Error::Interrupted), "{error}"),
        }
    });
}

#[test]
fn failures_are_counted_and_the_first_is_described() {
    let mut trace = trace();
    trace.files.push(file(PAGE));
    let unlink = Event { op: Op::Unlink, ..blank() };
    trace.push(unlink);
    trace.push(unlink);
    trace.push(Event { result: -2, ..unlink });
    trace.push(Event { length: PAGE, result: 4096, offset: 8 * PAGE, ..blank() });
    let place = Place::of(&trace);
    let load = place.replay(TINY);
    let job = &load.jobs[0];
    let error = job.first_error.as_deref().unwrap();
    let expected = format!(
        "unlink at offset 0 of file 0 of the recording, in {}: No such file or directory (os error 2)",
        place.directory.path().display()
    );
    assert_eq!(error, expected);
    assert_eq!(facts(&load).failed_as_recorded, 1);
    assert_eq!(job.operations[0].errors, 1);
}

#[test]
fn a_trace_of_a_block_device_fits_a_file_that_is_large_enough() {
    let mut trace = trace();
    trace.unseen = vec![Unseen::Calls, Unseen::StartState];
    let kind = FileKind::BlockDevice;
    trace.files.push(FileState { kind, ..file(0) });
    trace.io(0, Op::Read, 0, 1 << 20, PAGE);
    trace.io(0, Op::Read, 0, 0, PAGE);
    let place = Place::of(&trace);
    let device = place.directory.path().join("device");
    let on_device = |bytes: u64| {
        fs::File::create(&device).unwrap().set_len(bytes).unwrap();
        let target = IoTarget::Path(&device);
        prepare(&place.recording, target, &|_, _| {}, &AtomicBool::new(false))
    };
    let error = on_device(1 << 20).unwrap_err().to_string();
    assert!(error.contains("the recording uses 1052672 bytes"), "{error}");
    on_device((1 << 20) + PAGE).unwrap();
    // In a directory, there is data where it is read.
    let load = place.replay(TINY);
    assert_eq!((load.jobs[0].read.ios, load.jobs[0].read.short_ios), (2, 0));
    let laid_out = fs::File::open(place.path("f0")).unwrap();
    let mut page = [0; 4096];
    laid_out.read_exact_at(&mut page, 1 << 20).unwrap();
    assert!(page.iter().any(|byte| *byte != 0));
    let mut writing = trace;
    writing.io(0, Op::Write, 0, 0, PAGE);
    let place = Place::of(&writing);
    let target = IoTarget::Path(&device);
    let error = prepare(&place.recording, target, &|_, _| {}, &AtomicBool::new(false));
    assert!(error.unwrap_err().to_string().contains("may not overwrite this target"));
    let place = Place::of(&in_turn(1));
    let error = prepare(&place.recording, target, &|_, _| {}, &AtomicBool::new(false));
    assert!(error.unwrap_err().to_string().contains("a single block device"));
}

#[test]
fn traces_that_cannot_be_trusted_are_refused() {
    let refused = |trace: &Trace| Place::with(trace, Options::default()).err().unwrap().to_string();
    let mut lossy = in_turn(10);
    lossy.lost = 1;
    assert!(refused(&lossy).contains("lost 1 of 61 events"));
    let allowed = Options { allow_loss: true, ..Options::default() };
    assert!(Place::with(&lossy, allowed).is_ok());
    assert!(refused(&trace()).contains("contains no I/O"));
    let mut damaged = in_turn(1);
    damaged.io(0, Op::Read, 9, 0, PAGE);
    assert!(refused(&damaged).contains("describes only 1 files"));
    let mut wide = in_turn(1);
    wide.io(70_000, Op::Read, 0, 0, PAGE);
    assert!(refused(&wide).contains("more than 4096 threads"));
}

#[test]
fn opens_and_stats_of_a_device_are_made_on_it() {
    let mut trace = trace();
    trace.files.push(FileState { kind: FileKind::BlockDevice, ..file(0) });
    trace.io(0, Op::Open, 0, 0, 0);
    trace.io(0, Op::Stat, 0, 0, 0);
    trace.push(Event { op: Op::Stat, file: NO_FILE, ..blank() });
    trace.push(Event { op: Op::Stat, file: NO_FILE, result: -2, ..blank() });
    trace.io(0, Op::Read, 0, 0, PAGE);
    trace.push(Event { op: Op::SyncAll, file: NO_FILE, ..blank() });
    let place = Place::of(&trace);
    let device = place.directory.path().join("device");
    fs::write(&device, vec![1; 1 << 16]).unwrap();
    let load = place.on(&device);
    let job = &load.jobs[0];
    assert_eq!((job.first_error.as_deref(), job.errors()), (None, 0));
    assert_eq!((facts(&load).operations, facts(&load).failed_as_recorded), (6, 1));
    // A file that is only opened does not fit, either.
    trace.files.push(file(PAGE));
    trace.io(0, Op::Open, 1, 0, 0);
    let place = Place::of(&trace);
    let target = IoTarget::Path(&device);
    let error = prepare(&place.recording, target, &|_, _| {}, &AtomicBool::new(false));
    assert!(error.unwrap_err().to_string().contains("a single block device"));
}

#[test]
fn files_are_warmed_only_if_all_fit_into_memory_and_until_the_user_stops() {
    let mut trace = trace();
    let cached = FileState { cached_bytes: Some(8 * PAGE), ..file(8 * PAGE) };
    trace.files = vec![cached.clone(), cached, file(PAGE)];
    trace.io(0, Op::Read, 0, 0, PAGE);
    let place = Place::of(&trace);
    place.prepare().unwrap();
    let own = place.path("");
    let layouts = [Layout::of(&place.recording, &own)];
    let stop = AtomicBool::new(false);
    let warmed = |available| place::cool_or_warm(&layouts, || available, &stop);
    assert_eq!(warmed(None).unwrap().bytes, 16 * PAGE);
    assert_eq!(warmed(Some(16 * PAGE)).unwrap().bytes, 16 * PAGE);
    let refused = warmed(Some(16 * PAGE - 1)).unwrap();
    assert_eq!((refused.bytes, refused.too_large.unwrap().cached_bytes), (0, 16 * PAGE));
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(matches!(warmed(None), Err(Error::Interrupted)));
    let stopped = place.try_replay(TINY, 1, None, &stop);
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[test]
fn of_a_partly_cached_file_what_was_read_from_the_cache_is_cached() {
    let mut trace = trace();
    trace.files.push(FileState { cached_bytes: Some(8 * PAGE), ..file(64 * PAGE) });
    for page in [16, 40, 17] {
        trace.io(0, Op::Read, 0, page * PAGE, PAGE);
    }
    trace.events[1].latency_ns = MS;
    let place = Place::of(&trace);
    assert_eq!(facts(&place.replay(TINY)).warmed_bytes, PAGE);
    let noted = |place: &Place| {
        let notes = place.recording.workload("app").notes;
        notes.iter().any(|note| note.contains("partly in the page cache"))
    };
    assert!(!noted(&place));
    trace.events[0].latency_ns = MS;
    let place = Place::of(&trace);
    assert_eq!(facts(&place.replay(TINY)).warmed_bytes, 0);
    assert!(noted(&place));
}

#[test]
fn long_ios_in_flight_share_a_bounded_memory() {
    let mut trace = trace();
    trace.files.push(file(64 << 20));
    for request in 0..128 {
        let length = 16 << 20;
        let flags = Flags::URING;
        let read = Event { flags, length, result: length.cast_signed(), ..blank() };
        trace.push(Event { latency_ns: 700_000, offset: request % 4 * length, ..read });
    }
    let place = Place::of(&trace);
    let buffering = needs::Buffering::of(&place.recording.survey);
    assert_eq!(buffering.piece_bytes, 2 << 20, "64 of them, and the thread itself");
    assert!(place.recording.workload("app").notes.iter().any(|note| note.contains("2 MiB")));
    let load = place.replay(ReadAhead::default());
    let read = &load.jobs[0].read;
    assert_eq!((read.ios, read.bytes, read.short_ios), (128, 128 << 24, 0));
}

/// A thread receives requests, and another one answers them.
#[test]
fn the_answers_to_requests_are_counted_and_timed() {
    let mut trace = Trace { files: vec![file(16 * PAGE)], ..trace() };
    trace.client(1, Op::Answer, 0);
    for number in 0..20 {
        trace.client(0, Op::Request, number % 2);
        trace.wake(0, 1);
        trace.io(1, Op::Read, 0, PAGE * (number % 16), PAGE);
        trace.client(1, Op::Answer, number % 2);
        trace.wake(1, 0);
    }
    trace.client(0, Op::Request, 0);
    let place = Place::of(&trace);
    let workload = place.recording.workload("app");
    assert!(workload.answers_requests());
    assert_eq!(workload.recording().unwrap().requests, 20);
    let record = place.replay(TINY);
    let requests = record.jobs[0].operations.iter().find(|done| done.name == "request").unwrap();
    assert_eq!(requests.latency.count(), 20);
    // From the recorded arrival to the recorded answer, or longer.
    assert!(requests.latency.min_ns() >= 25_000, "{requests:?}");
}
