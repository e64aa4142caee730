use iotax_wording::cause::{Cause, CauseSource, EXPLAIN_ONE, causes};

use crate::document::{Document, Item, Section};
use crate::json::text::json_text;

/// A known cause, explained.
pub fn explained(cause: &Cause) -> Document {
    let Cause { id, number, title, mechanism, detection, experiment, remedy, magnitude, sources } =
        cause;
    let parts = [
        ("mechanism", mechanism),
        ("detection", detection),
        ("experiment", experiment),
        ("remedy", remedy),
        ("magnitude", magnitude),
        ("name", id),
    ];
    let source =
        |source: &CauseSource| format!("{}, {}: {}", source.title, source.date, source.place);
    let sources = sources.iter().map(source).collect();
    let mut page = Document::default();
    page.add(Section::new(format!("{number} {title}"), []));
    page.add_facts(parts.map(|(name, text)| (name, text.clone())));
    page.add(Section::new("Sources", [Item::Sources(sources)]));
    page
}

/// All known causes, a line each.
pub fn known_causes() -> Document {
    let mut page = Document::default();
    page.add(Section::new("Known causes of slow I/O", []));
    let line = |cause: &Cause| (cause.id.clone(), cause.title.clone());
    page.add_facts(causes().iter().map(line));
    page.add_paragraph(EXPLAIN_ONE);
    page
}

/// The same for programs: one cause, or all.
pub fn cause_json(causes: &[&Cause]) -> String {
    let document = serde_json::json!({ "causes": causes });
    json_text(&document)
}

/// `Cloudflare, Speeding up Linux disk encryption (2020-03-25); 2 more`.
pub(super) fn dated(sources: &[CauseSource]) -> String {
    let Some((first, others)) = sources.split_first() else { return String::new() };
    let more = if others.is_empty() { String::new() } else { format!("; {} more", others.len()) };
    format!("{} ({}){more}", first.title, first.date)
}
