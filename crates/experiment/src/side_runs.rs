//! What is run beside an experiment: before it, and for caps above its arms.

use iotax_layers::Error;
use serde::{Deserialize, Serialize};

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
