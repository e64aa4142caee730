//! The words of a report: one place for each name, so that all formats say the same.

use iotax_analyze::{Check, Comparison, Verdict};

use crate::stalls;

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

/// Each verdict's meaning, for the legend.
pub(crate) fn verdict_meaning(word: Verdict, margin: &str) -> String {
    match word {
        Verdict::Slower => "The whole interval is on the side of a cost.".to_owned(),
        Verdict::Faster => "The whole interval is on the side of a gain.".to_owned(),
        Verdict::Equivalent => format!(
            "The whole interval lies within the margin of {margin}: too small a difference to \
             matter, even if its sign is known."
        ),
        Verdict::Undecided => {
            "The interval holds both a cost and none. More blocks narrow it.".to_owned()
        }
        Verdict::Masked => "Both sit on the same cap, so equal figures prove nothing.".to_owned(),
        Verdict::EffectChanged => {
            "The cost was another one after some block than before, so one interval for all blocks \
             would mean nothing."
                .to_owned()
        }
        Verdict::NoInformation => {
            "Neither completed anything in any block, so nothing tells which is slower.".to_owned()
        }
        Verdict::NotIndependent => {
            "Consecutive blocks depend on each other, so the interval is too narrow to trust."
                .to_owned()
        }
        Verdict::InsufficientTailSamples => {
            "Too few I/Os lie beyond the percentile to compare it.".to_owned()
        }
        Verdict::Overloaded => {
            "The offered rate was not reached, so response times measure the backlog.".to_owned()
        }
    }
}

/// How a verdict with its size reads after a name: `slower`, `equivalent (slower by 1.2 %)`,
/// `slower (stalls: 7 of 7 against 0 of 7)`.
pub(crate) fn verdict_phrase(comparison: &Comparison) -> String {
    let word = comparison.verdict;
    if let Some(stalls) = &comparison.stalls {
        return stalls::phrase(word, stalls);
    }
    match (comparison.sign, comparison.tax) {
        (Some(sign), Some(tax)) => {
            let size = crate::format::percent(tax.abs());
            format!("{word} ({sign} by {size})")
        }
        _ => word.to_string(),
    }
}

/// A check's title.
pub(crate) const fn check(check: Check) -> &'static str {
    match check {
        Check::FailedTrials => "failed trials",
        Check::StalledTrials => "stalled trials",
        Check::IoErrors => "I/O errors",
        Check::VerifyMismatch => "data did not read back",
        Check::LittlesLaw => "Little's law",
        Check::GeneratorBound => "load generator at its limit",
        Check::ScheduleSlip => "schedule slip",
        Check::ColdCacheUnproven => "cold cache not proved",
        Check::WrongSign => "wrong sign",
        Check::ImpossibleSpeed => "impossible speed",
        Check::CacheAnswered => "a cache answered",
        Check::LayerCache => "a cache within the stack",
        Check::Steal => "CPU stolen by the hypervisor",
        Check::AnotherJob => "another job",
        Check::NotInterleaved => "not interleaved",
        Check::DifferentStorage => "different storage",
        Check::RegimeShift => "shift of regime",
        Check::NotSteady => "not at steady state",
        Check::Dependence => "dependent blocks",
        Check::Precision => "precision",
    }
}

/// Whether a check puts the figures themselves in doubt (rather than their precision): such
/// warnings are shown before any figure.
pub(crate) const fn is_severe(check: Check) -> bool {
    match check {
        Check::FailedTrials
        | Check::StalledTrials
        | Check::IoErrors
        | Check::VerifyMismatch
        | Check::LittlesLaw
        | Check::GeneratorBound
        | Check::ColdCacheUnproven
        | Check::WrongSign
        | Check::ImpossibleSpeed
        | Check::CacheAnswered
        | Check::AnotherJob
        | Check::DifferentStorage
        | Check::NotSteady
        | Check::ScheduleSlip => true,
        Check::LayerCache
        | Check::Steal
        | Check::RegimeShift
        | Check::Dependence
        | Check::NotInterleaved
        | Check::Precision => false,
    }
}

/// Text with a capital at its start.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Text with a full stop, unless it ends a sentence already or is empty.
pub(crate) fn sentence(text: &str) -> String {
    let text = text.trim_end();
    let ends = text.is_empty() || text.ends_with(['.', '!', '?', ':']);
    format!("{text}{}", if ends { "" } else { "." })
}

/// Text from outside (names, paths, errors) made safe for one line on a terminal or a page:
/// control characters could move the cursor, bidirectional overrides could reorder what is read.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => ' ',
            c if is_unprintable(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect()
}

/// Control characters (those of C1 with them) and line ends, and what sets the direction of text.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_cannot_drive_a_terminal() {
        assert_eq!(printable("a\x1b[31mb\nc\u{202e}d µ"), "a\u{fffd}[31mb c\u{fffd}d µ");
    }
}
