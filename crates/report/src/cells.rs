//! Cells that several tables have.

use iotax_analyze::QuantilePoint;

use crate::document::Cell;
use iotax_wording::format::{self, or_absent};

/// A percentile, or a dash where too few lie beyond it.
pub(crate) fn quantile(curve: &[QuantilePoint], q: f64) -> Cell {
    let point = curve.iter().find(|point| (point.q - q).abs() < 1e-9);
    or_absent(point.map(|p| format::time(p.latency_ns as f64))).into()
}

/// A time, or a dash where it is 0: another tool did not say.
pub(crate) fn known_time(ns: f64) -> String {
    or_absent((ns > 0.0).then(|| format::time(ns)))
}
