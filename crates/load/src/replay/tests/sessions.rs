//! Copies, repeated replays, and parts.

use super::*;

#[test]
fn copies_have_files_of_their_own_and_are_counted_together() {
    let options = Options { copies: 3, ..Options::default() };
    let place = Place::with(&in_turn(20), options).unwrap();
    let load = place.replay(ReadAhead::default());
    let job = &load.jobs[0];
    assert_eq!((job.first_error.as_deref(), job.write.ios, job.sync.count()), (None, 120, 120));
    assert_eq!((job.threads, facts(&load).operations, facts(&load).left_over), (6, 240, 0));
    let name = format!("iotax-replay-{}", place.recording.survey.hash);
    let contents = |copy: &str| {
        let own = place.directory.path().join(format!("{name}{copy}")).join("f0");
        fs::read(own).unwrap()
    };
    let all = ["", "-2", "-3"].map(contents);
    assert!(all.iter().all(|bytes| bytes.len() as u64 == 40 * PAGE));
    assert!(all[0] != all[1] && all[1] != all[2], "their data cannot be deduplicated");
    let device = place.directory.path().join("device");
    fs::write(&device, []).unwrap();
    let mut alone = trace();
    alone.files.push(FileState { kind: FileKind::BlockDevice, ..file(0) });
    alone.io(0, Op::Read, 0, 0, 0);
    let place = Place::with(&alone, options).unwrap();
    let error =
        prepare(&place.recording, IoTarget::Path(&device), &|_, _| {}, &AtomicBool::new(false));
    assert!(error.unwrap_err().to_string().contains("leave out --copies"));
}

#[test]
fn copies_that_do_not_fit_on_the_disk_are_refused_before_anything_is_written() {
    let mut trace = trace();
    trace.files.push(file(1 << 50));
    trace.io(0, Op::Read, 0, 0, PAGE);
    let place = Place::with(&trace, Options { copies: 2, ..Options::default() }).unwrap();
    let error = place.prepare().unwrap_err().to_string();
    assert!(error.contains("the files of 2 copies of the recording need 2"), "{error}");
    assert!(error.ends_with("or use fewer copies (--copies)"), "{error}");
    assert_eq!(fs::read_dir(place.directory.path()).unwrap().count(), 1, "only the recording");
}

#[test]
fn a_longer_trial_repeats_the_recording_with_its_files_restored() {
    let mut trace = trace();
    trace.files.push(FileState { is_new: true, ..file(0) });
    trace.io(0, Op::Open, 0, 0, 0);
    trace.io(0, Op::Write, 0, 0, PAGE);
    trace.io(0, Op::Read, 0, 0, 2 * PAGE);
    let place = Place::of(&trace);
    let time_ns = place.recording.length_ns() * 5 / 2;
    let load = place.replay_until(TINY, time_ns, &AtomicBool::new(false));
    let job = &load.jobs[0];
    assert_eq!((job.first_error.as_deref(), job.write.ios, job.read.ios), (None, 3, 3));
    let opens = job.operations.iter().find(|operation| operation.name == "open").unwrap();
    assert_eq!((opens.latency.count(), opens.errors), (3, 0), "each creates the file");
    assert_eq!((facts(&load).operations, facts(&load).left_over), (9, 0));
    assert_eq!(job.threads, 1);
}

/// Files that come and go, and a thread that lives by timers.
fn eventful() -> Trace {
    let mut trace = trace();
    trace.files = vec![file(PAGE), FileState { is_new: true, ..file(0) }];
    trace.files.push(FileState { is_new: true, ..file(0) });
    trace.files.push(FileState { is_new: true, ..file(0) });
    trace.io(0, Op::Open, 1, 0, 0);
    for round in 0..200 {
        trace.io(0, Op::Write, 1, round * PAGE, PAGE);
        trace.wake(0, 1);
        trace.io(1, Op::Fdatasync, 1, 0, 0);
        match round {
            50 => trace.io(1, Op::Open, 2, 0, 0),
            60 => trace.io(0, Op::Write, 2, 0, PAGE),
            70 => trace.io(0, Op::Unlink, 2, 0, 0),
            80 => trace.io(0, Op::Read, 2, 0, PAGE),
            90 => trace.push(Event { op: Op::Rename, file: 0, ..blank() }),
            100 => trace.io(1, Op::Stat, 0, 0, 0),
            // The only creation of a file by the clock.
            120 => trace.io(2, Op::Open, 3, 0, 0),
            140 => trace.io(0, Op::Write, 3, 0, PAGE),
            _ => {}
        }
    }
    trace
}

#[test]
fn parts_in_order_do_what_the_whole_does() {
    let mut place = Place::of(&eventful());
    assert!(place.recording.survey.roles.threads[2].is_clocked);
    place.cut_after(&[1, 100, 180, 240, 333, 400, 500]);
    for _ in 0..2 {
        let parts: Vec<LoadRecord> = (0..8).map(|part| place.part(part)).collect();
        let (mut whole, first) = (parts[0].clone(), parts[0].window_ns);
        parts[1..].iter().for_each(|part| whole.add(part));
        assert!(whole.window_ns > first);
        let job = &whole.jobs[0];
        assert_eq!(job.first_error, None);
        assert_eq!((job.write.ios, job.read.ios, job.sync.count()), (202, 1, 200));
        let replay = whole.replay.unwrap();
        assert!(replay.operations >= 409 - 1, "{}", replay.operations);
        assert_eq!(replay.operations + replay.left_over, 409);
        assert_eq!(fs::metadata(place.path("f1")).unwrap().len(), 200 * PAGE);
        assert_eq!(fs::metadata(place.path("f3")).unwrap().len(), PAGE);
        assert!(place.path("f0r").exists() && !place.path("f2").exists());
    }
}

#[test]
fn a_part_out_of_its_order_finds_the_files_as_those_before_leave_them() {
    let mut place = Place::of(&eventful());
    place.cut_after(&[240, 333]);
    // The unlinked file is still open.
    let load = place.part(1);
    assert_eq!((load.jobs[0].first_error.as_deref(), facts(&load).left_over), (None, 0));
    place.sessions.end();
    for part in [2, 1, 2, 0, 5] {
        let load = place.part(part);
        assert_eq!(load.jobs[0].first_error, None, "{part}");
    }
    // A whole replay in between closes what the parts have left open.
    let load = place.replay(TINY);
    assert_eq!((load.jobs[0].first_error.as_deref(), load.jobs[0].write.ios), (None, 202));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn each_operation_is_in_one_part_wherever_a_recording_is_cut(
        all in prop::collection::vec((0..4_u32, 0..4_u32, 0..4_u8, 0..30_000_u64), 10..120),
        cuts in prop::collection::btree_set(0..110_usize, 1..6),
    ) {
        let mut trace = trace();
        trace.step_ns = 1000;
        trace.files = vec![file(PAGE); 2];
        let mut ios = 0;
        for (thread, other, what, latency_ns) in all {
            ios += u64::from(what > 0);
            let io = Event { thread, latency_ns, length: PAGE, result: 4096, ..blank() };
            match what {
                0 => trace.wake(thread, other),
                1 => trace.push(Event { op: Op::Write, file: 1, ..io }),
                2 => trace.push(Event { flags: Flags::AIO, ..io }),
                _ => trace.push(io),
            }
        }
        prop_assume!(ios > 0);
        let events = trace.events.len();
        let mut place = Place::of(&trace);
        let cuts: Vec<usize> = cuts.into_iter().filter(|cut| cut + 1 < events).collect();
        place.cut_after(&cuts);
        let (mut operations, mut left_over) = (0, 0);
        for part in 0..=u32::try_from(cuts.len()).unwrap() {
            let load = place.part(part);
            prop_assert_eq!(load.jobs[0].first_error.as_deref(), None);
            operations += facts(&load).operations;
            left_over += facts(&load).left_over;
        }
        let has_clocked = place.recording.survey.roles.threads.iter().any(|of| of.is_clocked);
        prop_assert_eq!(operations + left_over, ios);
        prop_assert!(left_over == 0 || has_clocked);
    }
}
