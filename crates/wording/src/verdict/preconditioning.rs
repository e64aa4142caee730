//! Sentences about preconditioning: what was written, and whether the arms were steady after it.

use indexmap::IndexMap;
use iotax_analyze::{Analysis, ArmPrecondition};
use iotax_quantity::{capital, count, percent};

use crate::name::printable;
use crate::sentence;
use crate::trial::not_preconditioned;

/// One sentence for all arms with the same result.
pub(super) fn sentences(analysis: &Analysis) -> Vec<String> {
    let mut phrases: IndexMap<String, Vec<&str>> = IndexMap::new();
    for arm in &analysis.preconditioned {
        phrases.entry(phrase(arm)).or_default().push(&arm.arm);
    }
    let is_one = phrases.len() == 1;
    let sentence = |(says, arms): (String, Vec<&str>)| {
        let says = printable(&sentence(&says));
        if is_one {
            return capital(&says);
        }
        format!("{}: {says}", printable(&arms.join(", ")))
    };
    phrases.into_iter().map(sentence).collect()
}

/// `preconditioned: 2 passes, steady after 7 rounds`
fn phrase(arm: &ArmPrecondition) -> String {
    let why = not_preconditioned(arm).map(|why| format!(": {why}")).unwrap_or_default();
    if arm.passes == 0 {
        return format!("not preconditioned{why}");
    }
    let passes =
        if arm.passes == 1 { "1 pass".to_owned() } else { format!("{} passes", arm.passes) };
    let rounds = count(u32::try_from(arm.rounds.len()).unwrap_or(u32::MAX), "round");
    match (arm.steady, &arm.window) {
        (Some(true), _) => format!("preconditioned: {passes}, steady after {rounds}"),
        (Some(false), Some(window)) => format!(
            "preconditioned: {passes}, but NOT steady after {rounds}: range {} (limit 20 %), \
             slope {} (limit 10 %)",
            percent(window.range),
            percent(window.slope)
        ),
        (Some(false), None) => format!("preconditioned: {passes}, but NOT known to be steady{why}"),
        (None, _) => format!("preconditioned: {passes}, no rounds{why}"),
    }
}
