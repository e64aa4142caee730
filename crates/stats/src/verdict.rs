//! Derives the verdict from an interval.
//!
//! Order (the first that applies): `equivalent` if the interval of the cost is inside the margin,
//! `slower` / `faster` if the interval excludes 0, else `undecided`. A difference that is
//! real but smaller than the margin is `equivalent`, with its [`Sign`] shown beside it.

use serde::{Deserialize, Serialize};

use crate::rci::Interval;

/// The verdict on one arm against the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The cost is above 0.
    Slower,
    /// The cost is below 0.
    Faster,
    /// The whole interval is inside the margin.
    Equivalent,
    /// The interval contains 0 and extends beyond the margin.
    Undecided,
    /// Both arms are at the same cap, so the comparison does not show the cost of the layer.
    Masked,
    /// The cost changed during the run, and the part after the change gives no verdict.
    #[serde(rename = "effect changed")]
    EffectChanged,
    /// Neither arm completed anything in any block.
    #[serde(rename = "no information")]
    NoInformation,
    /// Successive block differences are correlated, so the interval is too narrow.
    #[serde(rename = "not independent")]
    NotIndependent,
    /// Too few I/Os beyond the percentile to estimate it.
    #[serde(rename = "insufficient tail samples")]
    InsufficientTailSamples,
    /// The offered rate was not reached, so its latencies describe a growing queue.
    Overloaded,
}

impl Verdict {
    pub const ALL: [Self; 10] = [
        Self::Slower,
        Self::Faster,
        Self::Equivalent,
        Self::Undecided,
        Self::Masked,
        Self::EffectChanged,
        Self::NoInformation,
        Self::NotIndependent,
        Self::InsufficientTailSamples,
        Self::Overloaded,
    ];

    /// Derives the verdict from a cost interval (fraction; positive: the arm costs more) and a
    /// margin (fraction, positive). Anything that is not a number is `undecided`.
    pub fn of(cost: &Interval, margin: f64) -> Self {
        if cost.lo > -margin && cost.hi < margin {
            return Self::Equivalent;
        }
        match Sign::of(cost) {
            Some(Sign::Slower) => Self::Slower,
            Some(Sign::Faster) => Self::Faster,
            None => Self::Undecided,
        }
    }

    /// Whether a comparison can end with this verdict: slower, faster or equivalent.
    pub fn is_decided(self) -> bool {
        matches!(self, Self::Slower | Self::Faster | Self::Equivalent)
    }

    /// Whether this says that the arm differs from the baseline.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::Slower | Self::Faster)
    }
}

/// The direction of an interval that excludes 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sign {
    /// The arm costs more than the baseline.
    Slower,
    /// The arm costs less than the baseline.
    Faster,
}

impl Sign {
    /// The sign of a cost interval; `None` if it contains 0.
    pub fn of(cost: &Interval) -> Option<Self> {
        if cost.lo > 0.0 {
            Some(Self::Slower)
        } else if cost.hi < 0.0 {
            Some(Self::Faster)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(lo: f64, hi: f64) -> Interval {
        Interval { mean: f64::midpoint(lo, hi), lo, hi }
    }

    #[test]
    fn equivalence_comes_before_the_sign() {
        let small_but_real = cost(0.01, 0.03);
        assert_eq!(Verdict::of(&small_but_real, 0.05), Verdict::Equivalent);
        assert_eq!(Sign::of(&small_but_real), Some(Sign::Slower));
        assert_eq!(Verdict::of(&small_but_real, 0.02), Verdict::Slower);
    }

    #[test]
    fn sign_needs_zero_outside_and_equivalence_needs_both_ends_inside() {
        assert_eq!(Verdict::of(&cost(0.01, 0.30), 0.05), Verdict::Slower);
        assert_eq!(Verdict::of(&cost(-0.30, -0.01), 0.05), Verdict::Faster);
        assert_eq!(Verdict::of(&cost(-0.30, 0.01), 0.05), Verdict::Undecided);
        assert_eq!(Verdict::of(&cost(-0.05, 0.01), 0.05), Verdict::Undecided);
        assert_eq!(Verdict::of(&cost(-0.01, 0.05), 0.05), Verdict::Undecided);
        assert_eq!(Verdict::of(&cost(-0.06, 0.0), 0.05), Verdict::Undecided);
        assert_eq!(Verdict::of(&cost(-0.04, 0.04), 0.05), Verdict::Equivalent);
        assert_eq!(Verdict::of(&cost(0.0, 0.06), 0.05), Verdict::Undecided);
    }

    #[test]
    fn undefined_interval_is_undecided() {
        assert_eq!(Verdict::of(&cost(f64::NAN, f64::NAN), 0.05), Verdict::Undecided);
        assert_eq!(Verdict::of(&cost(f64::NEG_INFINITY, f64::INFINITY), 0.05), Verdict::Undecided);
    }

    #[test]
    fn every_verdict_has_the_id_of_the_docs() {
        for (verdict, word) in [
            (Verdict::Slower, "slower"),
            (Verdict::Faster, "faster"),
            (Verdict::Equivalent, "equivalent"),
            (Verdict::Undecided, "undecided"),
            (Verdict::Masked, "masked"),
            (Verdict::EffectChanged, "effect changed"),
            (Verdict::NoInformation, "no information"),
            (Verdict::NotIndependent, "not independent"),
            (Verdict::InsufficientTailSamples, "insufficient tail samples"),
            (Verdict::Overloaded, "overloaded"),
        ] {
            assert_eq!(serde_json::to_value(verdict).unwrap(), word);
            assert_eq!(serde_json::from_value::<Verdict>(word.into()).unwrap(), verdict);
        }
    }
}
