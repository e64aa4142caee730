use super::row::{PLAIN, Role, Row, Trait};

/// 99th percentile of response time. In a closed loop the arms issue different numbers of I/Os, so
/// their tails are not those of the same load; at an offered rate they are.
pub(super) const P99: Row = Row {
    id: "p99",
    name: "p99 latency",
    compares: |workload| workload.is_open_loop() && !workload.is_datagrams(),
    of: |trial| trial.primary().map(|job| job.p99_latency_ns as f64),
    role: Role::Decides,
    quantile: Some(0.99),
    traits: &[Trait::MayChange, Trait::Stalls, Trait::NeedsRate],
    ..PLAIN
};
