use super::row::{PLAIN, Role, Row, Trait};
use super::sync_latency::syncs;

/// 99th percentile of the time of a sync. As of other tails: at an offered rate only, since in a
/// closed loop the arms do not get the same load.
pub(super) const SYNC_P99: Row = Row {
    id: "sync_p99",
    name: "p99 sync latency",
    compares: |workload| workload.is_open_loop() && syncs(workload),
    of: |trial| trial.primary().map(|job| job.sync_p99_ns as f64),
    role: Role::Decides,
    quantile: Some(0.99),
    traits: &[Trait::OfSyncs, Trait::MayChange, Trait::Stalls, Trait::NeedsRate],
    ..PLAIN
};
