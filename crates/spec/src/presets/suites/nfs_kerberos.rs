//! Three workloads at two levels of load, for security modes of NFS: small random I/Os, large
//! sequential I/Os, and metadata as git does it.
//!
//! After "Performance impact of Kerberos on Azure `NetApp` Files NFSv4.1 volumes",
//! <https://learn.microsoft.com/azure/azure-netapp-files/performance-impact-kerberos>, which names
//! the workloads and two levels (low concurrency, the upper limit) and no block sizes: 4 KiB and
//! 64 KiB are those of the same product's published limits; threads and depths are ours.

use super::suite::{Suite, direct, phase};
use crate::engine::Engine;
use crate::presets::git;
use crate::presets::scales::{GIB, KIB, SECOND_NS};
use crate::workload::{Job, Pattern, Workload};

pub(super) const SUITE: Suite = Suite {
    name: "nfs-kerberos",
    about: "What Kerberos costs on NFS: small random I/Os, large sequential I/Os and the metadata \
            operations of git, each one at a time and at the upper limit. Compare mounts with \
            sec=sys, krb5, krb5i and krb5p. Needs 9 GiB.",
    source: "Azure NetApp Files, performance impact of Kerberos on NFSv4.1: \
             https://learn.microsoft.com/azure/azure-netapp-files/performance-impact-kerberos",
    phases,
};

/// One at a time shows what is added to each operation; many at once show what the limit becomes.
struct Level {
    name: &'static str,
    threads: u32,
    depth: u32,
}

const LEVELS: [Level; 2] =
    [Level { name: "low", threads: 1, depth: 1 }, Level { name: "high", threads: 8, depth: 16 }];

fn phases() -> Vec<Workload> {
    LEVELS.iter().flat_map(at).collect()
}

fn at(level: &Level) -> Vec<Workload> {
    let io = |kind: &str, pattern, read_percent, block| {
        let name = format!("{kind}-{}", level.name);
        let io = Job {
            threads: level.threads,
            size_bytes: GIB,
            ..direct("io", pattern, read_percent, block, level.depth)
        };
        phase(&name, "past the page cache", io, (5, 30))
    };
    let metadata = |mut workload: Workload| {
        for job in workload.jobs.iter_mut().filter(|job| job.engine == Engine::Metadata) {
            job.threads = level.threads;
        }
        let name = format!("{}-{}", workload.name, level.name);
        Workload { name, ramp_ns: 5 * SECOND_NS, time_ns: 30 * SECOND_NS, ..workload }
    };
    vec![
        io("random-read", Pattern::Random, 100, 4 * KIB),
        io("random-write", Pattern::Random, 0, 4 * KIB),
        io("sequential-read", Pattern::Sequential, 100, 64 * KIB),
        io("sequential-write", Pattern::Sequential, 0, 64 * KIB),
        metadata(git::checkout()),
        metadata(git::status()),
    ]
}
