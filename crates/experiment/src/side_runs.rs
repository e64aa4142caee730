//! Runs beside an experiment: before it, and to find caps above its arms.

use iotax_layers::Error;
use serde::{Deserialize, Serialize};

use crate::spec::{Spec, Stop};
use crate::workload::{Job, Pace, Workload};

/// Preconditioning and draining, and the load that may follow if arms are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SideRuns {
    /// Whether to run equal arms at other depths, to find a cap.
    #[serde(default)]
    pub depth_check: bool,
    /// Whether to run load below such a cap, to show what it hides.
    #[serde(default, alias = "below_cap")]
    pub below_cap: bool,
    /// Whether to write the span of the test files first, then run the workload until it is steady.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub precondition: bool,
    /// Spend the burst credits of each arm first, for at most this long, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_ns: Option<u64>,
}

impl SideRuns {
    /// Default maximum time for draining an arm.
    pub(crate) const DRAIN_NS: u64 = 120_000_000_000;

    /// Whether nothing runs beside it.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Checks it: only the depth check finds out which arms are masked.
    pub(crate) fn validated(self) -> Result<Self, Error> {
        if self.below_cap && !self.depth_check {
            let advice = "do not turn the depth check off: it finds the cap";
            return Err(Error::syntax("`below-cap` needs the depth check", advice));
        }
        Ok(self)
    }
}

/// Role of a phase in a side run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SidePhase {
    /// Index of the phase of the experiment that it is for.
    pub of: usize,
    pub role: SideRole,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SideRole {
    /// Writes the span.
    Fill,
    /// Runs until it is steady.
    Rounds,
    /// Spends burst credits.
    Drain,
    /// Shows the effect of the depth on the arms.
    Depth(Depth),
    OneAtATime,
    BelowCap,
}

impl SideRole {
    /// The name of the workload with this role for a phase. Names identify phases in older records.
    pub fn name(self, phase: &str) -> String {
        let does = match self {
            Self::Fill => " to write the span",
            Self::Rounds => " to be steady",
            Self::Drain => " to drain credits",
            Self::Depth(Depth::Half) => " at half depth",
            Self::Depth(Depth::Same) => "",
            Self::Depth(Depth::Double) => " at double depth",
            Self::OneAtATime => " one at a time",
            Self::BelowCap => " below the cap",
        };
        format!("{phase}{does}")
    }
}

impl Spec {
    /// An experiment beside this one, on the same arms, with the roles of its phases and their
    /// workloads.
    #[must_use]
    pub fn beside(
        &self,
        phases: impl IntoIterator<Item = (SidePhase, Workload)>,
        stop: Stop,
    ) -> Self {
        self.with(|draft| {
            let name = |phase: SidePhase| phase.role.name(&self.phases[phase.of].name);
            let named = |(phase, load): (SidePhase, Workload)| {
                (phase, Workload { name: name(phase), ..load.unsliced() })
            };
            (draft.side_phases, draft.phases) = phases.into_iter().map(named).unzip();
            let together = |name: &str| (draft.phases.len() > 1).then(|| name.to_owned());
            draft.suite = match draft.side_phases.first().map(|phase| phase.role) {
                None => None,
                Some(SideRole::Fill | SideRole::Rounds) => {
                    Some(format!("{} to precondition", self.name()))
                }
                Some(role @ SideRole::Drain) => self.suite.as_ref().map(|suite| role.name(suite)),
                Some(SideRole::Depth(_)) => together("depth check"),
                Some(SideRole::OneAtATime | SideRole::BelowCap) => together("below-cap"),
            };
            draft.stop = stop;
            draft.side_runs = SideRuns::default();
            draft.hold_ns = None;
            draft.fail_if = Vec::new();
        })
    }

    /// Index of the phase of this side run with this role.
    pub fn side_phase(&self, wanted: SidePhase) -> Option<usize> {
        self.side_phases.iter().position(|phase| *phase == wanted)
    }
}

/// The kernel's limit on the entries of an `io_uring`.
const MAX_DEPTH: u32 = 32_768;

/// I/Os in flight, relative to the workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// Half of it.
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
    /// or, if that is 1, another number of threads.
    ///
    /// `None` if the primary job cannot have that depth: it has a rate, cannot be halved, or its
    /// engine does one I/O at a time (more threads would need more files).
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

    /// The workload with one I/O in flight in each job without an offered rate: the time of an I/O
    /// that does not wait for others. `None` if the primary job already is like that, or has a
    /// rate.
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

    /// The workload with a rate for each job that has none: `iops` by job name. `None` without a
    /// rate for the primary job, or if it cannot be offered.
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
    /// I/Os in flight over all threads.
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

    #[test]
    fn records_of_before_are_read() {
        let earlier = r#"{ "depth_check": true, "below_cap": true }"#;
        let asked: SideRuns = serde_json::from_str(earlier).unwrap();
        assert!(asked.below_cap && asked.depth_check);
    }
}

#[cfg(test)]
mod depth_tests {
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
