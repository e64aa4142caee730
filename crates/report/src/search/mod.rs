//! The report of a search for caps, in all formats.

mod figures;
mod json;
mod tables;

use iotax_caps::Caps;
use iotax_quantity::count;
use iotax_wording::method::OF_SEARCH;
use iotax_wording::search::{SearchResult, doubts, notes, sentences};
use iotax_wording::{format, limit, provenance};

pub use self::json::search_json;
pub use self::tables::search_csv;
use crate::document::{Document, Item, Lead, Rank, Section, ShownIn, Topic};
use crate::{cloud_disks, facts};

/// The result of a search for caps.
pub fn search(search: SearchResult<'_>) -> Document {
    let head = search.head;
    let mut document = Document::of(Lead {
        kind: "limits",
        counts: counts(search),
        took: search.end.map_or_else(String::new, |end| format::span(end.wall_ns)),
        sentences: sentences(search),
        origin: facts::origin(&head.started, &head.hosts),
        ..Lead::default()
    });
    document.charts = Some(figures::charts(search));
    let mut charts = Some(figures::sections(search));
    let mut rank = Rank::Answer;
    for (topic, title, table) in tables::all(search) {
        if topic == Topic::Answer {
            document.show_first(rank, Section::of_table(title, Some(table.clone()), None));
            rank = Rank::Detail;
        }
        document.extend_on(topic, Section::of_table(title, Some(table), None));
        // The caps are above the charts.
        document.extend(charts.take().into_iter().flatten());
    }
    document.extend(charts.into_iter().flatten());
    document.show_first(Rank::Doubt, Section::of_list("", doubts(search)));
    document.extend_on(Topic::Doubt, Section::of_list("Notes", notes(search)));
    let command = Item::Preformatted(facts::command(&head.command));
    let method = [Item::Paragraph(OF_SEARCH.trim_end().to_owned()), command];
    document.add(Section::new("Method", method).at(ShownIn::Page).on(Topic::Circumstances));
    let targets = head.search.targets.iter().map(|target| &target.arm.target);
    document.extend(cloud_disks::section(targets));
    let sources = sources(search.caps);
    if !sources.is_empty() {
        let sources = Section::new("Sources of limits", [Item::Sources(sources)]);
        document.add(sources.at(ShownIn::Page).on(Topic::Circumstances));
    }
    document
}

/// `2 targets, reads, 34 s; on Standard_DS1_v2 (from Azure's metadata service)`
fn counts(search: SearchResult<'_>) -> String {
    let SearchResult { head, end, .. } = search;
    let targets = count(head.search.targets.len() as u64, "target");
    let is_network = head.search.targets.iter().all(|target| target.arm.target.is_network());
    let what = match head.search.writes {
        _ if is_network => "",
        true => ", writes",
        false => ", reads",
    };
    let took = end.map_or_else(String::new, |end| format!(", {}", format::span(end.wall_ns)));
    let vm = provenance::vm(head.host().instance.as_ref(), &head.opened.cloud);
    format!("{targets}{what}{took}{vm}")
}

/// The sources of the limits, each once.
fn sources(caps: &Caps) -> Vec<String> {
    let limits = caps.documented.iter().flat_map(|row| &row.limits);
    let mut sources: Vec<String> = limits.map(limit::source).collect();
    sources.sort();
    sources.dedup();
    sources
}
