//! Lays out the summary of a recording.

use iotax_quantity::{bytes, grouped, percent};
use iotax_trace::profile::{
    FileFigures, Finding, HotFile, Latency, Operation, Severity, Summary, Trait,
};
use iotax_trace::{End, Head as TraceHead, Unseen};
use iotax_wording::format::or_absent;
use iotax_wording::recording::{self as words, finding};
use serde_json::{Value, json};

use crate::document::{Cell, Document, Item, Lead, Rank, Section, Table, Topic};

/// Maximum number of findings on one screen.
const FINDINGS: usize = 2;

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
    let mut document = Document::of(lead(shown, &findings));
    let table = operations(summary);
    let facts = facts(shown);
    document.show_first(Rank::Answer, [Section::of(Item::Table(table.clone()))]);
    let is_serious = |finding: &&&Finding| finding.severity > Severity::Low;
    let warnings = doubts.iter().filter(is_serious).map(|doubt| {
        let text = finding::sentence(&doubt.about);
        Section::of(Item::warning(text))
    });
    document.show_first(Rank::Doubt, warnings);
    document.show_first(Rank::Cause, [Section::of(Item::facts(facts.clone()))]);
    let next = Item::Paragraph(words::next(shown.path));
    document.show_first(Rank::Detail, [Section::of(next)]);

    document.extend_on(
        Topic::Answer,
        [Section::of(Item::Table(table)), Section::of(Item::facts(facts))],
    );
    let of_quality = doubts.iter().filter(is_serious).map(|doubt| finding::sentence(&doubt.about));
    let unseen: Vec<Unseen> = doubts
        .iter()
        .filter_map(|doubt| match doubt.about {
            Trait::Unseen { what } => Some(what),
            _ => None,
        })
        .collect();
    let unseen = (!unseen.is_empty()).then(|| words::not_recorded(&unseen));
    let notices = of_quality.chain(unseen).map(|text| Section::of(Item::warning(text)));
    document.extend_on(Topic::Doubt, notices);
    let rest: Vec<String> =
        findings.iter().skip(FINDINGS).map(|one| finding::sentence(&one.about)).collect();
    document.extend_on(Topic::Evidence, Section::of_list(words::OTHER_FINDINGS, rest));
    document.extend_on(Topic::Evidence, files(summary));
    document.extend_on(Topic::Evidence, threads(summary));
    document.extend_on(Topic::Circumstances, [circumstances(shown)]);
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
    let rates = words::rates(summary);
    let told = findings.iter().take(FINDINGS).map(|one| finding::sentence(&one.about));
    let reason = shown.end.and_then(|end| end.reason);
    Lead {
        kind: "capture",
        subject: shown.path.to_owned(),
        counts: words::counts(summary),
        took: words::counts(summary),
        sentences: [rates].into_iter().chain(told).collect(),
        ending: reason.and_then(words::ended).unwrap_or_default(),
        origin: shown.head.started.clone(),
        about: words::source(shown.head.source).to_owned(),
        ..Lead::default()
    }
}

/// One row per operation that moves data or syncs, and others that are frequent.
fn operations(summary: &Summary) -> Table {
    let length_ns = summary.length_ns;
    let latency = |of: fn(&Latency) -> String| {
        move |operation: &Operation| or_absent(operation.latency.as_ref().map(of))
    };
    let (median, tail) = (latency(words::median), latency(words::tail));
    Table::of(&summary.operations)
        .word("operation", |operation| operation.op.name())
        .figure("ops/s", |operation| words::rate(operation.count, length_ns))
        .figure("throughput", |operation| or_absent(words::byte_rate(operation.bytes, length_ns)))
        .figure("p50", median)
        .figure("p99", tail)
        .word("size", |operation| operation.sizes.as_ref().map_or_else(String::new, words::sizes))
        .word("pattern", |operation| {
            operation.order.as_ref().map_or_else(String::new, words::order)
        })
        .table
}

fn facts(shown: ShownRecording<'_>) -> Vec<(&'static str, String)> {
    let summary = shown.summary;
    let in_all = [
        (words::IN_FLIGHT, words::depth(summary)),
        (words::SYNCS, words::syncs(summary)),
        (words::THREADS, words::threads(summary)),
        (words::DATA, Some(words::data(summary))),
    ];
    in_all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn files(summary: &Summary) -> Option<Section> {
    let files = &summary.files;
    let by = if summary.depth.is_some() { &files.by_time } else { &files.by_bytes };
    let figures = |hot: &HotFile| files.named.iter().find(|figures| figures.file == hot.file);
    let rows = by.iter().filter_map(|hot| Some((hot, figures(hot)?)));
    let size = |figures: &FileFigures| figures.size_bytes.map(|size| bytes(size as f64));
    let table = Table::of(rows)
        .word("file", |(_, figures)| words::file(figures))
        .figure("share of I/O", |(hot, _)| percent(hot.share))
        .figure("size", |(_, figures)| or_absent(size(figures)))
        .figure("read", |(_, figures)| bytes(figures.totals.read_bytes as f64))
        .figure("written", |(_, figures)| bytes(figures.totals.written_bytes as f64))
        .figure("syncs", |(_, figures)| grouped(figures.totals.syncs))
        .table;
    Section::of_table(words::FILES, table.filled(), None)
}

fn threads(summary: &Summary) -> Option<Section> {
    let mut table =
        Table::new(&["thread"], &["I/O", "of which syncs", "waiting for threads", "CPU", "idle"]);
    for thread in &summary.threads.busiest {
        let parts = words::thread_parts(summary, &thread.times);
        let [io, syncs, waiting, cpu, idle] = parts.map(|part| Cell::new(or_absent(part)));
        table.push([Cell::new(thread.thread.to_string()), io, syncs, waiting, cpu, idle]);
    }
    Section::of_table(words::BUSIEST, table.filled(), None)
}

fn circumstances(shown: ShownRecording<'_>) -> Section {
    let head = shown.head;
    let overhead = shown.end.and_then(|end| end.overhead);
    let facts = [
        (words::MACHINE, Some(head.kernel.clone()).filter(|kernel| !kernel.is_empty())),
        (words::COST, overhead.map(words::cost)),
    ];
    let facts = facts.into_iter().filter_map(|(name, value)| Some((name, value?)));
    Section::of(Item::facts(facts))
}
