//! Publishing and loading versions of an index beside the jobs.

use serde::{Deserialize, Serialize};

/// A driver publishes index versions, a searcher loads them and answers queries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct IndexLoads {
    /// Versions published per second, at most.
    pub versions_per_second: f64,
    /// Size of one version.
    pub index_bytes: u64,
    /// A load longer than this is a slow load.
    pub slow_load_ns: u64,
    /// Queries arriving per second (open loop, Poisson).
    pub queries_per_second: f64,
    /// Bytes one query reads from the index.
    pub query_bytes: u32,
}

impl IndexLoads {
    /// The operation that makes a new version readable: loading it.
    pub const LOAD: &'static str = "load";
}
