//! The outcome of rules.

use iotax_analyze::{Analysis, Judgment};
use iotax_quantity::grouped;
use iotax_wording::{format, note, rule};

use crate::document::{Item, Section, Table};

/// All rules; `None` if there are none.
pub(crate) fn section(analysis: &Analysis) -> Option<Section> {
    let note = note::rules(analysis);
    let items = [Item::Table(table(&analysis.rules)), Item::Note(note)];
    (!analysis.rules.is_empty()).then(|| Section::new("Rules", items))
}

fn table(judgments: &[Judgment]) -> Table {
    Table::of(judgments)
        .word("rule", |judgment| judgment.rule.to_string())
        .word("subject", rule::of)
        .word("outcome", |judgment| rule::outcome(judgment.outcome))
        .word("measured", |judgment| {
            format::or_absent(rule::measured(judgment).map(|(_, found)| found))
        })
        .figure("trials", |judgment| grouped(judgment.trials.into()))
        .figure("trials needed", |judgment| {
            judgment.needed.map_or_else(String::new, |needed| grouped(needed.into()))
        })
        .table
}
