use super::row::{PLAIN, Row, Trait};

/// Mean time of an I/O from its submission: what the storage takes, without the wait for a turn.
pub(super) const SERVICE_TIME: Row = Row {
    id: "service_time",
    name: "service time",
    compares: |workload| workload.is_open_loop() && !workload.is_datagrams(),
    of: |trial| trial.primary().map(|job| job.service_sum_ns / job.ios as f64),
    traits: &[Trait::NeedsRate],
    ..PLAIN
};
