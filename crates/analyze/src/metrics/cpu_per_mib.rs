use iotax_experiment::Workload;

use super::row::{PLAIN, Row, Trait};
use crate::facts::JobFacts;

/// Bytes that the CPU time of [`CPU_PER_MIB`] is for.
const MIB: f64 = 1_048_576.0;

/// CPU time per MiB that passes over a network path, at both ends.
pub(super) const CPU_PER_MIB: Row = Row {
    id: "cpu_per_mib",
    name: "CPU per MiB",
    compares: Workload::moves_bytes,
    of: |trial| {
        let cpu_ns = |job: &JobFacts| job.cpu_ns as f64 + trial.helpers_cpu_ns(job);
        let passed = |job: &JobFacts| job.bytes() as f64 * job.delivered().unwrap_or(1.0);
        Some(
            trial.flows().map(cpu_ns).sum::<f64>() / (trial.flows().map(passed).sum::<f64>() / MIB),
        )
    },
    traits: &[Trait::OfHost],
    ..PLAIN
};
