use super::row::{PLAIN, Row};

/// How unevenly datagrams come (RFC 3550, 6.4.1).
pub(super) const JITTER: Row = Row {
    id: "jitter",
    name: "jitter",
    compares: |workload| workload.is_datagrams() && workload.is_open_loop(),
    of: |trial| trial.primary()?.udp.map(|udp| udp.jitter_ns as f64),
    ..PLAIN
};
