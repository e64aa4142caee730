use super::row::{Better, PLAIN, Role, Row, Trait, Unit};
use crate::facts::JobFacts;

/// Connections per second, each with a request and its answer.
pub(super) const CONNECTION_RATE: Row = Row {
    id: "connection_rate",
    name: "connection rate",
    unit: Unit::IosPerSecond,
    better: Better::Higher,
    compares: |workload| workload.is_connections() && !workload.is_open_loop(),
    of: |trial| trial.primary().map(JobFacts::iops),
    role: Role::Decides,
    traits: &[Trait::MayChange, Trait::Stalls, Trait::AddsUp],
    ..PLAIN
};
