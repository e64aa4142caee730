//! What every engine must do alike.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};

use iotax_experiment::{BlockSizes, Bound, Engine, Files, Job, Pace, Pattern, Share, Workload};
use iotax_load::{IoTarget, LoadDriver as _, LoadProgress, Native, Request};
use support::{MIB, MS, disk, engines, job, mem, request, run, run_in, run_prepared, workload};

/// `job` until it has moved so many bytes, however long that takes.
fn until(mut job: Job, bytes: u64) -> Workload {
    job.bound = Bound::Bytes(bytes);
    let mut workload = workload(job);
    (workload.ramp_ns, workload.time_ns) = (0, 600_000 * MS);
    workload
}

#[test]
fn counts_bytes_and_latencies_agree() {
    for engine in engines() {
        let mut job = job(engine);
        job.read_percent = 70;
        job.queue_depth = 8;
        let record = run(&workload(job));
        let job = &record.jobs[0];
        assert_eq!((job.engine.as_str(), &job.first_error), (engine.name(), &None));
        assert_eq!(job.queue_depth, if engine.is_async() { 8 } else { 1 });
        assert_eq!(record.window_ns, 200 * MS);
        assert_eq!(job.active_ns, record.window_ns);
        for direction in [&job.read, &job.write] {
            assert!(direction.ios > 0, "{}", job.engine);
            assert_eq!(direction.bytes, direction.ios * 4096);
            assert_eq!(direction.service.count(), direction.ios);
            assert_eq!((direction.errors, direction.short_ios), (0, 0));
            assert!(direction.response.is_none());
        }
        assert!(job.cpu_user_ns + job.cpu_system_ns > 0);
    }
}

#[test]
fn every_block_reads_back_as_written_from_where_it_was_written() {
    for engine in engines().filter(|engine| *engine != Engine::Null) {
        for pattern in [Pattern::Random, Pattern::Sequential] {
            let mut job = job(engine);
            job.read_percent = 30;
            job.queue_depth = 16;
            job.threads = 2;
            job.files = Files::Shared("shared".to_owned());
            job.pattern = pattern;
            job.block_sizes = BlockSizes::Range { min: 2048, max: 65_536 };
            job.verify = true;
            let record = run(&workload(job));
            let job = &record.jobs[0];
            assert!(job.write.ios > 0);
            assert_eq!((job.verify_mismatches, &job.first_error), (Some(0), &None));
        }
    }
}

#[test]
fn reads_and_writes_are_mixed_as_asked() {
    for engine in engines() {
        let mut mixed = job(engine);
        (mixed.read_percent, mixed.queue_depth) = (70, 8);
        let record = run(&until(mixed, 4 * MIB));
        let job = &record.jobs[0];
        let reads = job.read.ios as f64 / (job.read.ios + job.write.ios) as f64;
        assert!((0.5..0.9).contains(&reads), "{}: {reads}", job.engine);
    }
}

#[test]
fn block_sizes_are_drawn_as_asked() {
    let shares = vec![Share { bytes: 4096, percent: 75 }, Share { bytes: 16_384, percent: 25 }];
    for engine in engines() {
        let mut split = job(engine);
        split.block_sizes = BlockSizes::Split(shares.clone());
        let record = run(&until(split, 16 * MIB));
        let read = &record.jobs[0].read;
        let mean = read.bytes as f64 / read.ios as f64;
        assert!((0.9..1.1).contains(&(mean / 7168.0)), "{}: {mean}", engine.name());
    }
}

#[test]
fn an_open_loop_measures_from_the_intended_start() {
    for engine in engines() {
        for pace in [Pace::Even { iops: 2000.0 }, Pace::Poisson { iops: 2000.0 }] {
            let mut job = job(engine);
            job.queue_depth = 4;
            job.threads = 2;
            job.pace = pace;
            let record = run(&workload(job));
            let job = &record.jobs[0];
            assert!(job.offered_ios.is_some_and(|offered| offered > 0), "{}", job.engine);
            let response = job.read.response.as_ref().unwrap();
            assert_eq!(response.count(), job.read.ios);
            assert!(response.mean_ns() >= job.read.service.mean_ns());
        }
    }
}

#[test]
fn a_size_bound_job_moves_its_bytes_and_ends_the_trial() {
    for engine in engines() {
        let mut job = job(engine);
        job.pattern = Pattern::Sequential;
        job.bound = Bound::Bytes(MIB);
        job.queue_depth = 4;
        let mut workload = workload(job);
        (workload.ramp_ns, workload.time_ns) = (0, 60_000 * MS);
        let record = run(&workload);
        let job = &record.jobs[0];
        assert_eq!((job.read.bytes, job.read.ios), (MIB, 256), "{}", job.engine);
        assert_eq!(job.read.per_second_ios.iter().sum::<u32>(), 256);
        assert!(job.active_ns > 0 && record.window_ns < workload.time_ns);
    }
}

#[test]
fn syncs_are_counted_apart() {
    for engine in engines() {
        let mut job = job(engine);
        job.read_percent = 0;
        job.bound = Bound::Bytes(MIB / 4);
        job.fsync_every = Some(16);
        job.end_fsync = true;
        let mut workload = workload(job);
        (workload.ramp_ns, workload.time_ns) = (0, 60_000 * MS);
        let record = run(&workload);
        let job = &record.jobs[0];
        assert_eq!(job.first_error, None);
        // 64 writes: one sync after each 16, and one at the end.
        assert_eq!((job.write.ios, job.sync.count()), (64, 5), "{}", job.engine);
    }
}

#[test]
fn told_to_stop_it_returns_what_there_is() {
    for engine in engines() {
        let directory = tempfile::tempdir().unwrap();
        let disk = disk(&[mem(64 * MIB)]);
        let target = match engine {
            Engine::Vdisk => IoTarget::Disk(&disk),
            _ => IoTarget::Path(directory.path()),
        };
        let mut job = job(engine);
        job.queue_depth = 4;
        let mut workload = workload(job);
        (workload.ramp_ns, workload.time_ns) = (0, 600_000 * MS);
        let (stop, live) = (AtomicBool::new(false), LoadProgress::default());
        Native.prepare(&workload, target, &|_, _| {}, &stop).unwrap();
        let record = std::thread::scope(|scope| {
            scope.spawn(|| {
                while live.ios() == 0 {
                    std::thread::yield_now();
                }
                stop.store(true, Ordering::Relaxed);
            });
            let request = Request { live: Some(&live), ..request(&workload, target, &stop) };
            Native.run(&request).unwrap()
        });
        assert!(record.window_ns > 0 && record.window_ns < workload.time_ns / 2);
        assert_eq!(record.jobs[0].active_ns, record.window_ns);
        assert!(record.jobs[0].read.ios > 0);
        assert_eq!(live.ios(), record.jobs[0].read.ios);
        assert_eq!(live.bytes(), record.jobs[0].read.bytes);
    }
}

#[test]
fn a_job_that_starts_late_runs_for_the_rest_of_the_window() {
    for engine in engines() {
        let mut late = job(engine);
        late.start_delay_ns = 120 * MS;
        let record = run(&workload(late));
        let job = &record.jobs[0];
        assert_eq!(job.active_ns, 100 * MS);
        assert!(job.read.ios > 0);
    }
}

#[test]
fn a_file_cut_short_is_counted_as_errors() {
    for engine in [Engine::Psync, Engine::Mmap, Engine::IoUring] {
        let directory = tempfile::tempdir().unwrap();
        let mut job = job(engine);
        job.queue_depth = 4;
        let workload = workload(job);
        run_in(directory.path(), &workload);
        let path = directory.path().join("job.0");
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(MIB).unwrap();
        let record = run_prepared(&workload, IoTarget::Path(directory.path())).unwrap();
        let job = &record.jobs[0];
        assert!(job.read.errors > 0 && job.read.ios > 0, "{}", job.engine);
        let first = job.first_error.as_deref().unwrap();
        assert!(first.starts_with("read at offset "), "{first}");
        assert!(first.contains(path.to_str().unwrap()), "{first}");
    }
}

#[test]
fn a_target_that_is_gone_ends_the_thread() {
    for engine in [Engine::Psync, Engine::IoUring] {
        let directory = tempfile::tempdir().unwrap();
        let mut workload = workload(job(engine));
        run_in(directory.path(), &workload);
        let path = directory.path().join("job.0");
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
        workload.time_ns = 600_000 * MS;
        let stop = AtomicBool::new(false);
        let target = IoTarget::Path(directory.path());
        let record = Native.run(&request(&workload, target, &stop)).unwrap();
        assert!(record.jobs[0].first_error.is_some());
        assert!(record.window_ns < workload.time_ns);
    }
}
