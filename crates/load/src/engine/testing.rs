//! Workloads for the tests of this crate, to be changed as needed.

use iotax_experiment::{IndexLoads, Job, Pattern, Workload};

/// 4 KiB random reads of 1 MiB, closed loop.
pub(crate) fn job() -> Job {
    Job { pattern: Pattern::Random, size_bytes: 1 << 20, advise: false, ..Job::new("job") }
}

/// These jobs, for 100 ms.
pub(crate) fn workload(jobs: Vec<Job>) -> Workload {
    Workload { time_ns: 100_000_000, primary: "job".to_owned(), ..Workload::new("test", jobs) }
}

/// Index loads with versions of this size.
pub(crate) fn index_loads(index_bytes: u64) -> IndexLoads {
    IndexLoads {
        versions_per_second: 20.0,
        index_bytes,
        slow_load_ns: 10_000_000,
        queries_per_second: 500.0,
        query_bytes: 8192,
    }
}
