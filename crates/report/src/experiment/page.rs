//! What only pages have room for: figures, and the circumstances in full.

use iotax_analyze::Analysis;
use iotax_experiment::Design;
use iotax_record::{ExperimentHead, Stored as _};
use iotax_wording::verdict::comparison::hypotheses;
use iotax_wording::{format, provenance, units};

use crate::document::{Chart, Drawing, Group, Item, LegendEntry, Place, Section};
use crate::facts;
use crate::figures::{self, Drawn};
use crate::words::printable;

fn section(heading: &str, items: impl Into<Vec<Item>>) -> Section {
    Section::new(heading, items).at(Place::Page)
}

fn chart(id: &'static str, caption: impl Into<String>) -> Item {
    Item::Drawing(Drawing::Charts(vec![Chart {
        id: id.into(),
        title: "".into(),
        caption: caption.into(),
    }]))
}

fn legend(analysis: &Analysis) -> Item {
    Item::Drawing(Drawing::Legend(LegendEntry::all(analysis)))
}

/// Said where not all arms are drawn.
fn not_all(analysis: &Analysis, drawn: &Drawn) -> String {
    let (shown, all) = (drawn.shown_arms, analysis.arms.len());
    if shown == all {
        return String::new();
    }
    format!(
        " {shown} of {all} arms: the baseline and those that differ most; the tables have all of \
         them."
    )
}

/// What a step of a line stands for.
fn of_several(seconds: u32) -> String {
    format!(
        "the mean of {seconds} seconds, and the band behind it their lowest and highest, to keep \
         the page small"
    )
}

/// What each arm's target is.
pub(super) fn targets(analysis: &Analysis) -> Option<Section> {
    let targets = analysis.arms.iter().map(|arm| (printable(&arm.name), printable(&arm.target)));
    let targets: Vec<_> = targets.filter(|(_, target)| !target.is_empty()).collect();
    (!targets.is_empty()).then(|| section("Targets", [Item::facts(targets)]))
}

/// The key figures, where nothing is compared: else its drawing shows them.
pub(super) fn tiles(analysis: &Analysis) -> Option<Section> {
    let is_single = analysis.comparisons.is_empty() && analysis.fleet.is_none();
    let tiles = if is_single { figures::tiles(analysis) } else { Vec::new() };
    (!tiles.is_empty()).then(|| section("", [Item::Drawing(Drawing::Tiles(tiles))]))
}

/// The nodes of a fleet.
pub(super) fn nodes(experiment: &ExperimentHead, analysis: &Analysis) -> Option<Section> {
    let map = figures::map(experiment, analysis)?;
    let others = match (&analysis.outliers, analysis.arms.len()) {
        (Some(_), _) => "the median node",
        (None, 2) => "the other one",
        (None, _) => "the mean of the others",
    };
    let caption = format!(
        "Colour: the difference from {others}. Border and sign: the verdict. The tables have the \
         figures of all nodes."
    );
    let common = figures::in_common(experiment, analysis);
    let items = [Item::Drawing(Drawing::Nodes(map)), Item::Note(caption)];
    let items = common.into_iter().map(Item::Paragraph).chain(items);
    Some(section("Map of nodes", items.collect::<Vec<_>>()))
}

/// The comparisons with their intervals drawn.
pub(super) fn forest(
    experiment: &ExperimentHead,
    analysis: &Analysis,
    groups: Vec<Group>,
) -> Option<Section> {
    if groups.is_empty() {
        return None;
    }
    let is_peel = matches!(experiment.spec.design, Design::Peel { .. });
    let (heading, subject, marks) = if is_peel {
        (
            "What each layer costs",
            "layer",
            "Square: Shapley value, the mean over all orders of adding the layers. Open circle: \
             added first, to the bare stack. Dot: taken off the full stack last.",
        )
    } else if experiment.spec.design == Design::Fleet {
        ("Each against the others", "node", "Square: estimate.")
    } else {
        ("Against the baseline", "arm", "Square: estimate.")
    };
    let lines = if experiment.spec.is_of_results() {
        let note = provenance::intervals(experiment, analysis);
        format!("Line: the interval, if there is one. {note}")
    } else {
        format!(
            "Line: the interval; each one alone holds with {}, at whichever block the run \
             stopped. Band: the margin of {}, within which a difference counts as none. n: blocks.",
            format::percent(1.0 - analysis.alpha),
            format::percent(analysis.margin)
        )
    };
    let mut items = vec![Item::Drawing(Drawing::Forest(subject, groups))];
    items.push(Item::Note(format!("{marks} {lines}")));
    items.extend(hypotheses(analysis, experiment.spec.workload()).map(Item::Note));
    Some(section(heading, items))
}

/// The percentiles of each arm; `what`: of its `syncs`, if not of its I/Os.
pub(super) fn latency(analysis: &Analysis, drawn: &Drawn, what: &str) -> Item {
    let what = if what.is_empty() { String::new() } else { format!("'s {what}") };
    let mut caption = format!("Percentiles of the primary job{what}: descriptive, no interval.");
    if drawn.shown_arms < analysis.arms.len() {
        caption.push_str(" Grey: the other arms.");
    }
    chart("latency", caption + &not_all(analysis, drawn))
}

/// How latencies were spread as time went by.
pub(super) fn heat(analysis: &Analysis, drawn: &Drawn) -> Option<Section> {
    let has_spread = analysis.trials.iter().any(|trial| trial.spread.is_some())
        && !analysis.arms.iter().any(units::moves_bytes);
    let (column, its) = match drawn.trials_per_column {
        1 => ("Each trial is a column".to_owned(), "its"),
        n => (format!("Each column is {n} trials"), "their"),
    };
    let caption = format!(
        "{column}, from left to right as they ran; the darker, the more of {its} {}s took that \
         long. A band that splits, widens or moves is what a mean hides.{}",
        units::unit_of_load(analysis),
        not_all(analysis, drawn)
    );
    has_spread.then(|| section("Spread of latencies over time", [chart("heat", caption)]))
}

/// Each block's own difference from the baseline.
pub(super) fn blocks(
    experiment: &ExperimentHead,
    analysis: &Analysis,
    drawn: &Drawn,
) -> Option<Section> {
    // The first node of a fleet is no baseline.
    let is_compared = analysis.arms.len() > 1
        && !experiment.spec.is_of_results()
        && experiment.spec.design != Design::Fleet;
    let what = if units::is_led_by_syncs(analysis) { "The time of a sync" } else { "Throughput" };
    let left_out = match drawn.blocks_together {
        1 | 2 => String::new(),
        n => format!(
            " Of every {n} blocks the lowest and the highest are drawn; the CSV output has all of \
             them."
        ),
    };
    let caption = format!(
        "{what} against {}, block by block. Dashed: the mean. Band: the margin. Hollow: not used. \
         Points that wander together depend on each other.{left_out}",
        printable(&analysis.baseline)
    );
    is_compared.then(|| section("Block by block", [chart("blocks", caption)]))
}

/// Throughput over time.
pub(super) fn trials(analysis: &Analysis, drawn: &Drawn) -> Option<Section> {
    let has_series = analysis.trials.iter().any(|trial| !trial.per_second_ios.is_empty());
    let what = if analysis.arms.iter().any(units::moves_bytes) {
        units::unit_of_rate(analysis).to_owned()
    } else {
        format!("{}s per second", iotax_quantity::capital(units::unit_of_load(analysis)))
    };
    let steps = match drawn.seconds_per_step {
        1 => ", second by second".to_owned(),
        n => format!("; each step is {}", of_several(n)),
    };
    let caption = format!(
        "{what} of the primary job over the time of the experiment{steps}. Grey: not used.{}",
        not_all(analysis, drawn)
    );
    has_series.then(|| section("Throughput of every trial", [chart("series", caption)]))
}

/// What the machine did.
pub(super) fn meanwhile(charts: Vec<Chart>, seconds_per_step: u32) -> Option<Section> {
    let mut note = "PSI: time in which at least one task waited. Descriptive: no verdict rests on \
                    these figures."
        .to_owned();
    if seconds_per_step > 1 {
        note.push_str(&format!(" Each step is {}.", of_several(seconds_per_step)));
    }
    let has_charts = !charts.is_empty();
    let items = [Item::Drawing(Drawing::Charts(charts)), Item::Note(note)];
    has_charts.then(|| section("The machine meanwhile", items))
}

/// The order of the trials, and what went wrong with some.
pub(super) fn schedule(
    experiment: &ExperimentHead,
    analysis: &Analysis,
    drawn: &Drawn,
) -> Vec<Section> {
    let (shown, blocks) = (drawn.shown_blocks, drawn.blocks);
    if blocks == 0 || experiment.spec.is_of_results() {
        return Vec::new();
    }
    let mut caption = "One column per block; trials ran from top to bottom, then left to right. \
                       Hollow: not used."
        .to_owned();
    if shown < blocks {
        caption.push_str(&format!(
            " The first {shown} of {blocks} blocks are drawn; the CSV output has all of them."
        ));
    }
    // A row for each of very many says nothing.
    let is_drawn = !analysis.fleet.is_some_and(|fleet| fleet.is_population);
    let drawing = || section("Schedule", [legend(analysis), chart("schedule", caption)]);
    let mut sections: Vec<Section> = is_drawn.then(drawing).into_iter().collect();
    let (troubles, more) = facts::troubles(analysis);
    if !troubles.rows.is_empty() {
        let more = (more > 0).then(|| Item::Note(format!("And {more} more.")));
        let items = [Item::Table(troubles)].into_iter().chain(more);
        sections.push(section("Trials with trouble", items.collect::<Vec<_>>()));
    }
    sections
}

/// That no question is left.
pub(super) fn nothing_open(open: &[String]) -> Option<Section> {
    let said = Item::Paragraph("Nothing that was asked was left open.".to_owned());
    open.is_empty().then(|| section("Not concluded", [said]))
}

/// The machine, the places, the jobs, and the command.
pub(super) fn circumstances(experiment: &ExperimentHead) -> [Section; 2] {
    let is_of_results = experiment.spec.is_of_results();
    let (heading, places, jobs) = if is_of_results {
        let files = Item::Table(facts::results(experiment));
        ("Results", vec![files], facts::given_jobs(experiment))
    } else {
        let hosts = (0..experiment.hosts.len()).map(|place| facts::host(experiment, place));
        let places = hosts.chain([Item::Table(facts::sites(experiment))]).collect();
        ("Environment", places, facts::jobs(experiment))
    };
    let spec = String::from_utf8(experiment.spec.encode_pretty()).expect("JSON is text");
    let version = &experiment.iotax_version;
    let mut said = if is_of_results {
        format!("iotax {version}.")
    } else {
        format!("iotax {version}, seed {}.", experiment.spec.seed)
    };
    let workload = experiment.spec.workload();
    if !workload.about.is_empty() {
        said.push_str(&format!(" {}: {}", workload.name, workload.about));
    }
    let reproduce = [
        Item::Preformatted(facts::command(&experiment.command)),
        Item::Paragraph(said),
        Item::Table(jobs),
        Item::Folded("The resolved specification, as JSON", spec),
    ];
    [section(heading, places), section("How to reproduce", reproduce)]
}
