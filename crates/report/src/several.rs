//! Several experiments in one report: what each of them found, then each in full.

use crate::document::{Chapter, Document, Item, Lead, Section, Table, Topic};
use crate::format;

/// Reports, each with the name of its results.
pub fn several(reports: Vec<(String, Document)>) -> Document {
    let said = |document: &Document, text: fn(&Lead) -> String| {
        document.lead.as_ref().map(text).unwrap_or_default()
    };
    let what = |lead: &Lead| [lead.kind, &lead.subject].join(" ").trim_end().to_owned();
    let found = |lead: &Lead| lead.sentences.first().cloned().unwrap_or_default();
    let table = Table::of(&reports)
        .word("results", |(name, _)| name)
        .word("measured", |(_, document)| said(document, what))
        .word("found", |(_, document)| said(document, found))
        .word("when", |(_, document)| said(document, |lead| lead.origin.clone()))
        .table;
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
