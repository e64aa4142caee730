//! What was written before anything was measured, and whether the arms were steady then.

use iotax_analyze::{Analysis, ArmPrecondition};

use crate::document::Table;
use iotax_wording::format;
use iotax_wording::format::{or_absent, percent};

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
