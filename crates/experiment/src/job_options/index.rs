//! The options of an index.

use super::{JobOption, Sets, value};
use crate::workload::IndexLoads;

/// The options of the index, written `index.size` in overrides.
pub(crate) static INDEX_OPTIONS: [JobOption<IndexLoads>; 5] = [
    value(
        "versions",
        None,
        "versions published per second, at most",
        Sets::Iops(|index| &mut index.versions_per_second),
    ),
    value("size", None, "bytes of one version", Sets::Bytes(|index| &mut index.index_bytes)),
    value(
        "slow-load",
        None,
        "a longer load is a slow load",
        Sets::Duration(|index| &mut index.slow_load_ns),
    ),
    value(
        "queries",
        None,
        "queries arriving per second",
        Sets::Iops(|index| &mut index.queries_per_second),
    ),
    value(
        "query-size",
        None,
        "bytes one query reads",
        Sets::SmallBytes(|index| &mut index.query_bytes),
    ),
];
