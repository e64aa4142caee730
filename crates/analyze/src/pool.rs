//! The latencies of all usable trials of one arm, merged as they arrive.

use iotax_experiment::{Job, Workload};
use iotax_record::{LatencyHistogram, LoadRecord, OperationRecord, ReplayRecord};

use crate::described;

/// Pooled histograms of one arm: for curves and descriptions, never for a verdict (their
/// quantiles ignore that trials differ: nominal 95 % covered 40 % in simulation).
#[derive(Debug, Clone)]
pub(crate) struct ArmPool {
    /// One per job of the workload.
    pub jobs: Vec<LatencyHistogram>,
    /// Reads and writes of the primary job, if these are what its latencies are of.
    pub directions: [LatencyHistogram; 2],
    /// Operations on trees of files of the primary job.
    pub operations: Vec<OperationRecord>,
    /// Those beside the jobs.
    pub beside: Vec<OperationRecord>,
    /// Syncs, one per job of the workload.
    pub syncs: Vec<LatencyHistogram>,
    /// The quantiles of each trial's syncs of which another tool gave nothing else.
    pub described_syncs: Vec<Vec<Described>>,
    /// One per job: the quantiles of each trial of which another tool gave nothing else.
    pub described: Vec<Vec<Described>>,
    /// Replays of a recording.
    pub replay: Option<ReplayRecord>,
}

/// Quantiles of one trial, as another tool gave them.
#[derive(Debug, Clone)]
pub(crate) struct Described {
    pub quantiles: Vec<(f64, u64)>,
    pub ios: u64,
}

impl ArmPool {
    pub(crate) fn new(workload: &Workload) -> Self {
        let jobs = workload.jobs.len();
        Self {
            jobs: vec![LatencyHistogram::empty(); jobs],
            directions: [LatencyHistogram::empty(), LatencyHistogram::empty()],
            described: vec![Vec::new(); jobs],
            syncs: vec![LatencyHistogram::empty(); jobs],
            described_syncs: vec![Vec::new(); jobs],
            operations: Vec::new(),
            beside: Vec::new(),
            replay: None,
        }
    }

    /// `from_submission`: see [`Spec::counts_from_submission`](iotax_experiment::Spec).
    pub(crate) fn add(&mut self, load: &LoadRecord, workload: &Workload, from_submission: bool) {
        for (at, job) in workload.jobs.iter().enumerate() {
            let Some(record) = load.jobs.iter().find(|record| record.name == job.name) else {
                continue;
            };
            for direction in record.directions() {
                self.jobs[at].merge(direction.latency_from(from_submission));
            }
            let quantiles = described::quantiles(record).to_vec();
            if !quantiles.is_empty() {
                self.described[at].push(Described { quantiles, ios: record.ios() });
            }
            self.syncs[at].merge(&record.sync);
            if let (Some((ios, summary)), 0) = (&record.sync_summary, record.sync.count()) {
                let quantiles = summary.quantiles.clone();
                self.described_syncs[at].push(Described { quantiles, ios: *ios });
            }
        }
        let primary = load.jobs.iter().find(|record| record.name == workload.primary);
        let is_of_ios = workload.primary_job().is_some_and(Job::has_single_ios);
        if let Some(record) = primary.filter(|_| is_of_ios) {
            self.directions[0].merge(record.read.latency_from(from_submission));
            self.directions[1].merge(record.write.latency_from(from_submission));
        }
        for more in primary.iter().flat_map(|record| &record.operations) {
            more.add_to(&mut self.operations);
        }
        load.operations.iter().for_each(|more| more.add_to(&mut self.beside));
        match (&mut self.replay, &load.replay) {
            (Some(replay), Some(more)) => replay.add(more),
            (replay, more) => *replay = replay.take().or_else(|| more.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replays_of_an_arm_add_up() {
        let workload = Workload::new("app", vec![Job::new("replay")]);
        let mut pool = ArmPool::new(&workload);
        for late_ns in [1_000, 3_000] {
            let mut replay =
                ReplayRecord { operations: 5, left_over: 1, ..ReplayRecord::default() };
            replay.lateness.record(late_ns);
            let load = LoadRecord { replay: Some(replay), ..LoadRecord::default() };
            pool.add(&load, &workload, false);
        }
        pool.add(&LoadRecord::default(), &workload, false);
        let replay = pool.replay.expect("two of three trials are replays");
        assert_eq!((replay.operations, replay.left_over), (10, 2));
        assert_eq!(replay.lateness.count(), 2);
    }
}
