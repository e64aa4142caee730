//! What was written before anything was measured, and whether the arms were steady then.

use iotax_analyze::{Analysis, ArmPrecondition};

use crate::document::{Cell, Head, Table};
use crate::{format, words};

/// A sentence for all arms of which the same is to be said.
pub(crate) fn sentences(analysis: &Analysis) -> Vec<String> {
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for arm in &analysis.preconditioned {
        let says = phrase(arm);
        match said.iter_mut().find(|(known, _)| *known == says) {
            Some((_, arms)) => arms.push(&arm.arm),
            None => said.push((says, vec![&arm.arm])),
        }
    }
    let is_one = said.len() == 1;
    let sentence = |(says, arms): (String, Vec<&str>)| {
        let says = words::printable(&words::sentence(&says));
        if is_one {
            return words::capital(&says);
        }
        format!("{}: {says}", words::printable(&arms.join(", ")))
    };
    said.into_iter().map(sentence).collect()
}

/// `preconditioned: 2 passes, steady after 7 rounds`
fn phrase(arm: &ArmPrecondition) -> String {
    let why = arm.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
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
            format::percent(window.range),
            format::percent(window.slope)
        ),
        (Some(false), None) => format!("preconditioned: {passes}, but NOT known to be steady{why}"),
        (None, _) => format!("preconditioned: {passes}, and no rounds{why}"),
    }
}

/// Each arm, with its title.
pub(crate) fn table(analysis: &Analysis) -> Option<(String, Table)> {
    if analysis.preconditioned.is_empty() {
        return None;
    }
    let figures = ["written", "rounds", "first", "last", "range", "slope"];
    let mut table = Table::new(&["arm"], &figures);
    table.heads.push(Head::word("steady"));
    for arm in &analysis.preconditioned {
        let known = |figure: Option<String>| Cell::new(figure.as_deref().unwrap_or(format::ABSENT));
        let figure = |value: Option<&f64>| known(value.map(|value| shown(arm, *value)));
        let share = |share: Option<f64>| known(share.map(format::percent));
        table.rows.push(vec![
            Cell::new(&arm.arm),
            Cell::new(format::bytes(arm.written_bytes as f64)),
            Cell::new(arm.rounds.len().to_string()),
            figure(arm.rounds.first()),
            figure(arm.rounds.last()),
            share(arm.window.map(|window| window.range)),
            share(arm.window.map(|window| window.slope)),
            Cell::new(match arm.steady {
                Some(true) => "yes",
                Some(false) => "NO",
                None => format::ABSENT,
            }),
        ]);
    }
    Some(("Preconditioned beforehand".to_owned(), table))
}

/// A round's figure.
fn shown(arm: &ArmPrecondition, value: f64) -> String {
    arm.metric.map_or_else(|| format::plain(value), |metric| format::figure(metric.unit(), value))
}
