//! Reports of the catalog. Every table names its sources.

mod look;
mod plan;

use iotax_catalog::{Agreement, Checked, Claimed, Fact, Note};
use iotax_quantity::limit_figure;
use iotax_wording::bandwidth::Unit;
use iotax_wording::catalog::{self, UNKNOWN, bandwidth};
use iotax_wording::format::ABSENT;
use serde::Deserialize as _;
use serde_json::{Value, json};

use self::look::Sources;
use self::look::cells;
pub use self::look::{catalog_disks, catalog_vm_list, catalog_vms};
pub use self::plan::catalog_plan;
use crate::document::{Cell, Document, Item, Section, Table};
use crate::words::Tone;

// Catalog data as JSON, with notes and properties in words.

/// Replaces notes and properties by their text.
pub fn catalog_json(value: Value) -> Value {
    match value {
        Value::Array(all) => all.into_iter().map(catalog_json).collect(),
        Value::Object(all) => {
            let worded = |(key, value): (String, Value)| {
                let value = match key.as_str() {
                    "notes" => {
                        each(value, |one| Some(catalog::note(&Note::deserialize(one).ok()?).into()))
                    }
                    "facts" => each(value, |one| Some(fact(&Fact::deserialize(one).ok()?))),
                    _ => catalog_json(value),
                };
                (key, value)
            };
            all.into_iter().map(worded).collect()
        }
        plain => plain,
    }
}

fn fact(fact: &Fact) -> Value {
    let catalog::NamedValue { name, value } = catalog::property(&fact.property);
    json!({ "name": name, "value": value, "source": fact.source })
}

fn each(list: Value, words: impl Fn(&Value) -> Option<Value>) -> Value {
    let Value::Array(all) = list else { return list };
    all.into_iter().map(|one| words(&one).unwrap_or(one)).collect()
}

// Comparison of a user's figures with the catalog.

/// Compares each row of a table with the catalog. Counts matching rows and explains the others.
pub fn catalog_check(rows: &[Checked]) -> Document {
    let mut page = Document::default();
    let count = |wanted| rows.iter().filter(|row| row.agreement == wanted).count() as u64;
    let all = [Agreement::Same, Agreement::Differs, Agreement::Unconfirmed, Agreement::Unknown];
    let said: Vec<_> = all
        .into_iter()
        .filter(|wanted| count(*wanted) > 0)
        .map(|wanted| catalog::agree(wanted, count(wanted)))
        .collect();
    let limits = iotax_quantity::count(rows.len() as u64, "limit");
    page.add(Section::new(format!("{limits}: {}", said.join(", ")), []));
    let mut sources = Sources::default();
    for row in rows.iter().filter(|row| row.agreement != Agreement::Same) {
        explain(&mut page, row, &mut sources);
    }
    if rows.iter().any(|row| row.agreement != Agreement::Same && row.source.is_some()) {
        page.add(sources.section());
    }
    page
}

fn explain(page: &mut Document, row: &Checked, sources: &mut Sources) {
    let name = row.of.as_ref().unwrap_or(&row.claim.name);
    let word = catalog::agreement(row.agreement);
    let scope = row.scope.or(row.claim.scope).map(|scope| format!(", {scope}"));
    let title = format!("Line {}, {name}{}: {word}", row.claim.line, scope.unwrap_or_default());
    let Some(known) = row.known else {
        let problem = row.problem.as_deref().unwrap_or_default();
        page.add_paragraph(format!("{title}: {problem}"));
        return;
    };
    let mut table = Table::new(&["from", "source"], &["IOPS", "MB/s", "burst IOPS", "burst MB/s"]);
    let yours = row.claim.source.as_ref().map(|source| sources.number(source).to_string());
    table.rows.push(figures("your table", yours, row.claim.claimed, None));
    let ours = row.source.as_ref().map(|source| sources.number(source).to_string());
    table.rows.push(figures("the catalog", ours, known, Some(row.differing())));
    let mut items = vec![Item::Table(table)];
    items.extend(catalog::belongs_to(&row.belongs_to).map(Item::Note));
    page.add(Section::new(title, items));
    if let Some(conflict) = &row.conflict {
        page.add(Section::of(Item::warning(catalog::conflict(conflict))));
        let _ = sources.number(&conflict.source);
    }
}

/// A row in which figures that differ from the claim are highlighted.
fn figures(
    from: &str,
    source: Option<String>,
    of: Claimed,
    differing: Option<[bool; 4]>,
) -> Vec<Cell> {
    let source = source.unwrap_or_else(|| "none given".to_owned());
    let absent = if differing.is_some() { UNKNOWN } else { ABSENT };
    let mb = |bytes: Option<f64>| bytes.map(|bytes| bandwidth(Unit::Mb, bytes));
    let iops = |iops: Option<f64>| iops.map(limit_figure);
    let values = [iops(of.iops), mb(of.bw_bytes), iops(of.burst_iops), mb(of.burst_bw_bytes)];
    let mut row = cells([from.to_owned(), source]);
    for (value, differs) in values.into_iter().zip(differing.unwrap_or_default()) {
        let tone = if differs { Tone::Worse } else { Tone::Plain };
        row.push(Cell { tone, ..Cell::new(value.unwrap_or_else(|| absent.to_owned())) });
    }
    row
}
