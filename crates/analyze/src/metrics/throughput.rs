use super::row::{Better, PLAIN, Role, Row, Trait, Unit};
use crate::facts::JobFacts;

/// I/Os per second of the primary job: what arms in a closed loop share.
pub(super) const THROUGHPUT: Row = Row {
    id: "throughput",
    name: "throughput",
    unit: Unit::IosPerSecond,
    better: Better::Higher,
    compares: |workload| !workload.is_open_loop() && !workload.is_network(),
    of: |trial| trial.primary().map(JobFacts::iops),
    role: Role::Decides,
    traits: &[Trait::MayChange, Trait::Stalls, Trait::Capped, Trait::AddsUp],
    ..PLAIN
};
