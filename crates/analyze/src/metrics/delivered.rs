use super::row::{Better, PLAIN, Role, Row, Trait, Unit};
use crate::facts::JobFacts;

/// The share of datagrams that come. Loss is compared as what it leaves: none lost has no logarithm,
/// all delivered has, and where few are lost a tax of what is delivered is the loss itself;
/// the shares that parts of a path deliver multiply, so their logarithms add up.
pub(super) const DELIVERED: Row = Row {
    id: "delivered",
    name: "datagram delivery",
    unit: Unit::Share,
    better: Better::Higher,
    compares: |workload| workload.is_datagrams(),
    of: |trial| trial.primary().and_then(JobFacts::delivered),
    role: Role::Decides,
    traits: &[Trait::MayChange, Trait::NeedsRate, Trait::AddsUp],
    ..PLAIN
};
