//! Names that all formats share.

use iotax_analyze::Verdict;

pub(crate) use iotax_wording::name::is_unprintable;
pub(crate) use iotax_wording::name::printable;
pub(crate) use iotax_wording::sentence;

/// The tone of a text, which formats show as colour and weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing special.
    Plain,
    /// A cost.
    Worse,
    /// A gain.
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
