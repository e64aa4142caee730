//! What is run beside an experiment: before it, and for caps above its arms.

use iotax_layers::Error;
use serde::{Deserialize, Serialize};

use crate::depth::Depth;
use crate::spec::{Spec, Stop};
use crate::workload::Workload;

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
            let advice = "leave `depth-check` out: it finds the cap to measure below";
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
            let named = |(phase, load)| (phase, Workload { name: name(phase), ..load });
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
            draft.fail_if = Vec::new();
        })
    }

    /// The place of the phase of this side run that is there for this.
    pub fn side_phase(&self, wanted: SidePhase) -> Option<usize> {
        self.side_phases.iter().position(|phase| *phase == wanted)
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
