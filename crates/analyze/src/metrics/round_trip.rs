use super::row::{PLAIN, Role, Row, Trait};

/// Mean time from a request to its answer, over a network path.
pub(super) const ROUND_TRIP: Row = Row {
    id: "round_trip",
    name: "round trip",
    compares: |workload| workload.is_round_trips() && !workload.is_open_loop(),
    of: |trial| trial.primary().map(|job| job.service_sum_ns / job.ios as f64),
    role: Role::Decides,
    traits: &[Trait::MayChange, Trait::Stalls, Trait::AddsUp],
    ..PLAIN
};
