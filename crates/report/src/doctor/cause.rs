use iotax_catalog::{Cause, CauseSource, causes};

use crate::json::json_text;
use crate::page::Page;
use crate::text::Style;

/// A known cause, explained.
pub fn cause_text(cause: &Cause, style: Style) -> String {
    let Cause { id, number, title, mechanism, detection, experiment, remedy, magnitude, sources } =
        cause;
    let mut page = Page::new(style);
    page.title(&format!("{number} {title}"));
    let parts = [
        ("mechanism", mechanism),
        ("detection", detection),
        ("experiment", experiment),
        ("remedy", remedy),
        ("magnitude", magnitude),
    ];
    let fact = |(name, text): &(&str, &String)| ((*name).to_owned(), (*text).clone());
    let mut facts: Vec<_> = parts.iter().map(fact).collect();
    facts.push(("name".to_owned(), id.clone()));
    page.facts(&facts);
    let lines: Vec<_> = sources
        .iter()
        .map(|source| format!("{}, {}: {}", source.title, source.date, source.place))
        .collect();
    page.sources(&lines);
    page.finish()
}

/// All known causes, a line each.
pub fn cause_list(style: Style) -> String {
    let mut page = Page::new(style);
    page.title("Known causes of slow I/O");
    let line = |cause: &Cause| (cause.id.clone(), cause.title.clone());
    page.facts(&causes().iter().map(line).collect::<Vec<_>>());
    page.paragraph("Explain one:  iotax doctor --explain NAME");
    page.finish()
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
