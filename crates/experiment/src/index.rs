//! An index beside the jobs, and workloads of two processes: one writes and publishes, the other
//! reads and loads.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::workload::Workload;

/// A driver publishes index versions; a searcher loads them and answers queries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct IndexLoads {
    /// Maximum versions published per second.
    pub versions_per_second: f64,
    /// Size of one version.
    pub index_bytes: u64,
    /// A load longer than this is slow.
    pub slow_load_ns: u64,
    /// Queries arriving per second (open loop, Poisson).
    pub queries_per_second: f64,
    /// Bytes read per query.
    pub query_bytes: u32,
}

impl IndexLoads {
    /// The operation that makes a new version readable.
    pub const LOAD: &'static str = "load";
}

/// Index publishing as described for a search engine: at most 4 versions per second, loads above 10
/// ms flagged.
///
/// The size is our choice. Accessing 16 MiB in the page cache takes 1 to 4 ms on any machine, so
/// that a load above 10 ms is caused by the storage. 4 versions per second write 64 MiB/s, which a
/// small cloud disk sustains (64 MiB versions would be 256 MiB/s, and the experiment would measure
/// its own publishing). A busy shard answers 1000 queries of 16 KiB per second.
impl Default for IndexLoads {
    fn default() -> Self {
        Self {
            versions_per_second: 4.0,
            index_bytes: 16 << 20,
            slow_load_ns: 10_000_000,
            queries_per_second: 1000.0,
            query_bytes: 16 << 10,
        }
    }
}

/// The local ends of an index: the driver that publishes versions, the searcher that loads them, or
/// both.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexEnds {
    #[default]
    Both,
    /// The driver; another process loads its versions.
    Driver,
    Searcher {
        /// Directory in which another process publishes.
        published_in: PathBuf,
    },
}

impl Workload {
    /// The jobs that write, with index publishing, and those that only read, with index loading;
    /// `None` if there is nothing to divide.
    pub fn driver_and_searcher(&self) -> Option<[Self; 2]> {
        let part = |writes: bool| {
            let jobs = self.jobs.iter().filter(|job| job.writes() == writes).cloned();
            let jobs: Vec<_> = jobs.collect();
            let first = jobs.first()?.name.clone();
            let has_primary = jobs.iter().any(|job| job.name == self.primary);
            let primary = if has_primary { self.primary.clone() } else { first };
            Some(Self { jobs, primary, ..self.clone() })
        };
        Some([part(true)?, part(false)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_writes_is_the_driver_and_who_reads_the_searcher() {
        let workload = Workload::preset("driver-searcher").unwrap();
        let [driver, searcher] = workload.driver_and_searcher().unwrap();
        let names = |part: &Workload| {
            part.jobs.iter().map(|job| job.name.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!([names(&driver), names(&searcher)], ["download", "mmap_read"]);
        assert_eq!([driver.primary, searcher.primary], ["download", "mmap_read"]);
        assert!(Workload::preset("randread-4k").unwrap().driver_and_searcher().is_none());
    }
}
