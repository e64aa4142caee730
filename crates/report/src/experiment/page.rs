//! Sections only in pages: charts, and the full measurement setup.

use iotax_analyze::{Analysis, Doubt, DoubtKind, Verdict};
use iotax_experiment::Design;
use iotax_record::{ExperimentHead, Stored as _};
use iotax_wording::verdict::comparison::hypotheses;
use iotax_wording::verdict::nodes::in_common;
use iotax_wording::{chart, method, name, note, units};

use super::glance;
use crate::document::{ChartFrame, Drawing, Group, Item, LegendEntry, Section, ShownIn, Topic};
use crate::facts;
use crate::figures::{self, Drawn};
use crate::words::printable;

fn section(heading: &str, items: impl Into<Vec<Item>>) -> Section {
    Section::new(heading, items).at(ShownIn::Page)
}

fn drawing(id: &'static str, caption: impl Into<String>) -> Item {
    Item::Drawing(Drawing::Charts(vec![ChartFrame {
        id: id.into(),
        title: "".into(),
        caption: caption.into(),
    }]))
}

fn legend(analysis: &Analysis) -> Item {
    Item::Drawing(Drawing::Legend(LegendEntry::all(analysis)))
}

/// The target of each arm.
pub(super) fn targets(analysis: &Analysis) -> Option<Section> {
    let targets = analysis.arms.iter().map(|arm| (printable(&arm.name), printable(&arm.target)));
    let targets: Vec<_> = targets.filter(|(_, target)| !target.is_empty()).collect();
    (!targets.is_empty()).then(|| section("Targets", [Item::facts(targets)]))
}

/// Key figures, if nothing is compared.
pub(super) fn tiles(analysis: &Analysis) -> Option<Section> {
    let is_single = analysis.comparisons.is_empty() && analysis.fleet.is_none();
    let tiles = if is_single { figures::tiles(analysis) } else { Vec::new() };
    (!tiles.is_empty()).then(|| section("", [Item::Drawing(Drawing::Tiles(tiles))]))
}

/// The figures of each arm, or of those in the charts. A single arm has tiles.
pub(super) fn arms(analysis: &Analysis, shown: &[usize]) -> Option<Section> {
    let table = glance::arms(analysis, shown.iter().map(|arm| &analysis.arms[*arm]));
    let note = chart::not_all(shown.len(), analysis);
    let note = (!note.is_empty()).then(|| Item::Note(note.trim_start().to_owned()));
    let items = [Item::Table(table)].into_iter().chain(note);
    (analysis.arms.len() > 1).then(|| section("", items.collect::<Vec<_>>()))
}

/// The nodes of a fleet.
pub(super) fn nodes(experiment: &ExperimentHead, analysis: &Analysis) -> Option<Section> {
    let map = figures::map(experiment, analysis)?;
    let common = in_common(experiment, analysis);
    let items = [Item::Drawing(Drawing::Nodes(map)), Item::Note(chart::nodes(analysis))];
    let items = common.into_iter().map(Item::Paragraph).chain(items);
    Some(section("Node map", items.collect::<Vec<_>>()))
}

/// The steps from the bare stack to the full one.
pub(super) fn waterfall() -> Item {
    drawing("waterfall", chart::WATERFALL)
}

/// The comparisons with their intervals drawn, below `first`.
pub(super) fn forest(
    experiment: &ExperimentHead,
    analysis: &Analysis,
    first: Option<Item>,
    groups: Vec<Group>,
) -> Option<Section> {
    if groups.is_empty() {
        return None;
    }
    let (heading, subject) = match experiment.spec.design {
        Design::Peel { .. } => ("Cost per layer", "layer"),
        Design::Fleet => ("Comparison of nodes", "node"),
        Design::Single | Design::Compare => ("Comparison with baseline", "arm"),
    };
    let note = chart::forest(experiment, analysis);
    let mut items: Vec<Item> = first.into_iter().collect();
    items.extend([Item::Drawing(Drawing::Forest(subject, groups)), Item::Note(note)]);
    items.extend(hypotheses(analysis, experiment.spec.workload()).map(Item::Note));
    Some(section(heading, items))
}

/// The percentiles of each arm.
pub(super) fn latency(analysis: &Analysis, drawn: &Drawn) -> Item {
    drawing("latency", chart::latency(analysis, drawn.shown_arms))
}

/// The distribution of latencies over time: part of the answer if trials stalled.
pub(super) fn heat(analysis: &Analysis, drawn: &Drawn) -> (Topic, Option<Section>) {
    let has_spread = analysis.trials.iter().any(|trial| trial.spread.is_some())
        && !analysis.arms.iter().any(units::moves_bytes);
    let caption = chart::heat(analysis, drawn.shown_arms, drawn.trials_per_column);
    let heat = || section("Latency distribution over time", [drawing("heat", caption)]);
    let topic = if has_stalls(analysis) { Topic::Answer } else { Topic::Evidence };
    (topic, has_spread.then(heat))
}

/// Whether trials, or seconds of them, completed almost nothing.
fn has_stalls(analysis: &Analysis) -> bool {
    let is_stall = |doubt: &Doubt| {
        matches!(doubt.kind, DoubtKind::StalledTrials { .. } | DoubtKind::StalledSecond { .. })
    };
    analysis.warnings.iter().any(is_stall)
        || analysis.comparisons.iter().any(|comparison| comparison.stalls.is_some())
        || analysis.arms.iter().any(|arm| arm.stalled_trials > 0)
}

/// Each block's own difference from the baseline.
pub(super) fn blocks(
    experiment: &ExperimentHead,
    analysis: &Analysis,
    drawn: &Drawn,
) -> Option<Section> {
    // The first node of a fleet is not a baseline.
    let is_compared = analysis.arms.len() > 1
        && !experiment.spec.is_of_results()
        && experiment.spec.design != Design::Fleet;
    let caption = chart::blocks(analysis, drawn.blocks_together);
    is_compared.then(|| section("Difference per block", [drawing("blocks", caption)]))
}

/// Throughput over time.
pub(super) fn trials(analysis: &Analysis, drawn: &Drawn) -> Option<Section> {
    let has_series = analysis.trials.iter().any(|trial| !trial.per_second_ios.is_empty());
    let caption = chart::trials(analysis, drawn.shown_arms, drawn.seconds_per_step);
    has_series.then(|| section("Throughput per trial", [drawing("series", caption)]))
}

/// System metrics during the trials.
pub(super) fn meanwhile(charts: Vec<ChartFrame>, seconds_per_step: u32) -> Option<Section> {
    let has_charts = !charts.is_empty();
    let items =
        [Item::Drawing(Drawing::Charts(charts)), Item::Note(chart::machine(seconds_per_step))];
    has_charts.then(|| section("System metrics", items))
}

/// The order of the trials, and trials with problems.
pub(super) fn schedule(
    experiment: &ExperimentHead,
    analysis: &Analysis,
    drawn: &Drawn,
) -> Vec<Section> {
    if drawn.blocks == 0 || experiment.spec.is_of_results() {
        return Vec::new();
    }
    let caption = chart::schedule(drawn.shown_blocks, drawn.blocks);
    // Rows for very many arms are not useful.
    let is_drawn = !analysis.fleet.is_some_and(|fleet| fleet.is_population);
    let schedule = || section("Schedule", [legend(analysis), drawing("schedule", caption)]);
    let mut sections: Vec<Section> = is_drawn.then(schedule).into_iter().collect();
    let (troubles, more) = facts::troubles(analysis);
    if !troubles.rows.is_empty() {
        let more = (more > 0).then(|| Item::Note(note::more(more)));
        let items = [Item::Table(troubles)].into_iter().chain(more);
        sections.push(section("Trials with problems", items.collect::<Vec<_>>()));
    }
    sections
}

/// States that there is no open question.
pub(super) fn nothing_open(open: &[String]) -> Option<Section> {
    let said = Item::Paragraph(note::NOTHING_OPEN.to_owned());
    open.is_empty().then(|| section("Open questions", [said]))
}

/// Machine, targets, jobs, and command.
pub(super) fn circumstances(experiment: &ExperimentHead, analysis: &Analysis) -> [Section; 2] {
    let is_of_results = experiment.spec.is_of_results();
    let hosts = (0..experiment.hosts.len()).map(|place| facts::host(experiment, place));
    let (heading, places, jobs) = if is_of_results {
        let files = Item::Table(facts::results(experiment));
        let places: Vec<Item> = [files].into_iter().chain(hosts).collect();
        ("Results", places, Item::Table(facts::given_jobs(experiment)))
    } else {
        let places = hosts.chain([Item::Table(facts::sites(experiment))]).collect();
        ("Environment", places, facts::workload(experiment, analysis))
    };
    let spec = String::from_utf8(experiment.spec.encode_pretty()).expect("JSON is text");
    let reproduce = [
        Item::Preformatted(facts::command(&experiment.command)),
        Item::Paragraph(note::made_by(experiment)),
        jobs,
        Item::Folded("Resolved specification (JSON)", spec),
    ];
    [section(heading, places), section("How to reproduce", reproduce)]
}

/// The method and the terms.
pub(super) fn method(experiment: &ExperimentHead, analysis: &Analysis) -> [Section; 2] {
    let verdicts = Verdict::ALL.map(|verdict| {
        (name::verdict(verdict).to_owned(), method::meaning(verdict, experiment, analysis))
    });
    let others = method::WORDS.map(|(word, meaning)| (word.to_owned(), meaning.to_owned()));
    let method = Item::Paragraph(method::method(experiment, analysis));
    [
        section("Method", [method]),
        section("Terms", [Item::facts(verdicts.into_iter().chain(others))]),
    ]
}
