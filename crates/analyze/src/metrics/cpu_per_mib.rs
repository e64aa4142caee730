use iotax_spec::Workload;

use super::row::{PLAIN, Row, Trait};

/// Bytes that the CPU time of [`CPU_PER_MIB`] is for.
const MIB: f64 = 1_048_576.0;

/// CPU time per MiB that passes over a network path, at both ends.
pub(super) const CPU_PER_MIB: Row = Row {
    id: "cpu_per_mib",
    name: "CPU per MiB",
    compares: Workload::moves_bytes,
    of: |trial| {
        let job = trial.primary()?;
        let passed = job.bytes() as f64 * job.delivered().unwrap_or(1.0);
        Some((job.cpu_ns as f64 + trial.helpers_cpu_ns(job)) / (passed / MIB))
    },
    traits: &[Trait::OfHost],
    ..PLAIN
};
