use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::overrides::Changes;
use crate::spec::{Arm, Target};

const GIB: u64 = 1 << 30;

/// A built-in workload or suite with options, on `b`, the second of two arms.
fn spec(name: &str, changes: &Changes) -> Draft {
    let mut phases =
        Workload::suite(name).unwrap_or_else(|_| vec![Workload::preset(name).unwrap()]);
    changes.apply_to(&mut phases).unwrap();
    let arms = ["a", "b"].map(|arm| Arm::new(arm, Target::Path(format!("/mnt/{arm}").into())));
    let draft = Draft::compare(phases, arms.into()).unwrap();
    draft.validate().unwrap();
    draft
}

fn set(text: &str) -> Changes {
    Changes { set: vec![text.into()], ..Changes::default() }
}

fn fitted(name: &str, changes: &Changes, free_bytes: u64) -> String {
    let mut spec = spec(name, changes);
    spec.fit(Some((1, free_bytes)));
    assert!(spec.phases().all(|phase| phase.validate().is_ok() && phase.yields.is_none()));
    let lines = spec.phases().flat_map(Workload::explain);
    let told = |fitted: Fitted| {
        let [from, to] = [fitted.from_bytes, fitted.to_bytes].map(|bytes| bytes >> 20);
        format!("arm {}: {to} MiB of {from} MiB, scale {:?}", fitted.arm, fitted.scale)
    };
    spec.fitted.map(told).into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_file_takes_what_there_is_and_its_times_stay() {
    let none = Changes::default();
    assert_snapshot!(fitted("randread-4k", &none, 857 << 20), @"
    arm 1: 832 MiB of 1024 MiB, scale None
    every trial: 2s ramp, then 5s measured
    io: 1 thread, random 4k reads, over 832M, io_uring direct
    ");
    assert_snapshot!(fitted("randread-4k", &set("threads=4"), GIB), @"
    arm 1: 1024 MiB of 4096 MiB, scale None
    every trial: 2s ramp, then 5s measured
    io: 4 threads, random 4k reads, over 256M each, io_uring direct
    ");
    assert_snapshot!(fitted("randread-4k", &none, GIB), @"
    every trial: 2s ramp, then 5s measured
    io: 1 thread, random 4k reads, over 1G, io_uring direct
    ");
}

#[test]
fn what_was_asked_for_stays() {
    let sizes = ["size=1G", "io.size=1G"].map(set);
    let scale = Changes { scale: Some(1.0), ..Changes::default() };
    for asked in sizes.iter().chain([&scale]) {
        let mut spec = spec("randread-4k", asked);
        assert_eq!(spec.least_bytes_of_files(), GIB);
        spec.fit(Some((0, GIB / 2)));
        assert_eq!((spec.bytes_of_files(), spec.fitted), (GIB, None));
    }
}

#[test]
fn a_search_engine_keeps_its_proportions_and_the_times_asked_for() {
    let none = Changes::default();
    assert_snapshot!(fitted("driver-searcher", &none, 2 * GIB), @"
    arm 1: 1662 MiB of 112688 MiB, scale Some(0.03)
    every trial: 500ms ramp, then 3s measured
    download: 2 threads, sequential 4M writes, over 60M each, psync buffered, pauses for 7ms after every I/O, write-through
    mmap_read (compared): 8 threads, random 4k-1M reads, over 1536M of `fio_blob`, mmap buffered (cache kept cold), starts at 60ms
    index: publishes and loads up to 4 versions/s (2M each; loads over 10ms count as slow), runs 1000 queries/s (16k each)
    ");
    let times = Changes {
        time_ns: Some(60_000_000_000),
        set: vec!["ramp=3s".into(), "download.threads=3".into()],
        ..Changes::default()
    };
    assert_snapshot!(fitted("driver-searcher", &times, 2 * GIB), @"
    arm 1: 1722 MiB of 57392 MiB, scale Some(0.03)
    every trial: 3s ramp, then 1m measured
    download: 3 threads, sequential 4M writes, over 60M each, psync buffered, pauses for 105ms after every I/O, write-through
    mmap_read (compared): 8 threads, random 4k-1M reads, over 1536M of `fio_blob`, mmap buffered (cache kept cold), starts at 60ms
    index: publishes and loads up to 4 versions/s (2M each; loads over 10ms count as slow), runs 1000 queries/s (16k each)
    ");
}

#[test]
fn as_published_it_never_shrinks() {
    let mut spec = spec("driver-searcher-published", &Changes::default());
    spec.fit(Some((0, 20 * GIB)));
    assert_eq!(spec.fitted, None);
    assert_eq!(spec.scale_that_fits(20 * GIB), Some(0.1));
}

#[test]
fn a_suite_shrinks_where_it_is_largest() {
    assert_snapshot!(fitted("provider-baseline", &Changes::default(), 60 * GIB), @"
    arm 1: 60416 MiB of 314368 MiB, scale None
    every trial: 5s ramp, then 30s measured
    azure-random: 4 threads, random 4k writes, over 4G each, io_uring depth 256 direct
    every trial: 5s ramp, then 30s measured
    azure-random: 4 threads, random 4k reads, over 4G each, io_uring depth 256 direct
    every trial: 5s ramp, then 3m measured
    aws-random: 16 threads, random 16k writes, over 1G each, psync direct
    every trial: 5s ramp, then 3m measured
    aws-random: 16 threads, random 16k reads, over 1G each, psync direct
    every trial: 5s ramp, then 3m measured
    aws-sequential: 1 thread, sequential 1M writes, over 1G, io_uring depth 8 direct
    every trial: 5s ramp, then 3m measured
    aws-sequential: 1 thread, sequential 1M reads, over 1G, io_uring depth 8 direct
    every trial: 2s ramp, then 1m measured
    gcp-sequential: 16 threads, sequential 1M writes, over 1G each, io_uring depth 64 direct
    every trial: 2s ramp, then 1m measured
    gcp-random: 1 thread, random 4k writes, over 10G, io_uring depth 256 direct
    every trial: 2s ramp, then 1m measured
    gcp-sequential: 16 threads, sequential 1M reads, over 1G each, io_uring depth 64 direct
    every trial: 2s ramp, then 1m measured
    gcp-random: 1 thread, random 4k reads, over 10G, io_uring depth 256 direct
    ");
    assert_snapshot!(fitted("nfs-kerberos", &Changes::default(), GIB), @"
    arm 1: 980 MiB of 8660 MiB, scale None
    every trial: 5s ramp, then 30s measured
    io: 1 thread, random 4k I/Os (50 % reads), over 64M, psync direct
    every trial: 5s ramp, then 30s measured
    io: 1 thread, sequential 64k I/Os (50 % reads), over 64M, psync direct
    every trial: 5s ramp, then 30s measured
    files: 1 thread, operations on 5000 files of 7111 bytes each (5 per directory): create:20,stat:51,open:9,delete:20
    every trial: 5s ramp, then 30s measured
    io: 8 threads, random 4k I/Os (50 % reads), over 64M each, io_uring depth 16 direct
    every trial: 5s ramp, then 30s measured
    io: 8 threads, sequential 64k I/Os (50 % reads), over 64M each, io_uring depth 16 direct
    every trial: 5s ramp, then 30s measured
    files: 8 threads, operations on 5000 files of 7111 bytes each (5 per directory): create:20,stat:51,open:9,delete:20
    ");
}

#[test]
fn below_the_floor_nothing_shrinks() {
    let mut spec = spec("randread-4k", &Changes::default());
    assert_eq!(spec.least_bytes_of_files(), LEAST_SPAN_BYTES);
    spec.fit(Some((0, LEAST_SPAN_BYTES - 1)));
    assert_eq!((spec.bytes_of_files(), spec.fitted), (GIB, None));
}

#[test]
fn a_tree_takes_what_its_files_do_for_each_thread() {
    let mut workload = Workload::preset("git-status").unwrap();
    let job = &mut workload.jobs[0];
    job.threads = 2;
    job.tree = Some(Tree { files: 1000, file_bytes: 7111, ..Tree::default() });
    assert_eq!(workload.bytes_of_files(), 2 * 1000 * 3 * 4096);
}

proptest! {
    /// Whatever the room: what is fitted fits, leaves less than half of it unused where a file
    /// would have taken it, and can run.
    #[test]
    fn what_is_fitted_fits(
        name in prop::sample::select(vec!["randread-4k", "driver-searcher", "provider-baseline"]),
        free_bytes in (64_u64 << 20)..(400 * GIB),
    ) {
        let mut spec = spec(name, &Changes::default());
        let (least, all) = (spec.least_bytes_of_files(), spec.bytes_of_files());
        spec.fit(Some((0, free_bytes)));
        let bytes = spec.bytes_of_files();
        prop_assert_eq!(spec.fitted.is_some(), (least..all).contains(&free_bytes));
        prop_assert!(spec.fitted.is_none() || (free_bytes / 3..=free_bytes).contains(&bytes));
        prop_assert_eq!(spec.validate(), Ok(()));
    }
}
