//! The workloads built in.
//!
//! Plain presets follow what providers publish figures for, at queue depth 1 (4 for 1 MiB): there
//! latency decides the rate, so the cost of a layer shows undiluted. A cap is found at depth, with
//! `depth=32`.

mod applications;
mod driver_searcher;
mod git;
mod network;
mod plain;
mod scales;
mod suites;

pub(crate) use driver_searcher::default_index;

use scales::{GIB, KIB};

use iotax_layers::Error;

use crate::engine::Engine;
use crate::workload::{BlockSizes, Bound, Files, Job, Pace, Pattern, Workload};

type Preset = (&'static str, fn() -> Workload);

/// Name and builder, in the order of `iotax workloads`.
const PRESETS: [Preset; 17] = [
    ("randread-4k", plain::randread_4k),
    ("randwrite-4k", plain::randwrite_4k),
    ("seqread-1m", plain::seqread_1m),
    ("seqwrite-1m", plain::seqwrite_1m),
    ("mixed-70-30", plain::mixed_70_30),
    ("driver-searcher", driver_searcher::fed),
    ("driver-searcher-published", driver_searcher::published),
    ("git-checkout", git::checkout),
    ("git-status", git::status),
    ("git-gc", git::gc),
    ("tcp-stream", network::tcp_stream),
    ("tcp-stream-back", network::tcp_stream_back),
    ("tcp-stream-both", network::tcp_stream_both),
    ("tcp-rr", network::tcp_rr),
    ("tcp-connect", network::tcp_connect),
    ("udp-stream", network::udp_stream),
    ("udp-stream-back", network::udp_stream_back),
];

fn all() -> impl Iterator<Item = Preset> {
    let applications = applications::ALL.iter().map(|found| (found.name, found.build));
    PRESETS.iter().copied().chain(applications)
}

impl Workload {
    /// The built-in workload of that name.
    pub fn preset(name: &str) -> Result<Self, Error> {
        let found = all().find(|(known, _)| *known == name);
        let unknown = || Error::unknown("workload", name, Self::preset_names());
        found.map(|(_, build)| build()).ok_or_else(unknown)
    }

    /// Where the numbers of the built-in workload of that name are from; empty if they are ours.
    pub fn preset_sources(name: &str) -> &'static [&'static str] {
        let found = applications::ALL.iter().find(|application| application.name == name);
        found.map_or(&[], |application| application.sources)
    }

    /// Names of the built-in workloads.
    pub fn preset_names() -> impl Iterator<Item = &'static str> {
        all().map(|(name, _)| name)
    }

    /// The built-in workloads.
    pub fn presets() -> impl Iterator<Item = Self> {
        all().map(|(_, build)| build())
    }

    /// What `peel` drives at an in-process disk of `disk_bytes`: a search engine in small.
    pub fn peel_search(disk_bytes: u64) -> Self {
        driver_searcher::in_process(disk_bytes)
    }

    /// The same for a stack of the system, through files of `bytes` in all or a block device.
    pub fn peel_search_in_system(bytes: u64) -> Self {
        driver_searcher::in_system(bytes)
    }
}

impl Job {
    /// A job as fio would run it without any option but a name: sequential 4 KiB reads, buffered,
    /// one thread, no queue, its own file of 1 GiB (fio demands a size; 1 GiB is ours).
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            engine: Engine::Psync,
            threads: 1,
            queue_depth: 1,
            read_percent: 100,
            pattern: Pattern::Sequential,
            block_sizes: BlockSizes::Fixed(4 * KIB),
            write_block_sizes: None,
            write_pattern: None,
            files: Files::PerThread,
            size_bytes: GIB,
            pace: Pace::Closed,
            bound: Bound::Time,
            start_delay_ns: 0,
            end_after_ns: None,
            direct: false,
            invalidate: false,
            fsync_every: None,
            end_fsync: false,
            verify: false,
            verify_every: None,
            verify_apart: false,
            verify_ends: false,
            sqpoll: false,
            engine_asked: false,
            advise: true,
            align_bytes: None,
            offset_bytes: 0,
            write_through: false,
            think: None,
            cpus: Vec::new(),
            files_per_thread: 1,
            uncached: false,
            fresh: false,
            zero_copy: false,
            least_threads: None,
            pre_read: false,
            target: None,
            ends_all: false,
            submit_batch: None,
            tree: None,
            trims: None,
            stretches: None,
            offset_increment_bytes: 0,
            content: None,
            latency_target: None,
            flow: None,
            priority: None,
            priorities: Vec::new(),
            numa: None,
            fio: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_go_by_their_own_names() {
        for name in Workload::preset_names() {
            assert_eq!(Workload::preset(name).unwrap().name, name);
        }
    }

    #[test]
    fn a_misspelt_workload_is_corrected() {
        insta::assert_snapshot!(Workload::preset("randred-4k").unwrap_err(), @"
        unknown workload `randred-4k`; did you mean `randread-4k`?
        known workloads: randread-4k, randwrite-4k, seqread-1m, seqwrite-1m, mixed-70-30, driver-searcher, driver-searcher-published, git-checkout, git-status, git-gc, tcp-stream, tcp-stream-back, tcp-stream-both, tcp-rr, tcp-connect, udp-stream, udp-stream-back, etcd-wal, etcd-wal-loaded, postgres, mysql, kafka, rocksdb, lucene, nats-sync, ml-load
        ");
    }
}
