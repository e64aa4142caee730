//! The options of an index.

use iotax_layers::units::{self, Unit};

use super::values;
use super::{JobOption, option};
use crate::workload::IndexLoads;

/// The options of the index, written `index.size` in overrides.
pub(crate) static INDEX_OPTIONS: [JobOption<IndexLoads>; 5] = [
    option(
        "versions",
        None,
        Unit::Iops,
        "versions published per second, at most",
        |index, text| units::parse_iops(text).map(|rate| index.versions_per_second = rate),
    ),
    option("size", None, Unit::Size, "bytes of one version", |index, text| {
        units::parse_bytes(text).map(|bytes| index.index_bytes = bytes)
    }),
    option("slow-load", None, Unit::Duration, "a longer load is a slow load", |index, text| {
        units::parse_duration(text).map(|ns| index.slow_load_ns = ns)
    }),
    option("queries", None, Unit::Iops, "queries arriving per second", |index, text| {
        units::parse_iops(text).map(|rate| index.queries_per_second = rate)
    }),
    option("query-size", None, Unit::Size, "bytes one query reads", |index, text| {
        values::small_bytes(text).map(|bytes| index.query_bytes = bytes)
    }),
];
