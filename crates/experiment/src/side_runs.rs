//! What is run beside an experiment: before it, and for caps above its arms.

use iotax_layers::Error;
use serde::{Deserialize, Serialize};

use crate::spec::{Spec, Stop};
use crate::workload::{Job, Pace, Workload};

/// Preconditioning and draining, and the loads that may follow where arms turn out equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SideRuns {
    /// Run equal arms at other depths, to see whether they sit on a cap.
    #[serde(default)]
    pub depth_check: bool,
    /// Where they do, run loads below it, which show what it hides.
    #[serde(default, alias = "below_cap")]
    pub below_cap: bool,
    /// Write the span of the test files beforehand, and the workload until it is steady.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub precondition: bool,
    /// Spend the burst credits of each arm beforehand, for so long at most, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_ns: Option<u64>,
}

impl SideRuns {
    /// Longest draining of an arm where no time is given.
    pub(crate) const DRAIN_NS: u64 = 120_000_000_000;

    /// Whether nothing is run beside it.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// As it is: only the depth check tells which arms are masked.
    pub(crate) fn validated(self) -> Result<Self, Error> {
        if self.below_cap && !self.depth_check {
            let advice = "leave out `depth-check`: the depth check finds the cap to measure below";
            return Err(Error::syntax("`below-cap` needs the depth check", advice));
        }
        Ok(self)
    }
}

/// What a phase of a side run is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SidePhase {
    /// The phase of the experiment that it is about, by its place.
    pub of: usize,
    pub role: SideRole,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SideRole {
    /// Writes the span.
    Fill,
    /// Is driven until it is steady.
    Rounds,
    /// Spends burst credits.
    Drain,
    /// Tells how the arms answer to their depth.
    Depth(Depth),
    OneAtATime,
    BelowCap,
}

impl SideRole {
    /// What people call the workload that does this for a phase.
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
    /// An experiment beside this one, on the same arms: what its phases are there for, and what they do.
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

    /// The place of the phase of this side run that is there for this.
    pub fn side_phase(&self, wanted: SidePhase) -> Option<usize> {
        self.side_phases.iter().position(|phase| *phase == wanted)
    }
}

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
