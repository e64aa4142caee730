//! Time in layers of a stack that was made for the arm: what they are is known without looking.

use serde::Serialize;

use super::processor::{NoneLeft, ProcessorEvidence};
use super::rules::{Rule, timed};
use crate::measured::case::Case;
use crate::measured::suspect::{Confidence, Suspect};

pub(super) const RULES: &[Rule] =
    &[timed(&["encryption-in-path", "encrypted-twice"], time_in_encryption)];

/// Less of an I/O's time is no cause.
const SHARE: f64 = 0.25;
/// So much is.
pub(super) const MOST: f64 = 0.5;

/// Encryption between the uppermost device of a stack and the disk below it.
fn time_in_encryption(case: &Case<'_>) -> Option<Suspect> {
    let between = between(case).filter(|between| between.share > SHARE)?;
    let to_blame = match between.layers.as_slice() {
        // Whether that is encryption or dm-crypt's queues, only its own figures tell.
        [] | ["dmcrypt"] => return None,
        [_] => "encryption-in-path",
        _ => "encrypted-twice",
    };
    let waits_for_cpu = case.has_no_cpu_left();
    let confidence = if waits_for_cpu { Confidence::Likely } else { Confidence::Sure };
    let but = waits_for_cpu.then_some(ProcessorEvidence::NoneLeft(NoneLeft::EncryptionNeedsThem));
    let share = between.share;
    Some(Suspect::new(to_blame, confidence, between).explaining(share).but(but))
}

/// What passed between two devices of a stack.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Between {
    /// Those that encrypt.
    pub layers: Vec<&'static str>,
    pub upper: String,
    pub lower: String,
    /// Shares of the time of I/Os that passed at the one and at the other.
    pub at_upper: f64,
    pub at_lower: f64,
    /// Share of it that passed neither above the one nor at the other.
    pub share: f64,
}

/// `None` where nothing encrypts, or there is one device only.
pub(super) fn between(case: &Case<'_>) -> Option<Between> {
    let layers = case.encrypting_layers();
    let [upper, .., lower] = case.devices() else { return None };
    (!layers.is_empty()).then_some(())?;
    let (at_upper, at_lower) = (case.share_at(&upper.figures)?, case.share_at(&lower.figures)?);
    Some(Between {
        layers,
        upper: upper.name.clone(),
        lower: lower.name.clone(),
        at_upper,
        at_lower,
        share: (at_upper - at_lower).max(0.0),
    })
}
