use super::row::{PLAIN, Role, Row, Trait};

/// Mean response time: from the intended start of each I/O.
pub(super) const LATENCY: Row = Row {
    id: "latency",
    name: "mean latency",
    compares: |workload| workload.is_open_loop() && !workload.is_datagrams(),
    of: |trial| trial.primary().map(|job| job.mean_latency_ns),
    role: Role::Decides,
    traits: &[Trait::MayChange, Trait::Stalls, Trait::AddsUp, Trait::NeedsRate],
    ..PLAIN
};
