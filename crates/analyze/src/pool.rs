//! The latencies of all usable trials of one arm, merged as they arrive.

use iotax_record::{IndexRecord, LatencyHistogram, LoadRecord};
use iotax_spec::Workload;

/// Pooled histograms of one arm: for curves and descriptions, never for a verdict (their
/// quantiles ignore that trials differ: nominal 95 % covered 40 % in simulation).
#[derive(Debug, Clone)]
pub(crate) struct ArmPool {
    /// One per job of the workload.
    pub jobs: Vec<LatencyHistogram>,
    pub index: Option<IndexPool>,
}

/// Index loads of one arm.
#[derive(Debug, Clone)]
pub(crate) struct IndexPool {
    pub load: LatencyHistogram,
    pub query: LatencyHistogram,
    pub slow_load_ns: u64,
    pub slow_loads: u64,
    pub queries: u64,
    pub queries_waited: u64,
}

impl ArmPool {
    pub fn new(workload: &Workload) -> Self {
        Self { jobs: vec![LatencyHistogram::empty(); workload.jobs.len()], index: None }
    }

    pub fn add(&mut self, load: &LoadRecord, workload: &Workload) {
        for (pool, job) in self.jobs.iter_mut().zip(&workload.jobs) {
            if let Some(record) = load.jobs.iter().find(|record| record.name == job.name) {
                pool.merge(record.read.latency());
                pool.merge(record.write.latency());
            }
        }
        if let Some(index) = &load.index {
            self.index.get_or_insert_with(IndexPool::new).add(index);
        }
    }
}

impl IndexPool {
    fn new() -> Self {
        Self {
            load: LatencyHistogram::empty(),
            query: LatencyHistogram::empty(),
            slow_load_ns: 0,
            slow_loads: 0,
            queries: 0,
            queries_waited: 0,
        }
    }

    fn add(&mut self, record: &IndexRecord) {
        self.load.merge(&record.load);
        self.query.merge(&record.query);
        self.slow_load_ns = self.slow_load_ns.max(record.slow_load_ns);
        self.slow_loads += record.slow_loads;
        self.queries += record.queries;
        self.queries_waited += record.queries_waited;
    }
}
