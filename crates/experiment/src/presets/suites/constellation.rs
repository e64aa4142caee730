//! The disk part of the comparison of Constellation v2.6 with AKS and GKE (Edgeless Systems,
//! 2023): four fio jobs one after the other on a volume of the default storage class.
//!
//! ```text
//! [global] direct=1 ioengine=libaio runtime=60s ramp_time=10s size=10Gi time_based=1
//!          group_reporting thread cpus_allowed=0
//! ```
//!
//! All at depth 128. What it calls bandwidth is random 1 MiB, on one CPU.

use super::{Suite, direct, phase};
use crate::presets::scales::{GIB, KIB, MIB};
use crate::workload::{Job, Pattern, Workload};

pub(super) const SUITE: Suite = Suite {
    name: "constellation",
    about: "Encrypted storage on Kubernetes, as Constellation was compared with AKS and GKE: \
            random 4 KiB reads and writes for IOPS, random 1 MiB reads and writes for bandwidth, \
            all 128 deep on one CPU. Needs 10 GiB.",
    source: "Edgeless Systems, performance of Constellation v2.6 (fio through Kubestr): \
             https://docs.edgeless.systems/constellation/overview/performance",
    phases,
};

fn phases() -> Vec<Workload> {
    let published = |name, about, read_percent, block| {
        let job = Job {
            size_bytes: 10 * GIB,
            cpus: vec![0],
            ..direct("io", Pattern::Random, read_percent, block, 128)
        };
        phase(name, about, job, [10, 60])
    };
    vec![
        published("read_iops", "random reads of 4 KiB", 100, 4 * KIB),
        published("write_iops", "random writes of 4 KiB", 0, 4 * KIB),
        published("read_bw", "random reads of 1 MiB", 100, MIB),
        published("write_bw", "random writes of 1 MiB", 0, MIB),
    ]
}
