//! Trims: holes in files and discarded ranges of block devices, on every engine that has them.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use iotax_experiment::{Bound, Engine, Job, Pace, Pattern, Trims, Workload};
use iotax_load::{Error, Fio, IoTarget, LoadDriver as _, Native};
use iotax_record::LoadRecord;
use support::{MIB, MS, disk, engines, job, mem, prepare_and_run, request, run, run_in, workload};

const ON_FILES: [Engine; 4] = [Engine::Psync, Engine::Mmap, Engine::IoUring, Engine::Libaio];
const PAGE: usize = 4096;

/// A job that ends after `bytes`, in a workload that lasts until then.
fn bounded(trims: Trims, job: Job, bytes: u64) -> Workload {
    let bound = Bound::Bytes(bytes);
    let mut workload = workload(Job { trims: Some(trims), read_percent: 0, bound, ..job });
    (workload.ramp_ns, workload.time_ns) = (0, 60_000 * MS);
    workload
}

/// (trims, writes) of the only job, which went well.
fn counts(record: &LoadRecord) -> (u64, u64) {
    let job = &record.jobs[0];
    let trim = job.trim.as_ref().unwrap();
    assert_eq!((&job.first_error, job.read.ios), (&None, 0), "{}", job.engine);
    assert_eq!((trim.bytes, job.write.bytes), (trim.ios * 4096, job.write.ios * 4096));
    assert_eq!((trim.service.count(), job.ios()), (trim.ios, trim.ios + job.write.ios));
    (trim.ios, job.write.ios)
}

fn is_empty(page: &[u8]) -> bool {
    page.iter().all(|byte| *byte == 0)
}

/// Whether nothing is left but the mark of a file of ours.
fn is_trimmed(data: &[u8]) -> bool {
    is_empty(&data[8..])
}

#[test]
fn a_file_that_is_trimmed_is_whole_before_each_trial_and_a_hole_after_it() {
    for engine in ON_FILES {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("job.0");
        let job = Job { pattern: Pattern::Sequential, ..job(engine) };
        let mut workload = bounded(Trims::Only, job, MIB);
        for _ in 0..2 {
            let record = run_in(directory.path(), &workload);
            assert_eq!(counts(&record), (256, 0), "{engine:?}");
            let data = fs::read(&file).unwrap();
            let (trimmed, left) = data.split_at(1 << 20);
            assert!(is_trimmed(trimmed), "{engine:?}");
            assert_eq!(left.len(), 1 << 20);
            assert!(!left.chunks(PAGE).any(is_empty), "{engine:?}");
        }
        // Without preparation between two trials, too.
        workload.jobs[0].bound = Bound::Bytes(2 * MIB);
        let stop = AtomicBool::new(false);
        let target = IoTarget::Path(directory.path());
        let record = Native.run(&request(&workload, target, &stop)).unwrap();
        assert_eq!(counts(&record), (512, 0));
        let facts = fs::metadata(&file).unwrap();
        assert_eq!(facts.len(), 2 << 20);
        assert!(facts.blocks() <= 8, "{engine:?}: {}", facts.blocks());
    }
}

#[test]
fn random_trims_empty_their_own_places_and_no_others() {
    for engine in ON_FILES {
        let directory = tempfile::tempdir().unwrap();
        let mut job = job(engine);
        (job.pattern, job.queue_depth) = (Pattern::Shuffled, 8);
        let record = run_in(directory.path(), &bounded(Trims::Only, job, MIB));
        assert_eq!(counts(&record), (256, 0), "{engine:?}");
        let data = fs::read(directory.path().join("job.0")).unwrap();
        let pages = data.chunks(PAGE).filter(|page| is_trimmed(page)).count();
        assert_eq!(pages, 256, "{engine:?}");
    }
}

/// With many in flight, a write of a place may still be under way when that is trimmed again.
#[test]
fn what_is_written_after_a_trim_is_there() {
    for engine in ON_FILES {
        for (pattern, bytes) in [(Pattern::Sequential, 2 * MIB), (Pattern::Random, 8 * MIB)] {
            let directory = tempfile::tempdir().unwrap();
            let mut job = job(engine);
            (job.pattern, job.queue_depth, job.verify) = (pattern, 16, true);
            job.direct = engine != Engine::Mmap;
            let record = run_in(directory.path(), &bounded(Trims::First, job, bytes));
            assert_eq!(counts(&record), (bytes / 4096, bytes / 4096), "{engine:?}");
            assert_eq!(record.jobs[0].verify_mismatches, Some(0), "{engine:?}");
        }
    }
}

#[test]
fn trims_keep_an_offered_rate_and_fall_into_seconds_and_windows() {
    for engine in ON_FILES.into_iter().chain([Engine::Null]) {
        let mut job = job(engine);
        (job.trims, job.read_percent) = (Some(Trims::Only), 0);
        job.pace = Pace::Even { iops: 200.0 };
        let mut workload = workload(job);
        (workload.ramp_ns, workload.time_ns) = (0, 1200 * MS);
        let job = &run(&workload).jobs[0];
        let trim = job.trim.as_ref().unwrap();
        assert_eq!(trim.response.as_ref().unwrap().count(), trim.ios, "{engine:?}");
        assert_eq!(trim.per_second_ios.len(), 1);
        assert_eq!(job.per_second_ios(), trim.per_second_ios);
        assert!(job.offered_ios.is_some_and(|offered| trim.ios <= offered));
    }
}

#[test]
fn targets_that_cannot_be_trimmed_are_refused_by_name() {
    let of = |engine| Job { trims: Some(Trims::Only), read_percent: 0, ..job(engine) };
    let disk = disk(&[mem(4 * MIB)]);
    let on_disk = prepare_and_run(&workload(of(Engine::Vdisk)), IoTarget::Disk(&disk));
    insta::assert_snapshot!(on_disk.unwrap_err(), @"job `job`: mem(size=4M) is simulated inside iotax and does not support trim; choose a directory or a block device");
    // proc has no holes, and no way to make any.
    let file = Path::new("/proc/self/comm");
    let refused = prepare_and_run(&workload(of(Engine::Psync)), IoTarget::Own(file));
    assert!(refused.is_err());
}

#[test]
fn a_file_of_somebody_else_is_not_trimmed() {
    for engine in ON_FILES {
        for trims in [Trims::Only, Trims::First] {
            let directory = tempfile::tempdir().unwrap();
            let file = directory.path().join("job.0");
            fs::write(&file, vec![7; 4 << 20]).unwrap();
            let workload = bounded(trims, job(engine), MIB);
            for target in [directory.path(), &file] {
                let stop = AtomicBool::new(false);
                let target = IoTarget::Path(target);
                let prepared = Native.prepare(&workload, target, &|_, _| {}, &stop);
                let run = || Native.run(&request(&workload, target, &stop)).map(drop);
                let error = prepared.and_then(|()| run()).unwrap_err();
                let is_refused = matches!(error, Error::NotOurs { .. } | Error::WouldWrite { .. });
                assert!(is_refused, "{engine:?}: {error}");
            }
            assert!(fs::read(&file).unwrap().iter().all(|byte| *byte == 7), "{engine:?}");
        }
    }
}

#[test]
fn engines_without_trims_say_so_and_no_other_does() {
    for engine in engines() {
        let job = Job { trims: Some(Trims::Only), read_percent: 0, ..job(engine) };
        let valid = workload(job).validate();
        assert_eq!(valid.is_ok(), engine != Engine::Vdisk, "{engine:?}: {valid:?}");
    }
}

/// A loop device on a file.
struct Loop {
    node: PathBuf,
}

impl Loop {
    /// `None`, said loudly, where there can be none.
    fn new(file: &Path) -> Option<Self> {
        if !iotax_testing::needs_root() {
            return None;
        }
        let output = Command::new("losetup").args(["--find", "--show"]).arg(file).output();
        match output {
            Ok(output) if output.status.success() => {
                let node = String::from_utf8(output.stdout).unwrap();
                Some(Self { node: node.trim().into() })
            }
            other => {
                iotax_testing::skipped(&format!("loop devices need losetup: {other:?}"));
                None
            }
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.node).status();
    }
}

/// A loop device gives what is discarded back to its file, and reads it as zeroes.
#[test]
fn ranges_of_a_device_are_discarded() {
    // Not in /tmp, which may have no holes.
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = directory.path().join("disk");
    for engine in ON_FILES {
        for (trims, pattern) in
            [(Trims::Only, Pattern::Shuffled), (Trims::First, Pattern::Sequential)]
        {
            fs::write(&file, vec![7; 2 << 20]).unwrap();
            let Some(device) = Loop::new(&file) else { return };
            let mut job = job(engine);
            (job.pattern, job.queue_depth, job.direct) = (pattern, 8, engine != Engine::Mmap);
            (job.verify, job.end_fsync) = (trims == Trims::First, trims == Trims::First);
            let record = prepare_and_run(&bounded(trims, job, MIB), IoTarget::Own(&device.node));
            let record = record.unwrap();
            let writes = if trims == Trims::First { 256 } else { 0 };
            assert_eq!(counts(&record), (256, writes), "{engine:?}");
            let data = fs::read(&device.node).unwrap();
            let empty = data.chunks(PAGE).filter(|page| is_empty(page)).count();
            assert_eq!(empty as u64, 256 - writes, "{engine:?}");
            let left = data.chunks(PAGE).filter(|page| page.iter().all(|byte| *byte == 7)).count();
            assert_eq!(left, 256, "{engine:?}");
        }
    }
}

/// fio discards, and its counts and latencies of trims are in the record like ours.
#[test]
fn fio_trims_a_device_and_no_file() {
    if !iotax_testing::needs_program("fio") {
        return;
    }
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = directory.path().join("disk");
    fs::write(&file, vec![7; 2 << 20]).unwrap();
    let Some(device) = Loop::new(&file) else { return };
    let fio = Fio::find().unwrap();
    let stop = AtomicBool::new(false);
    for (trims, writes) in [(Trims::Only, 0), (Trims::First, 256)] {
        let job = Job { pattern: Pattern::Sequential, ..job(Engine::Psync) };
        let workload = bounded(trims, job, MIB);
        let run = |target| fio.run(&request(&workload, target, &stop));
        let record = run(IoTarget::Own(&device.node)).unwrap();
        let job = &record.jobs[0];
        let trim = job.trim.as_ref().unwrap();
        assert_eq!((trim.ios, job.write.ios, &job.first_error), (256, writes, &None));
        assert_eq!((trim.bytes, trim.service.count()), (MIB, 256));
        assert!(run(IoTarget::Own(&file)).is_err());
    }
}
