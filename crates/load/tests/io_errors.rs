//! Bad targets, failing devices: clear errors, and nothing measured is lost.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};

use iotax_experiment::{Blame as _, BlockSizes, Bound, Engine, Pattern};
use iotax_layers::{Cache, Delay, Fault, Layer, Queue};
use iotax_load::{IoTarget, LoadDriver as _, Native};
use support::{MIB, MS, disk, job, mem, prepare_and_run, request, run_in, workload};

fn refusal(workload: &iotax_experiment::Workload, target: IoTarget<'_>) -> String {
    prepare_and_run(workload, target).unwrap_err().to_string()
}

#[test]
fn a_full_disk_is_found_out_before_anything_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let mut workload = workload(job(Engine::Psync));
    workload.jobs[0].size_bytes = 1 << 60;
    let text = refusal(&workload, IoTarget::Path(directory.path()));
    let (before, after) = text.split_once(" are free").unwrap();
    let (before, _available) = before.rsplit_once(' ').unwrap();
    assert_eq!(
        format!("{before} N{after}").replace(directory.path().to_str().unwrap(), "DIR"),
        "not enough space in DIR: the test files need 1152921504606846976 more bytes, \
         but only N; free some space, or lower `size`"
    );
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn somebody_elses_file_is_neither_overwritten_nor_extended() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("job.0");
    std::fs::write(&path, "mine").unwrap();
    let hide = |text: String| text.replace(directory.path().to_str().unwrap(), "DIR");
    let target = IoTarget::Path(directory.path());
    let mut workload = workload(job(Engine::Psync));
    insta::assert_snapshot!(
        hide(refusal(&workload, target)),
        @"DIR/job.0 exists, was not written by iotax, and has only 4 of the 2097152 bytes to read; move it away, or lower `size`"
    );
    workload.jobs[0].read_percent = 0;
    insta::assert_snapshot!(
        hide(refusal(&workload, target)),
        @"DIR/job.0 exists and was not written by iotax, and job `job` would overwrite it; move it away, or choose another directory"
    );
    let stop = AtomicBool::new(false);
    assert!(Native.run(&request(&workload, target, &stop)).is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn a_directory_that_cannot_be_written_to_is_named() {
    // Nobody, not even root, can create files in /proc.
    let text = refusal(&workload(job(Engine::Psync)), IoTarget::Path("/proc".as_ref()));
    assert!(
        text.starts_with("not enough space in /proc") || text.starts_with("cannot create /proc/"),
        "{text}"
    );
}

#[test]
fn a_job_that_does_not_suit_its_target_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let hide = |text: String| text.replace(directory.path().to_str().unwrap(), "DIR");
    let target = IoTarget::Path(directory.path());
    insta::assert_snapshot!(
        hide(refusal(&workload(job(Engine::Vdisk)), target)),
        @"job `job`: engine `vdisk` needs a virtual disk, but DIR is a path; name a stack such as `mem(size=64M)` as the target, or choose another engine"
    );
    let mut direct = workload(job(Engine::Mmap));
    direct.jobs[0].direct = true;
    insta::assert_snapshot!(
        hide(refusal(&direct, target)),
        @"job `job`: engine `mmap` always goes through the page cache; set `direct = false`, or choose another engine"
    );
    let mut deep = workload(job(Engine::IoUring));
    deep.jobs[0].queue_depth = 100_000;
    insta::assert_snapshot!(
        hide(refusal(&deep, target)),
        @"job `job`: a queue depth of 100000 is too large for io_uring with registered buffers; the maximum is 8192"
    );
}

#[test]
fn layouts_are_used_again_and_finished_when_cut_short() {
    let directory = tempfile::tempdir().unwrap();
    let (workload, target) = (workload(job(Engine::Psync)), IoTarget::Path(directory.path()));
    let (stop, path) = (AtomicBool::new(false), directory.path().join("job.0"));
    let prepare = || {
        let written = std::cell::Cell::new(0);
        let progress = |done, _total| written.set(done);
        Native.prepare(&workload, target, &progress, &stop).map(|()| written.get())
    };
    assert_eq!(prepare().unwrap(), 2 * MIB);
    let data = std::fs::read(&path).unwrap();
    assert_eq!(prepare().unwrap(), 0);
    // Cut short in its second MiB.
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(MIB + 5000).unwrap();
    assert_eq!(prepare().unwrap(), MIB);
    assert_eq!(std::fs::read(&path).unwrap(), data);
    // Allocated, but never written.
    std::fs::write(&path, &data[..4096]).unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(2 * MIB).unwrap();
    assert_eq!(prepare().unwrap(), 2 * MIB);
    assert_eq!(std::fs::read(&path).unwrap(), data);
    std::fs::remove_file(&path).unwrap();
    stop.store(true, Ordering::Relaxed);
    assert_eq!(prepare().unwrap_err().fault(), iotax_experiment::Fault::Interrupted);
}

#[test]
fn laid_out_data_does_not_repeat() {
    let directory = tempfile::tempdir().unwrap();
    let mut two = workload(job(Engine::Psync));
    two.jobs[0].threads = 2;
    let stop = AtomicBool::new(false);
    Native.prepare(&two, IoTarget::Path(directory.path()), &|_, _| {}, &stop).unwrap();
    let files = ["job.0", "job.1"].map(|name| std::fs::read(directory.path().join(name)).unwrap());
    let blocks: std::collections::HashSet<&[u8]> =
        files.iter().flat_map(|file| file.chunks(512)).collect();
    assert_eq!(blocks.len(), 2 * (2 << 20) / 512);
}

#[test]
fn errors_of_a_virtual_disk_are_counted_and_the_job_goes_on() {
    let fault = Layer::Fault(Fault { eio: 0.2, ..Fault::default() });
    let disk = disk(&[mem(16 * MIB), fault]);
    let mut workload = workload(job(Engine::Vdisk));
    (workload.ramp_ns, workload.time_ns) = (0, 600_000 * MS);
    (workload.jobs[0].queue_depth, workload.jobs[0].bound) = (4, Bound::Bytes(16 * MIB));
    let record = prepare_and_run(&workload, IoTarget::Disk(&disk)).unwrap();
    let job = &record.jobs[0];
    let share = job.read.errors as f64 / (job.read.errors + job.read.ios) as f64;
    assert!((0.15..0.25).contains(&share), "{share}");
    let first = job.first_error.as_deref().unwrap();
    assert!(first.ends_with("Input/output error (os error 5)"), "{first}");
}

#[test]
fn simulated_latency_shows_at_every_depth() {
    let delay = Layer::Delay(Delay { latency_ns: 2 * MS, jitter_ns: 0 });
    for depth in [1, 16, 256] {
        let disk = disk(&[mem(16 * MIB), delay.clone()]);
        let mut workload = workload(job(Engine::Vdisk));
        workload.jobs[0].queue_depth = depth;
        let record = prepare_and_run(&workload, IoTarget::Disk(&disk)).unwrap();
        let job = &record.jobs[0];
        assert!(job.read.service.min_ns() >= 2 * MS - MS / 100);
        let expected = f64::from(depth) * 100.0;
        let share = job.read.ios as f64 / expected;
        assert!(job.read.ios > 0 && share < 1.02, "depth {depth}: {share}");
    }
}

#[test]
fn several_jobs_run_at_once_each_with_its_own_engine() {
    let directory = tempfile::tempdir().unwrap();
    let mut workload = workload(job(Engine::Psync));
    let mut second = job(Engine::Mmap);
    (second.name, second.pattern) = ("second".to_owned(), Pattern::Sequential);
    second.invalidate = true;
    workload.jobs.push(second);
    let record = run_in(directory.path(), &workload);
    let engines: Vec<_> = record.jobs.iter().map(|job| job.engine.as_str()).collect();
    assert_eq!(engines, ["psync", "mmap"]);
    assert!(record.jobs.iter().all(|job| job.read.ios > 0 && job.first_error.is_none()));
    assert!(record.system.process_cpu_ns.unwrap() > 0);
}

#[test]
fn invalidated_files_come_from_the_device() {
    // A temporary directory may lie in memory; the build directory does not.
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut workload = workload(job(Engine::Psync));
    // Long after the counters are read, which is at the start of the window.
    (workload.ramp_ns, workload.jobs[0].start_delay_ns) = (0, 50 * MS);
    (workload.time_ns, workload.jobs[0].bound) = (600_000 * MS, Bound::Bytes(2 * MIB));
    workload.jobs[0].pattern = Pattern::Sequential;
    workload.jobs[0].invalidate = true;
    let record = run_in(directory.path(), &workload);
    let fetched = record.system.device_read_bytes.unwrap();
    assert!(record.jobs[0].read.bytes >= MIB && fetched >= MIB, "{fetched}");
}

/// All that an earlier run has written to it is gone but the mark, and its space is there.
#[test]
fn a_fresh_file_has_never_been_written_before() {
    use std::os::unix::fs::{FileExt as _, MetadataExt as _};
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut workload = workload(job(Engine::Psync));
    let log = &mut workload.jobs[0];
    (log.read_percent, log.pattern, log.fresh) = (0, Pattern::Sequential, true);
    let path = directory.path().join("job.0");
    run_in(directory.path(), &workload);
    let length = std::fs::metadata(&path).unwrap().len();
    let old = std::fs::File::options().write(true).open(&path).unwrap();
    old.write_all_at(&vec![1; 64 << 10], length - (64 << 10)).unwrap();
    workload.jobs[0].bound = Bound::Bytes(64 << 10);
    run_in(directory.path(), &workload);
    let data = std::fs::read(&path).unwrap();
    assert_eq!(data.len() as u64, length);
    assert!(data[1 << 20..].iter().all(|byte| *byte == 0));
    assert!(std::fs::metadata(&path).unwrap().blocks() * 512 >= length);
}

#[test]
fn a_work_queue_in_the_disk_is_waited_for() {
    let queue = Layer::Queue(Queue { workers: 2 });
    let delay = Layer::Delay(Delay { latency_ns: MS, jitter_ns: 0 });
    for layers in [vec![mem(16 * MIB), queue.clone()], vec![mem(16 * MIB), delay, queue]] {
        let disk = disk(&layers);
        let mut workload = workload(job(Engine::Vdisk));
        workload.jobs[0].queue_depth = 8;
        (workload.jobs[0].read_percent, workload.jobs[0].verify) = (0, true);
        let record = prepare_and_run(&workload, IoTarget::Disk(&disk)).unwrap();
        let job = &record.jobs[0];
        assert_eq!((job.verify_mismatches, &job.first_error), (Some(0), &None));
        assert!(job.write.ios > 0);
    }
}

#[test]
fn direct_io_works_where_the_file_system_does_it() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for engine in [Engine::Psync, Engine::IoUring] {
        let mut workload = workload(job(engine));
        let direct = &mut workload.jobs[0];
        (direct.direct, direct.queue_depth, direct.verify) = (true, 4, true);
        (direct.read_percent, direct.block_sizes) =
            (50, BlockSizes::Range { min: 4096, max: 65_536 });
        match prepare_and_run(&workload, IoTarget::Path(directory.path())) {
            Ok(record) => {
                let job = &record.jobs[0];
                assert_eq!((job.verify_mismatches, &job.first_error), (Some(0), &None));
                assert!(job.read.ios > 0 && job.write.ios > 0);
            }
            Err(error) => assert!(error.to_string().contains("set `direct = false`"), "{error}"),
        }
    }
}

#[test]
fn the_kernel_may_poll_the_submission_queue() {
    let directory = tempfile::tempdir().unwrap();
    let mut workload = workload(job(Engine::IoUring));
    (workload.jobs[0].sqpoll, workload.jobs[0].queue_depth) = (true, 8);
    let record = run_in(directory.path(), &workload);
    assert_eq!(record.jobs[0].first_error, None);
    assert!(record.jobs[0].read.ios > 0);
}

#[test]
fn an_invalidated_virtual_disk_starts_with_an_empty_cache() {
    let cache = Layer::Cache(Cache { size_bytes: 8 * MIB });
    let disk = disk(&[mem(16 * MIB), cache]);
    let mut workload = workload(job(Engine::Vdisk));
    workload.jobs[0].pattern = Pattern::Sequential;
    workload.jobs[0].bound = Bound::Bytes(MIB);
    let reads_below = |invalidate| {
        let mut workload = workload.clone();
        workload.jobs[0].invalidate = invalidate;
        let before = disk.stats()[0].reads;
        prepare_and_run(&workload, IoTarget::Disk(&disk)).unwrap();
        disk.stats()[0].reads - before
    };
    assert_eq!([reads_below(false), reads_below(false), reads_below(true)], [256, 0, 256]);
}

/// I/Os that outlast the window: the record says that the job was at it, and what it stayed below.
#[test]
fn a_job_that_completes_nothing_in_its_window_has_stalled() {
    let slow = Delay { latency_ns: 1_500 * MS, jitter_ns: 0 };
    let disk = disk(&[mem(16 * MIB), Layer::Delay(slow)]);
    let mut workload = workload(job(Engine::Vdisk));
    workload.time_ns = 300 * MS;
    let record = prepare_and_run(&workload, IoTarget::Disk(&disk)).unwrap();
    assert_eq!(record.jobs[0].read.ios, 0);
    let below = record.stalled_below("job").unwrap();
    assert!((3.0..4.0).contains(&below), "{below}: one I/O in 300 ms");
}

#[test]
fn a_job_that_was_through_before_its_window_has_not() {
    let disk = disk(&[mem(16 * MIB)]);
    let mut workload = workload(job(Engine::Vdisk));
    workload.jobs[0].bound = Bound::Bytes(4096);
    workload.ramp_ns = 300 * MS;
    let record = prepare_and_run(&workload, IoTarget::Disk(&disk)).unwrap();
    assert_eq!((record.jobs[0].read.ios, record.stalled_below("job")), (0, None));
}
