//! Three workloads at two levels of load, for security modes of NFS: small random I/Os, large
//! sequential I/Os, and metadata as git does it.
//!
//! After "Performance impact of Kerberos on Azure `NetApp` Files NFSv4.1 volumes",
//! <https://learn.microsoft.com/azure/azure-netapp-files/performance-impact-kerberos>, which names
//! the workloads (random and sequential "read/write", metadata) and two levels (low concurrency, the
//! upper limit), and neither block sizes nor proportions: 4 KiB and 64 KiB are those of the same
//! product's published limits; half reads and half writes, threads and depths are ours.

use super::{Suite, direct, phase};
use crate::engine::Engine;
use crate::load_factors::with_level;
use crate::presets::git;
use crate::presets::scales::{GIB, KIB, SECOND_NS};
use crate::workload::{Job, Pattern, Workload};

pub(super) const SUITE: Suite = Suite {
    name: "nfs-kerberos",
    about: "What Kerberos costs on NFS: small random reads and writes, large sequential ones, and \
            the metadata operations of a git checkout, each one at a time (load=low) and at the \
            upper limit (load=high). Compare server:/export with --matrix \
            sec=sys,krb5,krb5i,krb5p. Needs 9 GiB.",
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

fn at(level: &Level) -> [Workload; 3] {
    let io = |kind: &str, pattern, block| {
        let io = Job {
            threads: level.threads,
            size_bytes: GIB,
            ..direct("io", pattern, 50, block, level.depth)
        };
        phase(kind, "past the page cache", io, [5, 30])
    };
    let mut metadata = git::checkout();
    for job in metadata.jobs.iter_mut().filter(|job| job.engine == Engine::Metadata) {
        job.threads = level.threads;
    }
    (metadata.ramp_ns, metadata.time_ns) = (5 * SECOND_NS, 30 * SECOND_NS);
    let workloads = [
        io("random", Pattern::Random, 4 * KIB),
        io("sequential", Pattern::Sequential, 64 * KIB),
        metadata,
    ];
    workloads.map(|workload| with_level(workload, "load", level.name))
}
