//! Checks of what was written, as the job runs: `verify-every` and `verify-ends`, on every engine.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use iotax_experiment::{Bound, Engine, Files, Pattern, Trims, Workload};
use iotax_layers::{Fault, Layer};
use iotax_load::{IoTarget, LoadDriver as _, Native};
use support::{MIB, MS, disk, engines, job, mem, prepare_and_run, run, run_prepared, workload};

/// A job that checks after every 16 writes, and ends after `bytes`.
fn checking(engine: Engine, bytes: u64) -> Workload {
    let mut job = job(engine);
    (job.read_percent, job.verify, job.verify_every) = (0, true, Some(16));
    (job.bound, job.queue_depth) = (Bound::Bytes(bytes), 8);
    let mut workload = workload(job);
    (workload.ramp_ns, workload.time_ns) = (0, 60_000 * MS);
    workload
}

fn on_storage() -> impl Iterator<Item = Engine> {
    engines().filter(|engine| *engine != Engine::Null)
}

#[test]
fn every_write_is_read_back_once_as_the_job_runs() {
    for engine in on_storage() {
        for pattern in [Pattern::Sequential, Pattern::Random] {
            let mut workload = checking(engine, 4 * MIB);
            // Of 1030 writes, 6 are checked at the end alone.
            workload.jobs[0].bound = Bound::Bytes(4 * MIB + 6 * 4096);
            workload.jobs[0].pattern = pattern;
            let record = run(&workload);
            let job = &record.jobs[0];
            assert_eq!((&job.first_error, job.verify_mismatches), (&None, Some(0)), "{engine:?}");
            assert_eq!((job.write.ios, job.read.ios), (1030, 1024), "{engine:?}");
            assert_eq!(job.read.service.count(), 1024);
        }
    }
}

#[test]
fn reads_and_trims_of_the_job_are_no_checks() {
    for engine in on_storage() {
        let mut workload = checking(engine, 4 * MIB);
        workload.jobs[0].read_percent = 50;
        let record = run(&workload);
        let mixed = &record.jobs[0];
        assert_eq!((&mixed.first_error, mixed.verify_mismatches), (&None, Some(0)), "{engine:?}");
        let checks = mixed.write.ios / 16 * 16;
        assert_eq!(mixed.read.ios, 1024 - mixed.write.ios + checks, "{engine:?}");
        if engine == Engine::Vdisk {
            continue;
        }
        let mut workload = checking(engine, MIB);
        workload.jobs[0].trims = Some(Trims::First);
        let record = run(&workload);
        let pairs = &record.jobs[0];
        assert_eq!((&pairs.first_error, pairs.verify_mismatches), (&None, Some(0)), "{engine:?}");
        assert_eq!((pairs.write.ios, pairs.read.ios), (256, 256), "{engine:?}");
    }
}

/// Somebody else writes to the file all the time: the first check that sees it ends the job.
#[test]
fn the_first_block_that_differs_ends_the_job_where_that_is_asked() {
    for engine in on_storage().filter(|engine| *engine != Engine::Vdisk) {
        let directory = tempfile::tempdir().unwrap();
        let target = IoTarget::Path(directory.path());
        let mut workload = checking(engine, 4 * MIB);
        prepare_and_run(&workload, target).unwrap();
        let job = &mut workload.jobs[0];
        (job.bound, job.verify_ends, job.size_bytes) = (Bound::Time, true, MIB / 4);
        let is_over = AtomicBool::new(false);
        let record = thread::scope(|scope| {
            scope.spawn(|| {
                let path = directory.path().join("job.0");
                let file = OpenOptions::new().write(true).open(path).unwrap();
                while !is_over.load(Ordering::Relaxed) {
                    // Behind the page that marks the file.
                    file.write_all_at(&[7; 1 << 13], 4096).unwrap();
                }
            });
            let record = run_prepared(&workload, target);
            is_over.store(true, Ordering::Relaxed);
            record.unwrap()
        });
        let job = &record.jobs[0];
        assert!(job.active_ns < 60_000 * MS, "{engine:?}");
        assert!(job.verify_mismatches.unwrap() > 0, "{engine:?}");
        let error = job.first_error.as_ref().unwrap();
        assert!(error.starts_with("verify: offset "), "{engine:?}: {error}");
    }
}

/// A block that cannot be read back counts as a mismatch, and the job goes on.
#[test]
fn checks_that_fail_are_counted_and_end_nothing_unasked() {
    let fault = Fault { eio: 0.01, ..Fault::default() };
    for ends in [false, true] {
        let disk = disk(&[mem(4 * MIB), Layer::Fault(fault.clone())]);
        let mut workload = checking(Engine::Vdisk, 4 * MIB);
        (workload.jobs[0].pattern, workload.jobs[0].verify_ends) = (Pattern::Sequential, ends);
        let record = prepare_and_run(&workload, IoTarget::Disk(&disk)).unwrap();
        let job = &record.jobs[0];
        assert!(job.verify_mismatches.unwrap() > 0);
        assert_eq!(job.write.ios + job.write.errors == 1024, !ends, "{job:?}");
    }
}

/// One job writes what another verifies later, as in fio's example `surface-scan`.
#[test]
fn a_job_verifies_what_another_wrote_and_nothing_else() {
    for engine in on_storage() {
        let directory = tempfile::tempdir().unwrap();
        let disk = disk(&[mem(4 * MIB)]);
        let target = match engine {
            Engine::Vdisk => IoTarget::Disk(&disk),
            _ => IoTarget::Path(directory.path()),
        };
        let of = |read_percent, bytes| {
            let mut workload = checking(engine, bytes);
            let job = &mut workload.jobs[0];
            (job.read_percent, job.verify, job.verify_every) = (read_percent, false, None);
            (job.verify_apart, job.pattern) = (true, Pattern::Sequential);
            workload
        };
        // All of it holds data, half of which no job has written.
        let never = AtomicBool::new(false);
        Native.prepare(&of(100, MIB), target, &|_, _| {}, &never).unwrap();
        let written = prepare_and_run(&of(0, MIB), target).unwrap();
        let writer = &written.jobs[0];
        assert_eq!((&writer.first_error, writer.verify_mismatches), (&None, None), "{engine:?}");
        let read = prepare_and_run(&of(100, MIB), target).unwrap();
        let reader = &read.jobs[0];
        assert_eq!((&reader.first_error, reader.verify_mismatches), (&None, Some(0)), "{engine:?}");
        assert_eq!((reader.read.ios, reader.write.ios), (256, 0));
        let mut all = of(100, 2 * MIB);
        let found = &prepare_and_run(&all, target).unwrap().jobs[0];
        assert_eq!((found.read.ios, found.verify_mismatches), (512, Some(256)), "{engine:?}");
        all.jobs[0].verify_ends = true;
        let ended = &prepare_and_run(&all, target).unwrap().jobs[0];
        let few = 1..=u64::from(all.jobs[0].queue_depth);
        assert!(few.contains(&ended.verify_mismatches.unwrap()), "{engine:?}");
        assert!(ended.read.ios < 300, "{engine:?}: {}", ended.read.ios);
    }
}

#[test]
fn a_job_does_not_verify_where_another_writes() {
    let mut workload = checking(Engine::Psync, MIB);
    let shared = &mut workload.jobs[0];
    (shared.verify, shared.verify_every) = (false, None);
    shared.files = Files::Shared("both".to_owned());
    let mut reader = shared.clone();
    (reader.name, reader.read_percent, reader.verify_apart) = ("reader".to_owned(), 100, true);
    workload.jobs.push(reader);
    let directory = tempfile::tempdir().unwrap();
    let refused = prepare_and_run(&workload, IoTarget::Path(directory.path()));
    insta::assert_snapshot!(refused.unwrap_err(), @"job `reader`: `verify` cannot work while job `job` writes to the same data; give each job its own files");
}
