//! The same workload under another load: more or fewer I/Os in flight, one at a time, or at a rate.
//!
//! Whether a cap sets a throughput shows only when the load changes and the throughput does not.

use serde::{Deserialize, Serialize};

use crate::workload::{Job, Pace, Workload};

/// The kernel's limit on the entries of an `io_uring`.
const MAX_DEPTH: u32 = 32_768;

/// How many I/Os are kept in flight, against what the workload says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// Half of them.
    Half,
    Same,
    /// Twice as many.
    Double,
}

impl Depth {
    /// All, ascending.
    pub const ALL: [Self; 3] = [Self::Half, Self::Same, Self::Double];
}

impl Workload {
    /// The workload at another depth: every job without an offered rate gets another queue depth,
    /// or, where that is 1, another number of threads.
    ///
    /// `None` if the primary job cannot have that depth: it is paced, or has nothing to halve, or
    /// its engine does one I/O at a time (more threads would need more files).
    #[must_use]
    pub fn with_depth(&self, depth: Depth) -> Option<Self> {
        let mut changed = self.clone();
        for job in changed.jobs.iter_mut().filter(|job| job.pace == Pace::Closed) {
            let is_changed = job.change_depth(depth);
            if job.name == self.primary && !is_changed {
                return None;
            }
        }
        let primary = changed.primary_job()?;
        (primary.pace == Pace::Closed && changed.validate().is_ok()).then_some(changed)
    }

    /// The workload with one I/O in flight in each job without an offered rate: what an I/O takes
    /// when none waits for another. `None` if the primary job is that already, or is paced.
    #[must_use]
    pub fn one_at_a_time(&self) -> Option<Self> {
        let primary = self.primary_job()?;
        if primary.pace != Pace::Closed || primary.in_flight() == 1 {
            return None;
        }
        let mut changed = self.clone();
        for job in changed.jobs.iter_mut().filter(|job| job.pace == Pace::Closed) {
            (job.threads, job.queue_depth) = (1, 1);
        }
        changed.validate().is_ok().then_some(changed)
    }

    /// The workload with a rate offered to each job that has none: `iops` by the job's name. `None`
    /// without a rate for the primary job, or where it cannot be offered.
    #[must_use]
    pub fn at_rates(&self, iops: &[(String, f64)]) -> Option<Self> {
        let mut changed = self.clone();
        for job in changed.jobs.iter_mut().filter(|job| job.pace == Pace::Closed) {
            let rate = iops.iter().find(|(name, _)| *name == job.name);
            if let Some((_, iops)) = rate {
                job.pace = Pace::Even { iops: *iops };
            } else if job.name == self.primary {
                return None;
            }
        }
        changed.validate().is_ok().then_some(changed)
    }
}

impl Job {
    /// I/Os kept in flight by all threads together.
    pub const fn in_flight(&self) -> u32 {
        self.threads.saturating_mul(self.queue_depth)
    }

    fn change_depth(&mut self, depth: Depth) -> bool {
        match depth {
            Depth::Same => return true,
            Depth::Half if self.queue_depth > 1 => self.queue_depth /= 2,
            Depth::Half if self.threads > 1 => self.threads /= 2,
            Depth::Double if self.can_double() => self.queue_depth *= 2,
            Depth::Half | Depth::Double => return false,
        }
        true
    }

    fn can_double(&self) -> bool {
        self.engine.is_async() && self.queue_depth <= MAX_DEPTH / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preset(name: &str, set: &[&str]) -> Workload {
        let mut workload = Workload::preset(name).unwrap();
        for text in set {
            workload.set(text).unwrap();
        }
        workload
    }

    fn depths(workload: &Workload) -> [Option<u32>; 3] {
        let of = |depth| Some(workload.with_depth(depth)?.primary_job()?.in_flight());
        Depth::ALL.map(of)
    }

    #[test]
    fn the_depth_of_a_queue_is_halved_and_doubled() {
        assert_eq!(depths(&preset("randread-4k", &["depth=8"])), [Some(4), Some(8), Some(16)]);
        assert_eq!(depths(&preset("randread-4k", &[])), [None, Some(1), Some(2)]);
    }

    #[test]
    fn threads_are_halved_where_each_does_one_io_at_a_time() {
        let threads = preset("randread-4k", &["engine=psync", "threads=4"]);
        assert_eq!(depths(&threads), [Some(2), Some(4), None]);
    }

    #[test]
    fn an_offered_rate_has_no_depth() {
        let paced = preset("randread-4k", &["depth=8", "rate=100"]);
        assert_eq!(depths(&paced), [None; 3]);
        assert_eq!(paced.one_at_a_time(), None);
    }

    #[test]
    fn a_rate_is_offered_to_jobs_that_have_none() {
        let workload = preset("randread-4k", &["depth=8"]);
        let slow = workload.at_rates(&[("io".to_owned(), 70.0)]).unwrap();
        assert_eq!(slow.primary_job().unwrap().pace, Pace::Even { iops: 70.0 });
        assert_eq!(workload.at_rates(&[]), None, "the primary job would stay closed");
        assert_eq!(workload.one_at_a_time().unwrap().primary_job().unwrap().in_flight(), 1);
    }
}
