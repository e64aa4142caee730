//! The words for verdicts with trials that completed nothing, the same in all formats.

use iotax_analyze::{Stalls, Verdict};
use iotax_quantity::{count, times};

use crate::name;

/// ` (stalls: 7 of 7 vs 0 of 7)`, for a table whose tax column has [`size`].
pub(super) fn counts(verdict: Verdict, stalls: &Stalls) -> String {
    let Stalls { arm, base, blocks, .. } = stalls;
    format!(" ({}: {arm} of {blocks} vs {base} of {blocks})", of_what(verdict, stalls))
}

/// `at least 4,190x`; `None` if the size is unknown.
pub(super) fn size(stalls: &Stalls) -> Option<String> {
    stalls.factor.map(|factor| format!("at least {}", times(factor.floor())))
}

/// `luks is slower than base (stalls): 7 of 7 trials completed no operation, baseline 0 of 7; at
/// least 4,190x slower.`
pub(super) fn sentence(name: &str, baseline: &str, verdict: Verdict, stalls: &Stalls) -> String {
    let Stalls { arm, base, blocks, .. } = stalls;
    let counts = format!(
        "{arm} of {blocks} trials completed no operation, against {base} of {blocks} for the \
         baseline"
    );
    let (word, what) = (name::verdict(verdict), of_what(verdict, stalls));
    match verdict {
        Verdict::Slower | Verdict::Faster => {
            let size = size(stalls).map_or_else(String::new, |size| format!("; {size} {word}"));
            format!("{name} is {word} than {baseline} ({what}): {counts}{size}.")
        }
        Verdict::NoInformation => {
            let blocks = count(*blocks, "block");
            format!("{name} and {baseline} both stalled in all {blocks}, so there is no verdict.")
        }
        Verdict::Equivalent
        | Verdict::Undecided
        | Verdict::Masked
        | Verdict::EffectChanged
        | Verdict::NotIndependent
        | Verdict::InsufficientTailSamples
        | Verdict::Overloaded => format!(
            "Compared with {baseline}, {name} is {word} ({what}: {counts}{}).",
            outlook(stalls)
        ),
    }
}

const fn of_what(verdict: Verdict, stalls: &Stalls) -> &'static str {
    match (verdict, stalls.only_more_often) {
        (Verdict::Slower, true) => "stalls more often",
        (Verdict::Faster, true) => "stalls less often",
        _ => "stalls",
    }
}

/// `; at least 17x slower in each; 4 more blocks like these would decide`
fn outlook(stalls: &Stalls) -> String {
    let way = if stalls.base == 0 { "slower" } else { "faster" };
    let each = stalls.each.filter(|factor| *factor >= 2.0);
    // Rounded down, as every lower bound.
    let each = each.map(|f| format!("; at least {} {way} in each stalled block", times(f.floor())));
    let more = stalls
        .more_blocks
        .map(|n| format!("; {} like these would allow a verdict", count(n, "more block")));
    each.unwrap_or_default() + &more.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stalls(arm: u32, base: u32, blocks: u32) -> Stalls {
        let (factor, each) = (None, None);
        Stalls { arm, base, blocks, factor, each, only_more_often: false, more_blocks: None }
    }

    #[test]
    fn stalls_in_words() {
        let total = Stalls { factor: Some(4_190.7), ..stalls(7, 0, 7) };
        let often = Stalls { only_more_often: true, ..stalls(7, 0, 13) };
        let early = Stalls { each: Some(17.4), more_blocks: Some(4), ..stalls(3, 0, 3) };
        let mirrored = Stalls { each: Some(17.4), more_blocks: Some(1), ..stalls(0, 6, 6) };
        let none = stalls(3, 3, 3);
        let sentences = [
            (Verdict::Slower, &total),
            (Verdict::Slower, &often),
            (Verdict::Undecided, &early),
            (Verdict::Undecided, &mirrored),
            (Verdict::NoInformation, &none),
        ]
        .map(|(word, stalls)| {
            let of = name::verdict(word).to_owned() + &counts(word, stalls);
            format!("{of}\n{}", sentence("luks", "base", word, stalls))
        });
        assert_eq!(size(&total).as_deref(), Some("at least 4,190x"));
        insta::assert_snapshot!(sentences.join("\n"), @"
        slower (stalls: 7 of 7 vs 0 of 7)
        luks is slower than base (stalls): 7 of 7 trials completed no operation, against 0 of 7 for the baseline; at least 4,190x slower.
        slower (stalls more often: 7 of 13 vs 0 of 13)
        luks is slower than base (stalls more often): 7 of 13 trials completed no operation, against 0 of 13 for the baseline.
        undecided (stalls: 3 of 3 vs 0 of 3)
        Compared with base, luks is undecided (stalls: 3 of 3 trials completed no operation, against 0 of 3 for the baseline; at least 17x slower in each stalled block; 4 more blocks like these would allow a verdict).
        undecided (stalls: 0 of 6 vs 6 of 6)
        Compared with base, luks is undecided (stalls: 0 of 6 trials completed no operation, against 6 of 6 for the baseline; at least 17x faster in each stalled block; 1 more block like these would allow a verdict).
        no information (stalls: 3 of 3 vs 3 of 3)
        luks and base both stalled in all 3 blocks, so there is no verdict.
        ");
    }
}
