//! The first look at a disk, in all formats.

use iotax_experiment::rule::RuleOutcome;
use iotax_record::End;
use iotax_wording::check::{CheckRow, OVERVIEW, PARTS, rows, sentences};
use iotax_wording::format;
use iotax_wording::search::SearchResult;
use serde_json::{Value, json};

use crate::doctor::{Detail, HostFindings, doctor, doctor_json};
use crate::document::{Cell, Chapter, Document, Head, Item, Lead, Rank, Section, Table, Topic};
use crate::experiment::AnalyzedPhase;
use crate::facts;
use crate::json::json_text;
use crate::phases::{experiments, phases_json_compare, wall_ns};
use crate::search::{search, search_json};
use crate::words::Tone;

/// A checked disk: its caps, how applications fare, and what lies under it.
#[derive(Debug)]
pub struct CheckResult<'a> {
    pub caps: SearchResult<'a>,
    /// The phases of a suite; may be empty.
    pub fitness: &'a [AnalyzedPhase],
    pub host: HostFindings,
}

/// Version of the JSON.
const FORMAT: u32 = 1;
/// Name of the suite's record.
const SUITE: &str = "fitness";

/// The overview, then each part in full.
pub fn check(checked: CheckResult<'_>) -> Document {
    let CheckResult { caps, fitness, host } = checked;
    let phases = || fitness.iter().map(|(_, phase)| phase);
    let head = caps.head;
    let mut document = Document::of(Lead {
        kind: "check",
        subject: head.search.targets.first().map_or_else(String::new, |t| t.arm.name.clone()),
        took: format::span(caps.end.map_or(0, |end: &End| end.wall_ns) + wall_ns(fitness)),
        sentences: sentences(caps, phases(), &host.findings),
        origin: facts::origin(&head.started, &head.hosts),
        ..Lead::default()
    });
    let overview = overview(&rows(caps, phases()));
    document.show_first(Rank::Answer, [Section::of(Item::Table(overview.clone()))]);
    document.extend_on(Topic::Answer, [Section::new(OVERVIEW, [Item::Table(overview)])]);
    let hosts = [host];
    let parts = [
        Some(search(caps)),
        (!fitness.is_empty()).then(|| experiments(SUITE, fitness)),
        Some(doctor(&hosts, None, Detail::Folded)),
    ];
    let parts = PARTS.iter().zip(parts).filter_map(|(title, part)| Some((title, part?)));
    document.chapters =
        parts.map(|(title, document)| Chapter { title: (*title).to_owned(), document }).collect();
    document
}

fn overview(rows: &[CheckRow]) -> Table {
    Table::of(rows)
        .word("", |row| &row.what)
        .figure("measured", |row| &row.figure)
        .column(Head::word(""), |row| Some(Cell::toned(&row.meaning, tone(row.outcome))))
        .table
}

const fn tone(outcome: Option<RuleOutcome>) -> Tone {
    match outcome {
        Some(RuleOutcome::Fail) => Tone::Worse,
        Some(RuleOutcome::Pass) => Tone::Better,
        Some(RuleOutcome::Undecided) => Tone::Open,
        None => Tone::Plain,
    }
}

/// One JSON object: `overview`, and the parts as their own commands print them.
///
/// # Panics
/// Never: the parts are JSON.
pub fn check_json(checked: &CheckResult<'_>) -> String {
    let CheckResult { caps, fitness, host } = checked;
    let part = |text: String| serde_json::from_str::<Value>(&text).expect("it is JSON");
    let row = |row: CheckRow| {
        let CheckRow { what, figure, meaning, outcome } = row;
        json!({ "what": what, "measured": figure, "meaning": meaning, "outcome": outcome })
    };
    let rows = rows(*caps, fitness.iter().map(|(_, phase)| phase));
    json_text(&json!({
        "format": FORMAT,
        "iotax": caps.head.iotax_version,
        "started": caps.head.started,
        "overview": rows.into_iter().map(row).collect::<Vec<_>>(),
        "limits": part(search_json(*caps)),
        "fitness": (!fitness.is_empty()).then(|| part(phases_json_compare(SUITE, fitness))),
        "doctor": part(doctor_json(std::slice::from_ref(host), None, &[])),
    }))
}
