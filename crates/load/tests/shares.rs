//! What jobs write, and how they share target and machine, on every engine.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::collections::HashSet;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use iotax_experiment::{
    Bound, Content, Engine, Flow, IoPriority, LatencyTarget, Pattern, PriorityClass, PriorityShare,
    Stretches,
};
use support::{MIB, MS, engines, job, run, run_in, workload};

const ON_FILES: [Engine; 4] = [Engine::Psync, Engine::Mmap, Engine::IoUring, Engine::Libaio];

#[test]
fn data_on_the_target_compresses_and_repeats_as_asked_trial_after_trial() {
    for engine in ON_FILES {
        let directory = tempfile::tempdir().unwrap();
        let mut job = job(engine);
        (job.read_percent, job.pattern) = (0, Pattern::Sequential);
        job.bound = Bound::Bytes(2 * MIB);
        job.content =
            Some(Content { compress_percent: 50, dedupe_percent: 40, ..Content::default() });
        let mut workload = workload(job);
        (workload.ramp_ns, workload.time_ns) = (0, 60_000 * MS);
        for _ in 0..2 {
            // The second trial takes the file for one of its own.
            let record = run_in(directory.path(), &workload);
            assert_eq!(record.jobs[0].first_error, None, "{engine:?}");
            let data = std::fs::read(directory.path().join("job.0")).unwrap();
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
            let distinct: HashSet<&[u8]> = data.chunks(4096).collect();
            for block in &distinct {
                encoder.write_all(block).unwrap();
            }
            let ratio = encoder.finish().unwrap().len() as f64 / (distinct.len() * 4096) as f64;
            assert!((ratio - 0.5).abs() < 0.02, "{engine:?}: {ratio}");
            let repeated = 1.0 - distinct.len() as f64 / 512.0;
            // Five standard deviations of 512 draws.
            assert!((repeated - 0.4).abs() < 0.11, "{engine:?}: {repeated}");
        }
    }
}

#[test]
fn data_of_a_kind_is_verified_like_any_other() {
    for engine in engines().filter(|engine| *engine != Engine::Null) {
        let mut job = job(engine);
        (job.read_percent, job.verify, job.queue_depth) = (50, true, 4);
        job.content = Some(Content { compress_percent: 80, ..Content::default() });
        let record = run(&workload(job));
        assert_eq!(record.jobs[0].verify_mismatches, Some(0), "{engine:?}");
    }
}

/// What fio's `verify_pattern` asks for, behind a header of 32 bytes in each 4 KiB.
#[test]
fn a_pattern_is_on_the_target_between_the_headers() {
    for engine in ON_FILES {
        let directory = tempfile::tempdir().unwrap();
        let mut job = job(engine);
        (job.read_percent, job.pattern, job.verify) = (0, Pattern::Shuffled, true);
        let pattern = vec![0xAA, 0x55, 0x5A, 0xA5];
        job.content = Some(Content {
            compress_percent: 100,
            chunk_bytes: 4096,
            pattern: pattern.clone(),
            ..Content::default()
        });
        job.bound = Bound::Bytes(2 * MIB);
        let mut workload = workload(job);
        (workload.ramp_ns, workload.time_ns) = (0, 60_000 * MS);
        let record = run_in(directory.path(), &workload);
        assert_eq!(record.jobs[0].verify_mismatches, Some(0), "{engine:?}");
        let data = std::fs::read(directory.path().join("job.0")).unwrap();
        let expected: Vec<u8> = pattern.iter().copied().cycle().take(4064).collect();
        assert!(data.chunks(4096).all(|page| page[32..] == expected), "{engine:?}");
    }
}

/// The rule is exact for I/Os begun; those in flight at the edges of the window differ.
#[test]
fn jobs_keep_their_proportion() {
    for engine in engines() {
        let with = |name: &str, weight, sleep_ns| {
            let mut job = job(engine);
            job.name = name.to_owned();
            job.flow = Some(Flow { weight, group: 3, sleep_ns });
            job
        };
        let mut workload = workload(with("one", 1, 0));
        workload.jobs.push(with("eight", 8, 0));
        workload.ramp_ns = 0;
        let record = run(&workload);
        let [one, eight] = [0, 1].map(|at| record.jobs[at].read.ios as f64);
        assert!((one * 8.0 - eight).abs() <= 32.0 + eight * 0.02, "{engine:?}: {one} and {eight}");
    }
}

#[test]
fn stretches_and_increments_leave_the_rest_alone() {
    for engine in ON_FILES {
        let directory = tempfile::tempdir().unwrap();
        let mut job = job(engine);
        (job.read_percent, job.pattern, job.threads) = (0, Pattern::Sequential, 2);
        (job.files, job.offset_increment_bytes) =
            (iotax_experiment::Files::Shared("one".to_owned()), 2 * MIB);
        let kib = 1024;
        job.stretches =
            Some(Stretches { bytes: 64 * kib, range_bytes: 64 * kib, skip_bytes: 192 * kib });
        job.bound = Bound::Bytes(MIB / 2);
        let mut workload = workload(job);
        (workload.ramp_ns, workload.time_ns) = (0, 60_000 * MS);
        run_in(directory.path(), &workload);
        let data = std::fs::read(directory.path().join("one")).unwrap();
        assert_eq!(data.len() as u64, 4 * MIB);
        for (nth, stretch) in data.chunks(64 << 10).enumerate() {
            let is_written = stretch.chunks(4096).all(|page| page.iter().any(|byte| *byte != 0));
            let is_empty = stretch.iter().all(|byte| *byte == 0);
            assert!(if nth % 4 == 0 { is_written } else { is_empty }, "{engine:?}: {nth}");
        }
    }
}

#[test]
fn priorities_are_taken_by_the_kernel() {
    for engine in [Engine::IoUring, Engine::Libaio] {
        let mut job = job(engine);
        let of = |class, level| IoPriority { class, level };
        job.priority = Some(of(PriorityClass::BestEffort, 6));
        job.priorities = vec![PriorityShare {
            reads: true,
            bytes: None,
            percent: 50,
            priority: of(PriorityClass::Idle, 0),
        }];
        let record = run(&workload(job));
        let job = &record.jobs[0];
        assert_eq!((job.read.errors, &job.first_error), (0, &None), "{engine:?}");
        assert!(job.read.ios > 0);
    }
}

/// A latency that nothing misses: all of the depth is found, measured for one more window, and the
/// job ends.
#[test]
fn a_job_that_finds_its_depth_measures_that_alone_and_ends() {
    for engine in engines() {
        let mut job = job(engine);
        job.queue_depth = 8;
        job.latency_target = Some(LatencyTarget {
            target_ns: 600_000 * MS,
            window_ns: 2 * MS,
            percentile: 99.0,
            keeps_on: false,
        });
        let mut workload = workload(job);
        (workload.ramp_ns, workload.time_ns) = (0, 60_000 * MS);
        let record = run(&workload);
        let job = &record.jobs[0];
        // A synchronous engine has one at a time only.
        let most = if engine.is_async() || engine == Engine::Vdisk { 8 } else { 1 };
        assert_eq!((job.found_depth, &job.first_error), (Some(most), &None), "{engine:?}");
        assert!(job.active_ns < 60_000 * MS && job.read.ios > 0, "{engine:?}");
    }
}
