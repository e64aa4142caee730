//! The words of a report: one place for each name, so that all formats say the same.

use iotax_analyze::{Check, Comparison, Verdict};

use crate::stalls;
pub use iotax_wording::name::is_unprintable;
pub(crate) use iotax_wording::name::printable;

/// How much a reader should care; formats turn it into colour and weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing special.
    Plain,
    /// Costs something.
    Worse,
    /// Gains something.
    Better,
    /// A conclusion without a difference.
    Same,
    /// No conclusion.
    Open,
}

impl Tone {
    /// The name used as CSS class.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Same => "same",
            Self::Open => "open",
        }
    }
}

/// The verdict's tone.
pub(crate) const fn verdict_tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Slower => Tone::Worse,
        Verdict::Faster => Tone::Better,
        Verdict::Equivalent => Tone::Same,
        Verdict::Undecided
        | Verdict::Masked
        | Verdict::EffectChanged
        | Verdict::NoInformation
        | Verdict::NotIndependent
        | Verdict::InsufficientTailSamples
        | Verdict::Overloaded => Tone::Open,
    }
}

/// How a verdict reads after a name: `slower`, `slower (stalls: 7 of 7 against 0 of 7)`.
pub(crate) fn verdict_phrase(comparison: &Comparison) -> String {
    let word = comparison.verdict;
    comparison.stalls.as_ref().map_or_else(|| word.to_string(), |it| stalls::phrase(word, it))
}

/// A check's title, and whether it puts the figures themselves in doubt (rather than their
/// precision): such warnings are shown before any figure.
pub(crate) const fn check(check: Check) -> (&'static str, bool) {
    match check {
        Check::FailedTrials => ("failed trials", true),
        Check::Paused => ("paused load generator", true),
        Check::StalledTrials => ("stalled trials", true),
        Check::IoErrors => ("I/O errors", true),
        Check::VerifyMismatch => ("data did not read back", true),
        Check::LittlesLaw => ("Little's law", true),
        Check::GeneratorBound => ("load generator at its limit", true),
        Check::OneCore => ("one core at its limit", true),
        Check::ScheduleSlip => ("schedule slip", true),
        Check::ColdCacheUnproven => ("cold cache not proved", true),
        Check::WrongSign => ("wrong sign", true),
        Check::ImpossibleSpeed => ("impossible speed", true),
        Check::CacheAnswered => ("a cache answered", true),
        Check::LayerCache => ("a cache within the stack", false),
        Check::Steal => ("CPU stolen by the hypervisor", false),
        Check::AnotherJob => ("unlike results", true),
        Check::NotInterleaved => ("not interleaved", false),
        Check::DifferentStorage => ("different storage", true),
        Check::SharedStorage => ("same storage", false),
        Check::NotGranted => ("granted otherwise than asked", false),
        Check::RegimeShift => ("shift of regime", false),
        Check::PlaceEffect => ("the order of trials matters", true),
        Check::NotSteady => ("not at steady state", true),
        Check::Dependence => ("dependent blocks", false),
        Check::Precision => ("precision", false),
    }
}

/// Text with a full stop, unless it ends a sentence already or is empty.
pub(crate) fn sentence(text: &str) -> String {
    let text = text.trim_end();
    let ends = text.is_empty() || text.ends_with(['.', '!', '?', ':']);
    format!("{text}{}", if ends { "" } else { "." })
}
