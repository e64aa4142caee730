//! What providers recommend for checking a disk against its documented limit.
//!
//! - Azure, "Benchmark a disk", <https://learn.microsoft.com/azure/virtual-machines/disks-benchmarks>:
//!   `direct=1 ioengine=libaio iodepth=256 numjobs=4 bs=4k size=30g`, `randwrite`, then `randread`,
//!   30 s each.
//! - AWS, "Benchmark Amazon EBS volumes",
//!   <https://docs.aws.amazon.com/ebs/latest/userguide/benchmark_procedures.html>:
//!   `--direct=1 --bs=16k --numjobs=16 --size=1G --time_based --runtime=180`, `randwrite`, then
//!   `randread`; for throughput 1 MiB sequential, `iodepth=8`.
//! - Google Cloud, "Benchmark Persistent Disk performance on a Linux VM",
//!   <https://cloud.google.com/compute/docs/disks/benchmarking-pd-performance-linux>:
//!   `--direct=1 --ioengine=libaio --ramp_time=2s --runtime=60s --size=10G`, for throughput
//!   `--bs=1M --iodepth=64 --numjobs=16` sequential, for IOPS `--bs=4K --iodepth=256` random.
//!
//! Reads and writes of one kind share their files, so that a third less is laid out.

use super::{Suite, direct, phase};
use crate::presets::scales::{GIB, KIB, MIB};
use crate::workload::{Job, Pattern, Workload};

const AZURE_SOURCE: &str =
    "Azure: https://learn.microsoft.com/azure/virtual-machines/disks-benchmarks";
const AWS_SOURCE: &str =
    "AWS: https://docs.aws.amazon.com/ebs/latest/userguide/benchmark_procedures.html";
const GCP_SOURCE: &str =
    "GCP: https://cloud.google.com/compute/docs/disks/benchmarking-pd-performance-linux";

pub(super) const ALL: Suite = Suite {
    name: "provider-baseline",
    about: "What Azure, AWS and Google Cloud recommend for checking a disk against its documented \
            limits: sequential and random, reads and writes, IOPS and bandwidth, one after the other. \
            With all sizes as published it needs 300 GiB and 20 minutes a trial; scale=0.05 makes \
            it 15 GiB and one minute. Where less is free, its largest files shrink.",
    source: "Azure: https://learn.microsoft.com/azure/virtual-machines/disks-benchmarks; \
             AWS: https://docs.aws.amazon.com/ebs/latest/userguide/benchmark_procedures.html; \
             GCP: https://cloud.google.com/compute/docs/disks/benchmarking-pd-performance-linux",
    phases: || [azure(), aws(), gcp()].concat(),
};

pub(super) const AZURE: Suite = Suite {
    name: "provider-baseline-azure",
    about: "Azure's part of provider-baseline: random 4 KiB writes and reads at depth 256 on 4 \
            threads, for the limit on IOPS. Needs 120 GiB.",
    source: AZURE_SOURCE,
    phases: azure,
};

pub(super) const AWS: Suite = Suite {
    name: "provider-baseline-aws",
    about: "AWS's part of provider-baseline: random 16 KiB writes and reads on 16 threads, for \
            the limit on IOPS; sequential 1 MiB reads and writes at depth 8, for the limit on \
            bandwidth. Needs 17 GiB.",
    source: AWS_SOURCE,
    phases: aws,
};

pub(super) const GCP: Suite = Suite {
    name: "provider-baseline-gcp",
    about: "Google Cloud's part of provider-baseline: sequential 1 MiB I/Os at depth 64 on 16 \
            threads, for the limit on bandwidth; random 4 KiB I/Os at depth 256, for the limit on \
            IOPS. Needs 170 GiB.",
    source: GCP_SOURCE,
    phases: gcp,
};

fn azure() -> Vec<Workload> {
    let job = |read_percent| Job {
        threads: 4,
        size_bytes: 30 * GIB,
        ..direct("azure-random", Pattern::Random, read_percent, 4 * KIB, 256)
    };
    vec![
        phase("azure-write-iops", "Azure: maximum write IOPS", job(0), [5, 30]),
        phase("azure-read-iops", "Azure: maximum read IOPS", job(100), [5, 30]),
    ]
}

fn aws() -> Vec<Workload> {
    let random = |read_percent| Job {
        threads: 16,
        size_bytes: GIB,
        ..direct("aws-random", Pattern::Random, read_percent, 16 * KIB, 1)
    };
    let sequential = |read_percent| Job {
        size_bytes: GIB,
        ..direct("aws-sequential", Pattern::Sequential, read_percent, MIB, 8)
    };
    let time = [5, 180];
    vec![
        phase("aws-write-iops", "AWS: random writes of 16 KiB", random(0), time),
        phase("aws-read-iops", "AWS: random reads of 16 KiB", random(100), time),
        phase("aws-write-throughput", "AWS: sequential writes of 1 MiB", sequential(0), time),
        phase("aws-read-throughput", "AWS: sequential reads of 1 MiB", sequential(100), time),
    ]
}

fn gcp() -> Vec<Workload> {
    let sequential = |read_percent| Job {
        threads: 16,
        size_bytes: 10 * GIB,
        ..direct("gcp-sequential", Pattern::Sequential, read_percent, MIB, 64)
    };
    let random = |read_percent| Job {
        size_bytes: 10 * GIB,
        ..direct("gcp-random", Pattern::Random, read_percent, 4 * KIB, 256)
    };
    let time = [2, 60];
    vec![
        phase("gcp-write-throughput", "GCP: sequential writes of 1 MiB", sequential(0), time),
        phase("gcp-write-iops", "GCP: random writes of 4 KiB", random(0), time),
        phase("gcp-read-throughput", "GCP: sequential reads of 1 MiB", sequential(100), time),
        phase("gcp-read-iops", "GCP: random reads of 4 KiB", random(100), time),
    ]
}
