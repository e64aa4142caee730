//! Reasons to doubt the figures.

mod advice;
mod notice;
mod seen;

use iotax_analyze::{Check, Doubt, DoubtKind};
use iotax_quantity::count;
use iotax_record::ExperimentHead;

pub use notice::{Notice, fitted, notices, of_files};

/// A doubt in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What was seen, with figures.
    pub seen: String,
    /// In how many trials, where that stands behind it: `in 3 of 10 trials`.
    pub often: Option<String>,
    /// What to do about it.
    pub advice: String,
}

impl Said {
    /// What was seen, and how often.
    pub fn message(&self) -> String {
        match &self.often {
            Some(often) => format!("{} ({often})", self.seen),
            None => self.seen.clone(),
        }
    }
}

/// What is to be said of a doubt.
pub fn doubt(doubt: &Doubt, experiment: &ExperimentHead) -> Said {
    Said {
        seen: seen::seen(doubt, experiment),
        often: often(doubt).filter(|_| !is_in_the_sentence(&doubt.kind)),
        advice: advice::advice(doubt, experiment),
    }
}

/// `in 3 of 10 trials`
fn often(doubt: &Doubt) -> Option<String> {
    let of = doubt.of_trials?;
    Some(format!("in {} of {}", doubt.trials, count(of, "trial")))
}

/// Whether the sentence itself says how often it was seen.
const fn is_in_the_sentence(kind: &DoubtKind) -> bool {
    matches!(
        kind,
        DoubtKind::Mismatch { .. }
            | DoubtKind::Failed { .. }
            | DoubtKind::Paused { .. }
            | DoubtKind::StalledSecond { .. }
            | DoubtKind::ImpossibleSpeed { .. }
    )
}

/// What a kind of doubt is called.
pub const fn title(check: Check) -> &'static str {
    match check {
        Check::FailedTrials => "failed trials",
        Check::Paused => "paused load generator",
        Check::StalledTrials => "stalled trials",
        Check::IoErrors => "I/O errors",
        Check::VerifyMismatch => "data did not read back",
        Check::LittlesLaw => "Little's law",
        Check::GeneratorBound => "load generator at its limit",
        Check::OneCore => "one core at its limit",
        Check::ScheduleSlip => "schedule slip",
        Check::ColdCacheUnproven => "cold cache not proved",
        Check::WrongSign => "wrong sign",
        Check::ImpossibleSpeed => "impossible speed",
        Check::CacheAnswered => "a cache answered",
        Check::LayerCache => "a cache within the stack",
        Check::Steal => "CPU stolen by the hypervisor",
        Check::AnotherJob => "unlike results",
        Check::NotInterleaved => "not interleaved",
        Check::DifferentStorage => "different storage",
        Check::SharedStorage => "same storage",
        Check::NotGranted => "granted otherwise than asked",
        Check::RegimeShift => "shift of regime",
        Check::PlaceEffect => "the order of trials matters",
        Check::NotSteady => "not at steady state",
        Check::Dependence => "dependent blocks",
        Check::Precision => "precision",
    }
}
