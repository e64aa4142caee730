//! Several targets in one run: each job on its own, all at the same time.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::fs;

use iotax_experiment::{BlockSizes, Engine, Files, Job, Workload};
use iotax_layers::{Layer, Throttle};
use iotax_load::IoTarget;
use support::{MIB, disk, engines, job, mem, prepare_and_run, workload};

/// A job for each of these targets, called as the target.
fn on(jobs: impl IntoIterator<Item = (&'static str, Job)>) -> Workload {
    let jobs: Vec<Job> = jobs
        .into_iter()
        .map(|(name, job)| Job { name: format!("on-{name}"), target: Some(name.to_owned()), ..job })
        .collect();
    Workload { jobs: jobs.clone(), ..workload(jobs[0].clone()) }
}

/// A disk of 4 MiB with so many I/Os per second, of its own and of a group.
fn throttled(iops: f64, group: Option<(&str, f64)>) -> iotax_vdisk::VirtualDisk {
    let own = Throttle { iops: Some(iops), ..Throttle::default() };
    let group = group.map(|(name, iops)| Throttle {
        iops: Some(iops),
        group: Some(name.to_owned()),
        ..Throttle::default()
    });
    let throttles = [Some(own), group].into_iter().flatten().map(Layer::Throttle);
    disk(&[mem(4 * MIB)].into_iter().chain(throttles).collect::<Vec<_>>())
}

/// Two jobs of 16 I/Os in flight for a second.
fn two() -> Workload {
    let deep = Job { queue_depth: 16, ..job(Engine::Vdisk) };
    let mut both = on([("e", deep.clone()), ("f", deep)]);
    both.time_ns = 1_000 * support::MS;
    both
}

fn rates(workload: &Workload, target: IoTarget<'_>) -> Vec<f64> {
    let record = prepare_and_run(workload, target).unwrap();
    let rate = |job: &iotax_record::JobRecord| job.read.ios as f64 * 1e9 / job.active_ns as f64;
    record.jobs.iter().map(rate).collect()
}

#[test]
fn each_job_reaches_the_cap_of_its_own_target() {
    let (e, f) = (throttled(200.0, None), throttled(800.0, None));
    let targets = [("e", IoTarget::Disk(&e)), ("f", IoTarget::Disk(&f))];
    let rates = rates(&two(), IoTarget::Several(&targets));
    assert!((180.0..210.0).contains(&rates[0]), "{rates:?}");
    assert!((700.0..840.0).contains(&rates[1]), "{rates:?}");
}

#[test]
fn targets_below_a_common_cap_share_it() {
    let vm = Some(("of-several", 500.0));
    let (e, f) = (throttled(200.0, vm), throttled(800.0, vm));
    let targets = [("e", IoTarget::Disk(&e)), ("f", IoTarget::Disk(&f))];
    let rates = rates(&two(), IoTarget::Several(&targets));
    assert!((450.0..525.0).contains(&(rates[0] + rates[1])), "{rates:?}");
    assert!(rates[1] > 1.2 * rates[0], "{rates:?}");
}

#[test]
fn files_of_one_name_in_two_directories_are_two() {
    for engine in engines().filter(|engine| !matches!(engine, Engine::Null | Engine::Vdisk)) {
        let directory = tempfile::tempdir().unwrap();
        let [e, f] = ["e", "f"].map(|name| directory.path().join(name));
        for path in [&e, &f] {
            fs::create_dir(path).unwrap();
        }
        let of = |size_bytes, block| Job {
            read_percent: 40,
            files: Files::Shared("x".to_owned()),
            block_sizes: BlockSizes::Fixed(block),
            size_bytes,
            verify: true,
            ..job(engine)
        };
        let both = on([("e", of(MIB, 4096)), ("f", of(2 * MIB, 8192))]);
        let targets = [("e", IoTarget::Path(&e)), ("f", IoTarget::Path(&f))];
        let record = prepare_and_run(&both, IoTarget::Several(&targets)).unwrap();
        for (job, block) in record.jobs.iter().zip([4096, 8192]) {
            assert!(job.write.ios > 0 && job.write.bytes == block * job.write.ios, "{job:?}");
            assert_eq!((job.verify_mismatches, &job.first_error), (Some(0), &None));
        }
        let sizes = [&e, &f].map(|path| fs::metadata(path.join("x")).unwrap().len());
        assert_eq!(sizes, [MIB, 2 * MIB], "{}", engine.name());
    }
}

#[test]
fn kinds_of_targets_may_differ_and_jobs_keep_their_order() {
    let directory = tempfile::tempdir().unwrap();
    let memory = disk(&[mem(4 * MIB)]);
    let all = on([("m", job(Engine::Psync)), ("d", job(Engine::Psync)), ("m", job(Engine::Mmap))]);
    let targets = [("d", IoTarget::Path(directory.path())), ("m", IoTarget::Disk(&memory))];
    let record = prepare_and_run(&all, IoTarget::Several(&targets)).unwrap();
    let jobs: Vec<_> = record.jobs.iter().map(|job| (&*job.name, &*job.engine)).collect();
    assert_eq!(jobs, [("on-m", "vdisk"), ("on-d", "psync"), ("on-m", "vdisk")]);
}

#[test]
fn a_job_that_ends_all_ends_those_on_other_targets() {
    let (e, f) = (disk(&[mem(4 * MIB)]), disk(&[mem(4 * MIB)]));
    let mut both = two();
    both.time_ns = 600_000 * support::MS;
    (both.jobs[0].bound, both.jobs[0].ends_all) = (iotax_experiment::Bound::Bytes(MIB), true);
    let targets = [("e", IoTarget::Disk(&e)), ("f", IoTarget::Disk(&f))];
    let record = prepare_and_run(&both, IoTarget::Several(&targets)).unwrap();
    assert!(record.window_ns < both.time_ns / 10);
}

#[test]
fn a_job_without_one_of_the_targets_is_refused() {
    let memory = disk(&[mem(4 * MIB)]);
    let targets = [("e", IoTarget::Disk(&memory)), ("g", IoTarget::Disk(&memory))];
    let refused = prepare_and_run(&two(), IoTarget::Several(&targets)).unwrap_err();
    insta::assert_snapshot!(refused, @r#"job `on-f`: the job does not name any of the targets (e, g); set its target, for example target = "e""#);
}

#[test]
fn what_may_not_be_written_is_refused_in_one_of_several() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("theirs");
    fs::write(&file, vec![1; 4 << 20]).unwrap();
    let writes = Job { read_percent: 0, ..job(Engine::Psync) };
    let both = on([("d", writes.clone()), ("x", writes)]);
    let targets = [("d", IoTarget::Path(directory.path())), ("x", IoTarget::Path(&file))];
    let refused = prepare_and_run(&both, IoTarget::Several(&targets)).unwrap_err();
    let refused = refused.to_string().replace(directory.path().to_str().unwrap(), "DIR");
    insta::assert_snapshot!(refused, @"job `on-x` writes, but DIR/theirs is an existing file, and iotax never writes to files or devices named as targets; name a directory instead, or make the job read-only");
    assert!(fs::read(&file).unwrap().iter().all(|byte| *byte == 1));
}
