use iotax_experiment::Workload;

use super::row::{PLAIN, Role, Row, Trait};

/// Mean time of a sync (`fsync`, `fdatasync`).
pub(super) const SYNC_LATENCY: Row = Row {
    id: "sync_latency",
    name: "sync latency",
    compares: syncs,
    of: |trial| trial.primary().map(|job| job.sync_sum_ns / job.syncs as f64),
    role: Role::Decides,
    traits: &[Trait::OfSyncs, Trait::MayChange, Trait::Stalls, Trait::AddsUp],
    ..PLAIN
};

/// Whether the primary job syncs as it goes; a sync at its end is one per trial.
pub(super) fn syncs(workload: &Workload) -> bool {
    workload.primary_job().is_some_and(|job| job.fsync_every.is_some())
}
