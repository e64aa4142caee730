use super::row::{PLAIN, Row};

/// Mean time of a flush (`fsync`, `fdatasync`).
pub(super) const SYNC_LATENCY: Row = Row {
    id: "sync_latency",
    name: "sync latency",
    compares: |workload| workload.primary_job().is_some_and(|job| job.fsync_every.is_some()),
    of: |trial| trial.primary().map(|job| job.sync_sum_ns / job.syncs as f64),
    ..PLAIN
};
