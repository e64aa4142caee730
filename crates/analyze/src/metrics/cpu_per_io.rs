use super::row::{PLAIN, Row, Trait};

/// CPU time per I/O, with that of other threads that worked for it.
pub(super) const CPU_PER_IO: Row = Row {
    id: "cpu_per_io",
    name: "CPU per I/O",
    compares: |workload| !workload.moves_bytes(),
    of: |trial| {
        let job = trial.primary()?;
        Some((job.cpu_ns as f64 + trial.helpers_cpu_ns(job)) / job.ios as f64)
    },
    traits: &[Trait::OfHost],
    ..PLAIN
};
