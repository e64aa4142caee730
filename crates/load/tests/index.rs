//! Index versions: published, loaded, searched.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::sync::atomic::AtomicBool;

use iotax_experiment::{Blame as _, Engine, Fault, IndexLoads, Workload};
use iotax_load::{IoTarget, LoadDriver as _, Native};
use iotax_record::{LoadRecord, Slow};
use support::{MIB, MS, disk, job, mem, prepare_and_run, request, workload};

fn index_workload() -> Workload {
    let mut workload = workload(job(Engine::Psync));
    workload.time_ns = 500 * MS;
    workload.index = Some(IndexLoads {
        versions_per_second: 40.0,
        index_bytes: 2 * MIB + 4096,
        slow_load_ns: 1,
        queries_per_second: 1000.0,
        query_bytes: 10_000,
    });
    workload
}

fn check(record: &LoadRecord) {
    let [publish, load, query] = record.operations.as_slice() else { panic!() };
    let names = [publish, load, query].map(|done| done.name.as_str());
    assert_eq!(names, ["publish", IndexLoads::LOAD, "query"]);
    for done in [publish, load, query] {
        assert_eq!((done.errors, &done.first_error), (0, &None));
    }
    // At most 40 per second; the machine may be busy with something else.
    let published = publish.latency.count();
    assert!(published <= 21, "{published}");
    // One was published before the window, and one so late in it that its load alone was counted.
    let loads = load.latency.count();
    assert!(loads <= published + 2, "{loads} loads of {published}");
    assert_eq!(load.slow, Some(Slow { above_ns: 1, count: loads }));
    let queries = query.latency.count();
    assert!(queries < 1000, "{queries}");
    assert!(query.waited.unwrap() <= queries);
    let others = [publish.slow.is_none(), publish.waited.is_none(), load.waited.is_none()];
    assert_eq!((others, query.slow), ([true; 3], None));
}

/// A run in which an index was loaded: on a busy machine a window of 500 ms may pass without.
fn loaded(target: IoTarget<'_>) -> LoadRecord {
    let mut runs = (0..20).map(|_| prepare_and_run(&index_workload(), target).unwrap());
    let has_loads = |run: &LoadRecord| run.operations[1].latency.count() > 0;
    runs.find(has_loads).expect("an index is loaded in one of 20 windows")
}

#[test]
fn versions_are_published_and_searched_in_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let record = loaded(IoTarget::Path(directory.path()));
        check(&record);
        assert!(record.jobs[0].read.ios > 0);
        let mut names: Vec<_> = std::fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["index", "job.0"]);
        let version = directory.path().join("index").metadata().unwrap();
        assert_eq!(version.len(), 2 * MIB + 4096);
    }
}

#[test]
fn versions_are_published_and_searched_on_a_disk() {
    let disk = disk(&[mem(16 * MIB)]);
    let record = loaded(IoTarget::Disk(&disk));
    check(&record);
    assert_eq!(record.jobs[0].engine, "vdisk");
}

#[test]
fn somebody_elses_file_called_index_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("index");
    std::fs::write(&path, "mine").unwrap();
    let stop = AtomicBool::new(false);
    let (workload, target) = (index_workload(), IoTarget::Path(directory.path()));
    let error = Native.prepare(&workload, target, &|_, _| {}, &stop).unwrap_err();
    assert!(error.to_string().contains("was not written by iotax"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    let error = Native.run(&request(&workload, target, &stop)).unwrap_err();
    assert_eq!(error.fault(), Fault::Usage);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
}

/// The number that the first page of the version in place bears.
fn stamp(directory: &std::path::Path) -> u64 {
    let version = std::fs::read(directory.join("index")).unwrap();
    u64::from_le_bytes(version[8..16].try_into().unwrap())
}

/// Each page's number is the seed plus so many golden ratios: between two runs of one seed lie only
/// the pages of the versions that the one came further.
#[test]
fn what_versions_hold_follows_from_the_seed_alone() {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    // Newton's iteration doubles the bits that are right.
    let inverse =
        (0..6).fold(GOLDEN, |x, _| x.wrapping_mul(2_u64.wrapping_sub(GOLDEN.wrapping_mul(x))));
    assert_eq!(GOLDEN.wrapping_mul(inverse), 1);
    let [one, other] = [(); 2].map(|()| {
        let directory = tempfile::tempdir().unwrap();
        prepare_and_run(&index_workload(), IoTarget::Path(directory.path())).unwrap();
        stamp(directory.path())
    });
    let pages = one.wrapping_sub(other).wrapping_mul(inverse).cast_signed();
    assert!(pages.unsigned_abs() < 1 << 20, "{one:x} and {other:x} are {pages} pages apart");
}
