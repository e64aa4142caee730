//! Several experiments in one report: an overview, then each in full.

use crate::document::{Chapter, Document, Item, Lead, Point, Rank, Section, Table, Topic};
use iotax_quantity::count;

/// Combines reports, each with the name of its results.
pub fn several(reports: Vec<(String, Document)>) -> Document {
    let said = |document: &Document, text: fn(&Lead) -> String| {
        document.lead.as_ref().map(text).unwrap_or_default()
    };
    let what = |lead: &Lead| [lead.kind, &lead.subject].join(" ").trim_end().to_owned();
    let table = Table::of(&reports)
        .word("results", |(name, _)| name)
        .word("measurement", |(_, document)| said(document, what))
        .word("finding", |(_, document)| found(document))
        .word("time", |(_, document)| said(document, |lead| lead.origin.clone()))
        .table;
    let mut document = Document::of(Lead {
        kind: "report",
        subject: count(reports.len() as u64, "experiment"),
        ..Lead::default()
    });
    let point = |(name, document): &(String, Document)| Point::new(name.clone(), found(document));
    let findings = reports.iter().map(point).collect();
    document.show_first(Rank::Answer, [Section::of(Item::Facts(findings))]);
    document.extend_on(Topic::Answer, [Section::new("Findings", [Item::Table(table)])]);
    let all = reports.len();
    let chapters = (1..).zip(reports).map(|(number, (name, document))| Chapter {
        title: format!("{number} of {all}: {name}"),
        document,
    });
    document.chapters = chapters.collect();
    document
}

/// The finding and its severe warnings, so that readers of the overview see them.
fn found(document: &Document) -> String {
    let sentence = document.lead.as_ref().and_then(|lead| lead.sentences.first());
    let sentence = sentence.map_or("", |sentence| sentence.trim_end_matches('.'));
    let mut doubts: Vec<&str> = Vec::new();
    for section in &document.sections {
        let severe = section.items.iter().filter_map(|item| match item {
            Item::Warning(notice) if notice.is_severe() => Some(notice.title.as_str()),
            Item::Facts(_) if section.is_alarming => Some("see warnings"),
            _ => None,
        });
        doubts.extend(severe);
    }
    if doubts.is_empty() {
        return sentence.to_owned();
    }
    format!("{sentence} (in doubt: {})", doubts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotax_analyze::Weight;
    use iotax_wording::doubt::Notice;

    #[test]
    fn the_overview_says_what_puts_a_finding_in_doubt() {
        let sentences = vec!["luks is 2.2x faster than base in throughput.".to_owned()];
        let mut document = Document::of(Lead { sentences, ..Lead::default() });
        assert_eq!(found(&document), "luks is 2.2x faster than base in throughput");
        let notice = |title: &str, weight| {
            Item::Warning(Notice { title: title.to_owned(), weight, ..Notice::default() })
        };
        let items =
            [notice("unexpected gain (luks)", Weight::Severe), notice("precision", Weight::Minor)];
        document.extend_on(Topic::Answer, [Section::new("", items)]);
        assert_eq!(
            found(&document),
            "luks is 2.2x faster than base in throughput (in doubt: unexpected gain (luks))"
        );
    }
}
