//! What was written before anything was measured, and whether the arms were steady then.

use indexmap::IndexMap;
use iotax_analyze::{Analysis, ArmPrecondition};
use iotax_wording::trial::not_preconditioned;

use crate::document::Table;
use crate::format::{or_absent, percent};
use crate::{format, words};

/// A sentence for all arms of which the same is to be said.
pub(crate) fn sentences(analysis: &Analysis) -> Vec<String> {
    let mut said: IndexMap<String, Vec<&str>> = IndexMap::new();
    for arm in &analysis.preconditioned {
        said.entry(phrase(arm)).or_default().push(&arm.arm);
    }
    let is_one = said.len() == 1;
    let sentence = |(says, arms): (String, Vec<&str>)| {
        let says = words::printable(&words::sentence(&says));
        if is_one {
            return iotax_quantity::capital(&says);
        }
        format!("{}: {says}", words::printable(&arms.join(", ")))
    };
    said.into_iter().map(sentence).collect()
}

/// `preconditioned: 2 passes, steady after 7 rounds`
fn phrase(arm: &ArmPrecondition) -> String {
    let why = not_preconditioned(arm).map(|why| format!(": {why}")).unwrap_or_default();
    if arm.passes == 0 {
        return format!("not preconditioned{why}");
    }
    let passes =
        if arm.passes == 1 { "1 pass".to_owned() } else { format!("{} passes", arm.passes) };
    let rounds = format::counted(u32::try_from(arm.rounds.len()).unwrap_or(u32::MAX), "round");
    match (arm.steady, &arm.window) {
        (Some(true), _) => format!("preconditioned: {passes}, steady after {rounds}"),
        (Some(false), Some(window)) => format!(
            "preconditioned: {passes}, but NOT steady after {rounds}: range {} (20 % at most), \
             slope {} (10 % at most)",
            percent(window.range),
            percent(window.slope)
        ),
        (Some(false), None) => format!("preconditioned: {passes}, but NOT known to be steady{why}"),
        (None, _) => format!("preconditioned: {passes}, and no rounds{why}"),
    }
}

/// Each arm, with its title.
pub(crate) fn table(analysis: &Analysis) -> Option<(String, Table)> {
    let figure = |arm: &ArmPrecondition, value: Option<&f64>| {
        or_absent(value.map(|value| shown(arm, *value)))
    };
    let table = Table::of(&analysis.preconditioned)
        .word("arm", |arm| &arm.arm)
        .figure("written", |arm| iotax_quantity::size(arm.written_bytes))
        .figure("rounds", |arm| arm.rounds.len().to_string())
        .figure("first", |arm| figure(arm, arm.rounds.first()))
        .figure("last", |arm| figure(arm, arm.rounds.last()))
        .figure("range", |arm| or_absent(arm.window.map(|window| percent(window.range))))
        .figure("slope", |arm| or_absent(arm.window.map(|window| percent(window.slope))))
        .word("steady", |arm| match arm.steady {
            Some(true) => "yes",
            Some(false) => "NO",
            None => format::ABSENT,
        })
        .table;
    Some(("Preconditioned beforehand".to_owned(), table.filled()?))
}

/// A round's figure.
fn shown(arm: &ArmPrecondition, value: f64) -> String {
    arm.metric
        .map_or_else(|| format::three_digits(value), |metric| format::figure(metric.unit(), value))
}
