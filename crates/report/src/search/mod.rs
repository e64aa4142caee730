//! The report of a search for caps, in all formats.

mod csv;
mod figures;
mod json;
mod quantity;
mod sentences;
mod tables;

use iotax_caps::Caps;
use iotax_record::{End, SearchHead};

pub use self::csv::search_csv;
pub use self::json::search_json;

use crate::bandwidth::{MEASURED, Unit};
use crate::document::{Document, Item, Lead, Place, Section};
use crate::{facts, format, provenance};

/// A search: what was asked, what was found, how it ended.
#[derive(Debug, Clone, Copy)]
pub struct SearchResult<'a> {
    /// What was asked, and where.
    pub head: &'a SearchHead,
    /// What was found.
    pub caps: &'a Caps,
    /// How it ended; `None` if it was cut off.
    pub end: Option<&'a End>,
}

/// What a search for caps found.
pub fn search(search: SearchResult<'_>) -> Document {
    let head = search.head;
    let mut document = Document::of(Lead {
        kind: "limits",
        counts: counts(search),
        sentences: sentences::all(search),
        origin: facts::origin(&head.started, &head.hosts),
        ..Lead::default()
    });
    document.charts = Some(figures::charts(search));
    document.extend(figures::sections(search));
    for (title, table) in tables::all(search) {
        document.add_table(title, Some(table), None);
    }
    document.add_list("Notes", sentences::notes(search));
    let command = Item::Preformatted(facts::command(&head.command));
    let method = [Item::Paragraph(include_str!("method.txt").trim_end().to_owned()), command];
    document.add(Section::new("Method", method).at(Place::Page));
    let sources = sources(search.caps);
    if !sources.is_empty() {
        let sources = Section::new("Sources of limits", [Item::Sources(sources)]);
        document.add(sources.at(Place::Page));
    }
    document
}

/// `2 targets, reads, 34 s; on Standard_DS1_v2 (as Azure's metadata service says)`
fn counts(search: SearchResult<'_>) -> String {
    let SearchResult { head, end, .. } = search;
    let targets = format::counted(head.search.targets.len() as u64, "target");
    let what = if head.search.writes { "writes" } else { "reads" };
    let took = end.map_or_else(String::new, |end| format!(", {}", format::span(end.wall_ns)));
    let vm = provenance::vm(head.host().instance.as_ref(), &head.search.cloud);
    format!("{targets}, {what}{took}{vm}")
}

/// Where the figures of limits were read, each source once.
fn sources(caps: &Caps) -> Vec<String> {
    let limits = caps.documented.iter().flat_map(|row| &row.limits);
    let mut sources: Vec<String> = limits
        .map(|limit| {
            let as_of = limit.as_of.as_ref().map_or_else(String::new, |at| format!(", as of {at}"));
            format!("{}: {}{as_of}", limit.of, limit.source)
        })
        .collect();
    sources.sort();
    sources.dedup();
    sources
}

impl SearchResult<'_> {
    /// The unit of all bandwidths: that of the limits which stand beside what was measured.
    fn unit(self) -> Unit {
        let rows = self.caps.documented.iter().filter(|row| row.is_bytes());
        let limits: Vec<_> = rows.flat_map(|row| &row.limits).map(|limit| limit.per_s).collect();
        let undecided = if limits.is_empty() { MEASURED } else { Unit::Mb };
        Unit::of(&limits).unwrap_or(undecided)
    }
}

/// Four digits, and thousands apart: `3.251`, `80.02`, `3,998`, `24,310`.
fn plain(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 999.95 => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate")]
            return format::count(value.round().max(0.0) as u64);
        }
        v if v >= 99.995 => 1,
        v if v >= 9.9995 => 2,
        _ => 3,
    };
    format::fixed(value, decimals)
}
