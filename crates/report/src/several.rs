//! Several experiments in one report: what each of them found, then each in full.

use crate::document::{Cell, Chapter, Document, Head, Item, Lead, Section, Table, Topic};
use crate::format;

/// Reports, each with the name of its results.
pub fn several(reports: Vec<(String, Document)>) -> Document {
    let mut table = Table::new(&["results", "measured", "found"], &[]);
    table.heads.push(Head::word("when"));
    for (name, document) in &reports {
        let lead = document.lead.as_ref();
        let of = |text: fn(&Lead) -> String| Cell::new(lead.map(text).unwrap_or_default());
        table.push([
            Cell::new(name),
            of(|lead| [lead.kind, &lead.subject].join(" ").trim_end().to_owned()),
            of(|lead| lead.sentences.first().cloned().unwrap_or_default()),
            of(|lead| lead.origin.clone()),
        ]);
    }
    let mut document = Document::of(Lead {
        kind: "report",
        subject: format::counted(reports.len() as u64, "experiment"),
        ..Lead::default()
    });
    document.extend_on(Topic::Answer, [Section::new("Findings", [Item::Table(table)])]);
    let all = reports.len();
    let chapters = (1..).zip(reports).map(|(number, (name, document))| Chapter {
        title: format!("{number} of {all}: {name}"),
        document,
    });
    document.chapters = chapters.collect();
    document
}
