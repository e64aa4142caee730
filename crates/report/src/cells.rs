//! Cells that several tables have.

use iotax_analyze::QuantilePoint;

use crate::document::Cell;
use crate::format::{self, ABSENT};

/// A percentile, or a dash where too few lie beyond it.
pub(crate) fn quantile(curve: &[QuantilePoint], q: f64) -> Cell {
    let point = curve.iter().find(|point| (point.q - q).abs() < 1e-9);
    Cell::new(point.map_or_else(|| ABSENT.to_owned(), |p| format::time(p.latency_ns as f64)))
}

/// A time, or a dash where it is 0: another tool did not say.
pub(crate) fn known_time(ns: f64) -> String {
    if ns > 0.0 { format::time(ns) } else { ABSENT.to_owned() }
}
