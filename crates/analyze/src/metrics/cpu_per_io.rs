use super::row::{PLAIN, Row, Trait};

/// CPU time per I/O, with that of other threads that worked for it.
pub(super) const CPU_PER_IO: Row = Row {
    id: "cpu_per_io",
    name: "CPU per I/O",
    compares: |workload| !workload.is_network(),
    of: |trial| {
        let job = trial.primary()?;
        Some((job.cpu_ns as f64 + trial.helpers_cpu_ns(job)) / job.ios as f64)
    },
    traits: &[Trait::OfHost],
    ..PLAIN
};

/// The same of a request over a network path, and of its connection if it has its own.
pub(super) const CPU_PER_REQUEST: Row = Row {
    id: "cpu_per_request",
    name: "CPU per request",
    compares: |workload| workload.is_round_trips() || workload.is_connections(),
    ..CPU_PER_IO
};
