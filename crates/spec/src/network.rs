//! What a workload is about that is driven over a network path.

use crate::workload::{Job, Workload};

impl Workload {
    /// Whether its load is driven over a network path.
    pub fn is_network(&self) -> bool {
        self.jobs.iter().any(|job| job.engine.is_network())
    }

    /// Whether the primary job is about how much passes, in one direction.
    pub fn is_stream(&self) -> bool {
        self.primary_job().is_some_and(|job| job.engine.is_stream())
    }

    /// Whether all its jobs are streams, some to the peer and some from it, so that what counts is
    /// what passes both ways together.
    pub fn goes_both_ways(&self) -> bool {
        self.jobs.iter().all(|job| job.engine.is_stream())
            && self.jobs.iter().any(Job::reads)
            && self.jobs.iter().any(Job::writes)
    }

    /// Whether the primary job sends datagrams.
    pub fn is_datagrams(&self) -> bool {
        self.primary_job().is_some_and(|job| job.engine.is_datagrams())
    }

    /// Whether it is bytes over a network path that count, and no single I/O of them.
    pub fn moves_bytes(&self) -> bool {
        self.is_stream() || self.is_datagrams()
    }

    /// Whether the primary job is about how long a request waits for its answer.
    pub fn is_round_trips(&self) -> bool {
        self.primary_job().is_some_and(|job| job.engine.is_round_trips())
    }

    /// Whether the primary job makes a connection for each request.
    pub fn is_connections(&self) -> bool {
        self.primary_job().is_some_and(|job| job.engine.is_connections())
    }
}
