//! What is built in can be read, is possible, and is what its source has.

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::rule::Condition;
use crate::workload::Think;

const LEAST_WRITERS: u32 = 2;
const DOWNLOAD_BYTES: u32 = 4 << 20;

fn fed() -> Workload {
    Workload::preset("driver-searcher").unwrap()
}

fn published() -> Workload {
    Workload::preset("driver-searcher-published").unwrap()
}

/// What stands for a program: it has sources.
fn applications() -> impl Iterator<Item = &'static str> {
    Workload::preset_names().filter(|name| !Workload::preset_sources(name).is_empty())
}

#[test]
fn presets_go_by_their_own_names() {
    for name in Workload::preset_names() {
        assert_eq!(Workload::preset(name).unwrap().name, name);
    }
}

#[test]
fn a_misspelt_workload_is_corrected() {
    assert_snapshot!(Workload::preset("randred-4k").unwrap_err(), @"
    unknown workload `randred-4k`; did you mean `randread-4k`?
    known workloads: randread-4k, randwrite-4k, seqread-1m, seqwrite-1m, mixed-70-30, driver-searcher, driver-searcher-published, git-checkout, git-status, git-gc, tcp-stream, tcp-stream-back, tcp-stream-both, tcp-rr, tcp-connect, udp-stream, udp-stream-back, etcd-wal, etcd-wal-loaded, postgres, mysql, kafka, rocksdb, lucene, nats-sync, ml-load
    ");
}

#[test]
fn each_has_a_source_is_possible_and_says_whose_threshold_it_has() {
    for name in applications() {
        let workload = Workload::preset(name).unwrap();
        let sources = Workload::preset_sources(name);
        assert_eq!(workload.validate(), Ok(()), "{name}");
        let told = workload.requires.iter().map(|requires| requires.source.as_str());
        for source in sources.iter().map(String::as_str).chain(told) {
            assert!(source.starts_with("https://"), "{name}: {source}");
        }
        let text = serde_json::to_string(&workload).unwrap();
        assert_eq!(serde_json::from_str::<Workload>(&text).unwrap(), workload);
    }
}

#[test]
fn the_job_of_a_rule_is_there() {
    for name in applications() {
        let workload = Workload::preset(name).unwrap();
        let Some(requires) = &workload.requires else { continue };
        let Condition::Figure { job, .. } = &requires.rule.condition else {
            panic!("{name}: {requires:?}")
        };
        assert!(job.iter().all(|job| workload.jobs.iter().any(|j| j.name == *job)), "{name}");
    }
}

#[test]
fn suites_are_possible_and_say_where_they_are_from() {
    for name in Workload::suite_names() {
        for phase in Workload::suite(name).unwrap() {
            assert_eq!(phase.validate(), Ok(()), "{name}: {}", phase.name);
        }
        assert!(!Workload::suite_about(name).unwrap().is_empty());
        assert!(!Workload::suite_source(name).unwrap().is_empty());
    }
    assert_eq!(Workload::suite_about("none"), None);
}

#[test]
fn suites_read_as_sentences() {
    let suites = ["provider-baseline", "constellation", "nfs-kerberos", "constellation-network"];
    let all: Vec<String> = suites
        .iter()
        .flat_map(|name| Workload::suite(name).unwrap())
        .map(|phase| format!("{}\n  {}", phase.name, phase.explain().join("\n  ")))
        .collect();
    assert_snapshot!(all.join("\n"), @"
    azure-write-iops
      every trial: 5s ramp, then 30s measured
      azure-random: 4 threads, random 4k writes, over 30G each, io_uring depth 256 direct
    azure-read-iops
      every trial: 5s ramp, then 30s measured
      azure-random: 4 threads, random 4k reads, over 30G each, io_uring depth 256 direct
    aws-write-iops
      every trial: 5s ramp, then 3m measured
      aws-random: 16 threads, random 16k writes, over 1G each, psync direct
    aws-read-iops
      every trial: 5s ramp, then 3m measured
      aws-random: 16 threads, random 16k reads, over 1G each, psync direct
    aws-write-throughput
      every trial: 5s ramp, then 3m measured
      aws-sequential: 1 thread, sequential 1M writes, over 1G, io_uring depth 8 direct
    aws-read-throughput
      every trial: 5s ramp, then 3m measured
      aws-sequential: 1 thread, sequential 1M reads, over 1G, io_uring depth 8 direct
    gcp-write-throughput
      every trial: 2s ramp, then 1m measured
      gcp-sequential: 16 threads, sequential 1M writes, over 10G each, io_uring depth 64 direct
    gcp-write-iops
      every trial: 2s ramp, then 1m measured
      gcp-random: 1 thread, random 4k writes, over 10G, io_uring depth 256 direct
    gcp-read-throughput
      every trial: 2s ramp, then 1m measured
      gcp-sequential: 16 threads, sequential 1M reads, over 10G each, io_uring depth 64 direct
    gcp-read-iops
      every trial: 2s ramp, then 1m measured
      gcp-random: 1 thread, random 4k reads, over 10G, io_uring depth 256 direct
    read_iops
      every trial: 10s ramp, then 1m measured
      io: 1 thread, random 4k reads, over 10G, io_uring depth 128 direct, on CPUs 0
    write_iops
      every trial: 10s ramp, then 1m measured
      io: 1 thread, random 4k writes, over 10G, io_uring depth 128 direct, on CPUs 0
    read_bw
      every trial: 10s ramp, then 1m measured
      io: 1 thread, random 1M reads, over 10G, io_uring depth 128 direct, on CPUs 0
    write_bw
      every trial: 10s ramp, then 1m measured
      io: 1 thread, random 1M writes, over 10G, io_uring depth 128 direct, on CPUs 0
    random load=low
      every trial: 5s ramp, then 30s measured
      io: 1 thread, random 4k I/Os (50 % reads), over 1G, psync direct
    sequential load=low
      every trial: 5s ramp, then 30s measured
      io: 1 thread, sequential 64k I/Os (50 % reads), over 1G, psync direct
    git-checkout load=low
      every trial: 5s ramp, then 30s measured
      files: 1 thread, operations on 5000 files of 7111 bytes each (5 per directory): create:20,stat:51,open:9,delete:20
    random load=high
      every trial: 5s ramp, then 30s measured
      io: 8 threads, random 4k I/Os (50 % reads), over 1G each, io_uring depth 16 direct
    sequential load=high
      every trial: 5s ramp, then 30s measured
      io: 8 threads, sequential 64k I/Os (50 % reads), over 1G each, io_uring depth 16 direct
    git-checkout load=high
      every trial: 5s ramp, then 30s measured
      files: 8 threads, operations on 5000 files of 7111 bytes each (5 per directory): create:20,stat:51,open:9,delete:20
    tcp
      every trial: 1s ramp, then 10s measured
      flow: 1 thread, 128k blocks to the peer
    udp
      every trial: 1s ramp, then 10s measured
      datagrams: 1 thread, 1400-byte datagrams to the peer
    ");
}

#[test]
fn a_misspelt_suite_is_corrected() {
    assert_snapshot!(Workload::suite("nfs-kerberus").unwrap_err(), @"
    unknown suite `nfs-kerberus`; did you mean `nfs-kerberos`?
    known suites: provider-baseline, provider-baseline-azure, provider-baseline-aws, provider-baseline-gcp, constellation, nfs-kerberos, network, network-baseline, constellation-network, driver-searcher, fitness
    ");
}

/// What the writers may have in the disk's queue.
fn outstanding_bytes(job: &Job) -> u64 {
    u64::from(job.threads) * u64::from(job.block_sizes.max_bytes())
}

/// What the network brings to all writers together, if the disk takes no time.
fn network_bytes_per_s(job: &Job) -> f64 {
    let Think { time_ns, after_ios } = job.think.unwrap();
    let bytes = f64::from(job.block_sizes.max_bytes()) * f64::from(after_ios);
    f64::from(job.threads) * bytes * 1e9 / time_ns as f64
}

fn scaled(factor: f64) -> Workload {
    let mut workload = fed();
    workload.scale(factor).unwrap();
    workload
}

#[test]
fn all_that_is_published_but_the_feeding_is_as_published() {
    let (mut fed, published) = (fed(), published());
    let [download, mmap_read] = fed.jobs.as_mut_slice() else { panic!("two jobs") };
    (download.write_through, download.think, download.least_threads) = (false, None, None);
    mmap_read.uncached = false;
    assert_eq!(fed.jobs, published.jobs);
    assert_eq!((fed.ramp_ns, fed.time_ns), (published.ramp_ns, published.time_ns));
    assert_eq!((fed.index, fed.primary), (published.index, published.primary));
}

#[test]
fn a_twentieth_and_a_fiftieth() {
    let told = |factor: f64| scaled(factor).explain().join("\n");
    assert_snapshot!(told(0.05), @"
    every trial: 500ms ramp, then 3s measured
    download: 2 threads, sequential 4M writes, over 100M each, psync buffered, pauses for 7ms after every I/O, write-through
    mmap_read (compared): 8 threads, random 4k-1M reads, over 2560M of `fio_blob`, mmap buffered (cache kept cold), starts at 100ms
    index: publishes and loads up to 4 versions/s (2M each; loads over 10ms count as slow), runs 1000 queries/s (16k each)
    ");
    assert_snapshot!(told(0.02), @"
    every trial: 500ms ramp, then 3s measured
    download: 2 threads, sequential 4M writes, over 40M each, psync buffered, pauses for 7ms after every I/O, write-through
    mmap_read (compared): 8 threads, random 4k-1M reads, over 1G of `fio_blob`, mmap buffered (cache kept cold), starts at 40ms
    index: publishes and loads up to 4 versions/s (2M each; loads over 10ms count as slow), runs 1000 queries/s (16k each)
    ");
}

proptest! {
    /// At every scale the writers are fed faster than a cloud's disk takes it and slower than
    /// memory, all they write reaches the disk, and the reads have their writes before them.
    #[test]
    fn the_mechanism_is_the_same_at_every_scale(factor in 0.001..1.0_f64) {
        let workload = scaled(factor);
        let (whole, least) = (fed(), u64::from(LEAST_WRITERS) * u64::from(DOWNLOAD_BYTES));
        let [download, mmap_read] = workload.jobs.as_slice() else { panic!("two jobs") };
        let network = network_bytes_per_s(download);
        prop_assert!((network / network_bytes_per_s(&whole.jobs[0]) - 1.0).abs() < 1e-6);
        prop_assert!((1.1e9..1.25e9).contains(&network), "10 Gbit/s less headers: {network}");
        prop_assert!(download.write_through);
        let outstanding = outstanding_bytes(download);
        prop_assert!(outstanding >= least);
        prop_assert!(outstanding <= outstanding_bytes(&whole.jobs[0]));
        // Each writer goes through its own file, which holds a download at least.
        prop_assert!(download.size_bytes >= u64::from(DOWNLOAD_BYTES));
        // 4 KiB of each reader at a time: next to nothing beside what is written.
        prop_assert!(outstanding >= 64 * u64::from(mmap_read.threads) * (4 << 10));
        prop_assert_eq!(mmap_read.threads, whole.jobs[1].threads);
        prop_assert!(mmap_read.uncached && mmap_read.invalidate);
        let versions = workload.index.unwrap().versions_per_second * workload.time_ns as f64 / 1e9;
        prop_assert!(versions >= 12.0);
        prop_assert!(workload.index.unwrap().index_bytes >= 2 << 20);
        prop_assert!(workload.ramp_ns > download.think.unwrap().time_ns);
        prop_assert_eq!(workload.validate(), Ok(()));
    }

    #[test]
    fn a_smaller_scale_never_has_more_writers(a in 0.001..1.0_f64, b in 0.001..1.0_f64) {
        let writers = |factor: f64| scaled(factor).jobs[0].threads;
        prop_assert!(writers(a.min(b)) <= writers(a.max(b)));
    }
}
