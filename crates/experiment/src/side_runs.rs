//! What is run beside an experiment: before it, and for caps above its arms.

use iotax_layers::Error;
use serde::{Deserialize, Serialize};

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

/// What an experiment beside another is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideRun {
    Precondition,
    Drain,
    DepthCheck,
    BelowCap,
}

impl Spec {
    /// The same arms under other loads: without rules, and with nothing run beside it.
    #[must_use]
    pub fn beside(&self, run: SideRun, phases: Vec<Workload>, stop: Stop) -> Self {
        let of_several = |name: &str| (phases.len() > 1).then(|| name.to_owned());
        let suite = match run {
            SideRun::Precondition => Some(format!("{} to precondition", self.name())),
            SideRun::Drain => self.suite.as_ref().map(|suite| format!("{suite} to drain credits")),
            SideRun::DepthCheck => of_several("depth check"),
            SideRun::BelowCap => of_several("below-cap"),
        };
        let (side_runs, fail_if) = (SideRuns::default(), Vec::new());
        Self { phases, suite, stop, side_runs, fail_if, ..self.clone() }
    }
}

impl Workload {
    /// A pass over its span: see [`Workload::fill`].
    pub fn to_write_the_span(&self) -> Option<Self> {
        Some(Self { name: format!("{} to write the span", self.name), ..self.fill()? })
    }

    /// A round of preconditioning.
    #[must_use]
    pub fn to_be_steady(&self) -> Self {
        Self { name: format!("{} to be steady", self.name), ..self.clone() }
    }

    /// A stretch in which burst credits are spent.
    #[must_use]
    pub fn to_drain_credits(&self, time_ns: u64) -> Self {
        let name = format!("{} to drain credits", self.name);
        Self { name, ramp_ns: 0, time_ns, ..self.clone() }
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
