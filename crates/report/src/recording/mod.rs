//! The report on a recording.

mod charts;
mod tables;

use iotax_trace::profile::{Finding, Severity, Summary, Trait};
use iotax_trace::{End, Head as TraceHead};
use iotax_wording::recording::heading::heading;
use iotax_wording::recording::{self as words, finding, page};
use serde_json::{Value, json};

use crate::document::{Document, Drawing, Item, Lead, Point, Rank, Section, ShownIn, Tile, Topic};
use crate::facts;

/// Maximum number of findings before all figures.
const FINDINGS: usize = 3;
/// Maximum number of operations on one screen.
const OPERATIONS: usize = 6;

/// A recording and the path that the user gave.
#[derive(Debug, Clone, Copy)]
pub struct ShownRecording<'a> {
    pub path: &'a str,
    pub head: &'a TraceHead,
    /// `None` if the recorder was killed.
    pub end: Option<&'a End>,
    pub summary: &'a Summary,
}

/// What a recorded program does.
pub fn recording(shown: ShownRecording<'_>) -> Document {
    let summary = shown.summary;
    let (doubts, findings): (Vec<&Finding>, Vec<&Finding>) =
        summary.findings.iter().partition(|finding| is_doubt(&finding.about));
    let is_serious = |finding: &&Finding| finding.severity > Severity::Low;
    let doubts: Vec<String> = doubts
        .into_iter()
        .filter(is_serious)
        .map(|doubt| finding::sentence(&doubt.about, summary))
        .collect();
    let mut document = Document::of(lead(shown, &findings));
    document.screen = on_screen(shown, &doubts);

    let warnings: Vec<Item> = doubts.into_iter().map(Item::warning).collect();
    let warnings = (!warnings.is_empty()).then(|| Section::new("", warnings));
    document.extend_on(Topic::Answer, warnings);
    document.extend_on(Topic::Answer, tiles(summary));
    document.extend_on(Topic::Answer, operations(summary));
    document.extend_on(Topic::Answer, [Section::of(Item::facts(facts_of(summary)))]);
    document.extend_on(Topic::Answer, over_time(summary));
    let rest: Vec<String> =
        findings.iter().skip(FINDINGS).map(|one| finding::sentence(&one.about, summary)).collect();
    document.extend_on(Topic::Answer, Section::of_list(words::OTHER_FINDINGS, rest));
    document.extend(distributions(summary));
    document.extend(tables::files(summary));
    document.extend(threads(summary));
    document.extend(tables::longest(summary));
    let quality = Item::facts(words::quality(shown.head, shown.end, summary));
    document.extend_on(Topic::Doubt, [Section::new(words::LIMITATIONS, [quality])]);
    document.extend_on(Topic::Circumstances, circumstances(shown));
    document.charts = Some(charts::charts(summary));
    document
}

/// The same as JSON.
pub fn recording_json(shown: ShownRecording<'_>) -> Value {
    json!({ "recording": shown.path, "head": shown.head, "end": shown.end, "summary": shown.summary })
}

/// Whether the finding is about the quality of the recording.
const fn is_doubt(about: &Trait) -> bool {
    matches!(about, Trait::LossReported { .. } | Trait::CutOff | Trait::Unseen { .. })
}

fn lead(shown: ShownRecording<'_>, findings: &[&Finding]) -> Lead {
    let summary = shown.summary;
    let first = findings.first().map(|finding| &finding.about);
    let heading = heading(summary, first);
    let advice = first.and_then(finding::advice).map(str::to_owned);
    let others =
        findings.iter().take(FINDINGS).skip(1).map(|one| finding::sentence(&one.about, summary));
    let reason = shown.end.and_then(|end| end.reason);
    Lead {
        kind: "capture",
        subject: shown.path.to_owned(),
        counts: words::counts(summary),
        took: words::counts(summary),
        headline: first.map_or_else(String::new, |about| finding::headline(about, summary)),
        sentences: [heading].into_iter().chain(advice).chain(others).collect(),
        ending: reason.and_then(words::ended).unwrap_or_default(),
        origin: facts::origin(&shown.head.started, &[]),
        about: words::source(shown.head.source).to_owned(),
    }
}

/// The next commands stay, however long the table is.
fn on_screen(shown: ShownRecording<'_>, doubts: &[String]) -> Vec<(Rank, Section)> {
    let summary = shown.summary;
    let mut operations = tables::by_time(summary);
    operations.truncate(OPERATIONS);
    let table = Item::Table(tables::operations(summary, &operations));
    let doubts = doubts.iter().map(|doubt| (Rank::Answer, Item::warning(doubt.clone())));
    let next = words::next(shown.path).map(|(name, command)| Point::command(name, command));
    let items = [(Rank::Answer, table)].into_iter().chain(doubts).chain([
        (Rank::Cause, Item::facts(facts_of(summary))),
        (Rank::Answer, Item::Facts(next.into())),
    ]);
    items.map(|(rank, item)| (rank, Section::of(item))).collect()
}

fn tiles(summary: &Summary) -> Option<Section> {
    let tiles: Vec<Tile> =
        page::tiles(summary).into_iter().map(|(label, figure)| Tile { label, figure }).collect();
    (!tiles.is_empty()).then(|| Section::of(Item::Drawing(Drawing::Tiles(tiles))).at(ShownIn::Page))
}

fn operations(summary: &Summary) -> [Section; 2] {
    let narrow = tables::operations(summary, &tables::by_time(summary));
    [
        Section::of(Item::Table(narrow)).at(ShownIn::Narrow),
        Section::new(page::OPERATIONS, [Item::Table(tables::all_operations(summary))])
            .at(ShownIn::Wide),
    ]
}

fn over_time(summary: &Summary) -> Option<Section> {
    let has_bins = summary.series.bins.len() > 1;
    let chart = || charts::frame("over-time", page::over_time(summary.series.bin_ns));
    has_bins.then(|| Section::new(page::OVER_TIME, [chart()]).at(ShownIn::Page))
}

/// Latencies, sizes, order and parallelism.
fn distributions(summary: &Summary) -> impl Iterator<Item = Section> {
    let has = |is: fn(&iotax_trace::profile::Operation) -> bool| summary.operations.iter().any(is);
    let depth = summary.depth.as_ref().is_some_and(|depth| depth.highest > 0);
    let sections = [
        (has(|of| of.latency.is_some()), page::LATENCY, "latency", page::LATENCY_CAPTION),
        (has(|of| of.sizes.is_some()), page::SIZES, "sizes", page::SIZES_CAPTION),
        (
            has(|of| of.order.is_some_and(|order| order.compared > 0)),
            page::ORDER,
            "order",
            page::ORDER_CAPTION,
        ),
        (depth, page::DEPTH, "depth", page::DEPTH_CAPTION),
    ];
    sections.into_iter().filter(|(has, ..)| *has).map(|(_, heading, id, caption)| {
        Section::new(heading, [charts::frame(id, caption)]).at(ShownIn::Page)
    })
}

/// How threads spend their time, and which waits for which.
fn threads(summary: &Summary) -> Vec<Section> {
    let mut sections = Vec::new();
    if let Some(table) = tables::threads(summary) {
        let table = Item::Table(table);
        let is_drawn = words::sees_latencies(summary);
        let chart = is_drawn.then(|| charts::frame("threads", page::THREAD_TIMES_CAPTION));
        let items: Vec<Item> = chart.into_iter().chain([table]).collect();
        sections.push(Section::new(words::BUSIEST, items));
    }
    if let Some(table) = tables::waits(summary) {
        let pairs = summary.threads.waits.iter().flat_map(|waits| &waits.pairs);
        let caption = page::waits(pairs.map(|pair| pair.share).sum());
        let chart = charts::frame("waits", caption);
        sections.push(Section::new(page::WAITS, [chart, Item::Table(table)]));
    }
    sections
}

fn facts_of(summary: &Summary) -> Vec<(&'static str, String)> {
    let in_all = [
        (words::REQUESTS, summary.requests.as_ref().map(words::requests)),
        (words::IN_FLIGHT, words::depth(summary)),
        (words::SYNCS, words::syncs(summary)),
        (words::THREADS, words::threads(summary)),
        (words::DATA, Some(words::data(summary))),
    ];
    in_all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn circumstances(shown: ShownRecording<'_>) -> [Section; 2] {
    let about = Item::facts(words::circumstances(shown.head, shown.summary));
    let replay = words::replay(shown.path).map(|(name, command)| Point::command(name, command));
    [
        Section::new(words::ABOUT, [about]),
        Section::new(words::USE, [Item::Facts(replay.into())]).at(ShownIn::Page),
    ]
}
