//! Orders of offsets, spans, files, pauses and caches on every engine.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use iotax_experiment::{BlockSizes, Bound, Engine, Job, Pattern, RunLength, Skew, Think, Workload};
use iotax_load::{IoTarget, LoadDriver as _, Native};
use iotax_testing::needs;
use support::{MIB, MS, disk, engines, job, mem, prepare_and_run, request, run, run_in, workload};

const ON_FILES: [Engine; 3] = [Engine::Psync, Engine::Mmap, Engine::IoUring];

const PATTERNS: [Pattern; 12] = [
    Pattern::Random,
    Pattern::Shuffled,
    Pattern::Skewed(Skew::Zipf(1.2)),
    Pattern::Skewed(Skew::Pareto(0.2)),
    Pattern::Skewed(Skew::Normal(10.0)),
    Pattern::Centred { skew: Skew::Pareto(0.2), centre: 0.3 },
    Pattern::Centred { skew: Skew::Normal(10.0), centre: 0.3 },
    Pattern::Sequential,
    Pattern::Strided(16_384),
    Pattern::Runs(RunLength::Fixed(8)),
    Pattern::Runs(RunLength::Geometric(4.0)),
    Pattern::Mixed { random_percent: 30 },
];

/// `job` until it has moved so many bytes.
fn bound(mut job: Job, bytes: u64) -> Workload {
    job.bound = Bound::Bytes(bytes);
    let mut workload = workload(job);
    (workload.ramp_ns, workload.time_ns) = (0, 60_000 * MS);
    workload
}

#[test]
fn every_pattern_moves_its_bytes_and_reads_back_what_it_wrote() {
    for engine in engines() {
        for pattern in PATTERNS {
            for threads in [1, 2] {
                let mut job = job(engine);
                (job.pattern, job.queue_depth, job.threads) = (pattern.clone(), 4, threads);
                (job.read_percent, job.verify) = (40, true);
                let record = run(&bound(job, MIB));
                let job = &record.jobs[0];
                let bytes = job.read.bytes + job.write.bytes;
                assert_eq!((bytes, &job.first_error), (MIB * u64::from(threads), &None));
                let verified = (engine != Engine::Null).then_some(0);
                assert_eq!(job.verify_mismatches, verified, "{engine:?} {pattern:?}");
            }
        }
    }
}

#[test]
fn a_shuffled_pass_writes_every_block_whatever_their_sizes() {
    for engine in ON_FILES {
        for sizes in [BlockSizes::Fixed(4096), BlockSizes::Range { min: 4096, max: 65_536 }] {
            let directory = tempfile::tempdir().unwrap();
            let mut job = job(engine);
            (job.pattern, job.block_sizes, job.read_percent) = (Pattern::Shuffled, sizes, 0);
            run_in(directory.path(), &bound(job, 2 * MIB));
            let data = std::fs::read(directory.path().join("job.0")).unwrap();
            assert_eq!(data.len() as u64, 2 * MIB);
            let empty = data.chunks(4096).filter(|page| page.iter().all(|byte| *byte == 0));
            assert_eq!(empty.count(), 0, "{engine:?}");
        }
    }
}

#[test]
fn several_files_take_turns() {
    for engine in ON_FILES {
        let directory = tempfile::tempdir().unwrap();
        let mut job = job(engine);
        (job.pattern, job.read_percent, job.verify) = (Pattern::Sequential, 0, true);
        (job.files_per_thread, job.fsync_every, job.end_fsync) = (4, Some(128), true);
        job.queue_depth = 8;
        let record = run_in(directory.path(), &bound(job, MIB));
        let job = &record.jobs[0];
        assert_eq!((job.write.bytes, &job.first_error), (MIB, &None), "{engine:?}");
        assert_eq!(job.verify_mismatches, Some(0));
        // Each file twice, and once more at the end.
        assert_eq!(job.sync.count(), 4 * 3);
        for file in 0..4 {
            let data = std::fs::read(directory.path().join(format!("job.0.{file}"))).unwrap();
            assert_eq!(data.len() as u64, MIB / 2);
            let (written, rest) = data.split_at(data.len() / 2);
            assert!(written.chunks(4096).all(|page| page.iter().any(|byte| *byte != 0)));
            assert!(rest.iter().all(|byte| *byte == 0), "{engine:?}");
        }
    }
}

#[test]
fn what_lies_before_the_offset_stays_as_it_is() {
    for engine in ON_FILES {
        let directory = tempfile::tempdir().unwrap();
        let mut job = job(engine);
        (job.offset_bytes, job.size_bytes, job.read_percent) = (MIB, MIB, 0);
        (job.pattern, job.verify) = (Pattern::Shuffled, true);
        let record = run_in(directory.path(), &bound(job, MIB));
        assert_eq!(record.jobs[0].verify_mismatches, Some(0));
        let data = std::fs::read(directory.path().join("job.0")).unwrap();
        let (before, span) = data.split_at(1 << 20);
        // But for the first page, which marks the file as ours.
        assert!(before[4096..].iter().all(|byte| *byte == 0), "{engine:?}");
        assert!(span.chunks(4096).all(|page| page.iter().any(|byte| *byte != 0)));
    }
}

#[test]
fn a_pause_slows_down() {
    for engine in engines() {
        let mut job = job(engine);
        job.queue_depth = 8;
        job.think = Some(Think { time_ns: 10 * MS, after_ios: 4 });
        let record = run(&bound(job, 80 * 4096));
        let job = &record.jobs[0];
        assert_eq!(job.read.ios, 80, "{engine:?}");
        // However slow the machine is: 19 pauses, of which those at the edges may be outside.
        assert!(job.active_ns >= 17 * 10 * MS, "{engine:?}: {}", job.active_ns);
    }
}

#[test]
fn writes_go_through() {
    for engine in [Engine::Psync, Engine::IoUring] {
        let mut job = job(engine);
        (job.write_through, job.read_percent) = (true, 0);
        let record = run(&bound(job, 64 << 10));
        let job = &record.jobs[0];
        assert_eq!((job.write.ios, &job.first_error), (16, &None), "{engine:?}");
    }
    let mut job = job(Engine::Vdisk);
    (job.write_through, job.read_percent) = (true, 0);
    let disk = disk(&[mem(16 * MIB)]);
    let error = prepare_and_run(&workload(job), IoTarget::Disk(&disk)).unwrap_err();
    insta::assert_snapshot!(error, @"job `job`: mem(size=16M) does not support write-through; leave out `write-through`, or use `fsync-every = 1`");
}

#[test]
fn cpus_that_are_not_there_name_the_job() {
    let directory = tempfile::tempdir().unwrap();
    let mut job = job(Engine::Null);
    job.cpus = vec![0, 1000];
    let workload = workload(job);
    let error = prepare_and_run(&workload, IoTarget::Path(directory.path())).unwrap_err();
    let text = error.to_string();
    insta::assert_snapshot!(text.split_once(';').unwrap().0, @"job `job`: CPU 1000 is not available to this process");
}

#[test]
fn a_job_that_ends_all_ends_the_window_of_all() {
    for engine in engines() {
        let mut first = job(engine);
        (first.ends_all, first.threads) = (true, 2);
        let mut workload = bound(first, MIB);
        workload.time_ns = 600_000 * MS;
        let mut endless = job(engine);
        endless.name = "endless".to_owned();
        let mut late = job(engine);
        (late.name, late.start_delay_ns) = ("late".to_owned(), 300_000 * MS);
        workload.jobs.extend([endless, late]);
        let record = run(&workload);
        assert_eq!(record.jobs[0].read.bytes, 2 * MIB);
        assert!(record.window_ns < workload.time_ns / 2);
        assert!(record.jobs[1].active_ns <= record.window_ns);
        assert_eq!((record.jobs[2].read.ios, record.jobs[2].active_ns), (0, 0), "{engine:?}");
    }
}

/// Pages of a file that are in the page cache, and pages in all.
fn cached(path: &Path) -> (usize, usize) {
    let file = File::open(path).unwrap();
    // SAFETY: mapped only to ask which pages are in memory; nobody reads them through it.
    let mapping = unsafe { memmap2::Mmap::map(&file).unwrap() };
    let mut pages = vec![0_u8; mapping.len().div_ceil(4096)];
    // SAFETY: the mapping is that long, and the vector has an entry for each of its pages.
    let answer = unsafe {
        libc::mincore(mapping.as_ptr().cast_mut().cast(), mapping.len(), pages.as_mut_ptr())
    };
    assert_eq!(answer, 0);
    (pages.iter().filter(|page| **page & 1 == 1).count(), pages.len())
}

/// Whether the file system of `directory` forgets pages when told to (tmpfs does not).
fn can_be_cold(directory: &Path) -> bool {
    let path = directory.join("probe");
    std::fs::write(&path, vec![1; 1 << 20]).unwrap();
    drop_cached(&path);
    let can = cached(&path).0 == 0;
    needs(can, &format!("a directory that is not kept in memory, as {} is", directory.display()))
}

fn drop_cached(path: &Path) {
    let file = File::open(path).unwrap();
    file.sync_all().unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
}

/// Whether all pages are in memory, one time of five: a kernel that reclaims memory before it is
/// short of it takes a page back now and then, however new it is.
fn is_whole(in_memory: impl Fn() -> (usize, usize)) -> bool {
    (0..5).map(|_| in_memory()).any(|(cached, all)| cached == all)
}

#[test]
fn a_warm_cache_is_warm_from_the_start() {
    let directory = tempfile::tempdir().unwrap();
    if !can_be_cold(directory.path()) {
        return;
    }
    let path = directory.path().join("job.0");
    for engine in ON_FILES {
        let mut job = job(engine);
        for pre_read in [false, true] {
            job.pre_read = pre_read;
            let workload = bound(job.clone(), 4096);
            let (target, stop) = (IoTarget::Path(directory.path()), AtomicBool::new(false));
            Native.prepare(&workload, target, &|_, _| {}, &stop).unwrap();
            let left_in_memory = || {
                drop_cached(&path);
                Native.run(&request(&workload, target, &stop)).unwrap();
                cached(&path)
            };
            assert_eq!(is_whole(left_in_memory), pre_read, "{engine:?}");
        }
    }
}

#[test]
fn a_cold_cache_is_cold_again_at_the_end_of_every_pass() {
    let directory = tempfile::tempdir().unwrap();
    if !can_be_cold(directory.path()) {
        return;
    }
    for engine in ON_FILES {
        for pattern in [Pattern::Sequential, Pattern::Shuffled] {
            if (engine, &pattern) == (Engine::Mmap, &Pattern::Sequential) {
                // Reads ahead as far as the device says, which may be the whole file at once.
                continue;
            }
            let mut job = job(engine);
            (job.pattern, job.invalidate) = (pattern.clone(), true);
            // A whole pass is cached; the first block of the next one drops all of it.
            let path = directory.path().join("job.0");
            let after_one = || {
                run_in(directory.path(), &bound(job.clone(), 2 * MIB));
                cached(&path)
            };
            assert!(is_whole(after_one), "{engine:?} {pattern:?}");
            run_in(directory.path(), &bound(job, 2 * MIB + 4096));
            // But for what is read ahead.
            let (after_more, all) = cached(&path);
            assert!(after_more <= all / 2, "{engine:?} {pattern:?}: {after_more} of {all}");
        }
    }
}

#[test]
fn what_is_uncached_leaves_the_cache_as_it_is_read() {
    let directory = tempfile::tempdir().unwrap();
    if !can_be_cold(directory.path()) {
        return;
    }
    let path = directory.path().join("job.0");
    for engine in [Engine::Psync, Engine::Mmap] {
        for uncached in [false, true] {
            let mut job = job(engine);
            (job.pattern, job.uncached, job.invalidate) = (Pattern::Random, uncached, true);
            run_in(directory.path(), &bound(job, 2 * MIB));
            let (cached, _) = cached(&path);
            assert_eq!(cached == 0, uncached, "{engine:?}: {cached}");
        }
    }
}

#[test]
fn a_span_is_read_where_it_lies() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data");
    std::fs::write(&path, vec![7; 100_000]).unwrap();
    let mut job = job(Engine::Psync);
    (job.offset_bytes, job.size_bytes) = (50_000, MIB);
    job.pattern = Pattern::Sequential;
    let workload = bound(job, 12 * 4096);
    // The last 50,000 bytes are twelve blocks and a rest: one more pass would be a short read.
    let record = prepare_and_run(&workload, IoTarget::Path(&path)).unwrap();
    assert_eq!((record.jobs[0].read.ios, record.jobs[0].read.short_ios), (12, 0));
    let mut byte = [0];
    File::open(&path).unwrap().read_exact_at(&mut byte, 99_999).unwrap();
    assert_eq!(byte, [7]);
}
