//! The report of an experiment with one phase: the conclusion first, the method last.

mod glance;
mod page;

use iotax_analyze::{Analysis, NoAnswer, OpenQuestion, Outlook};
use iotax_record::{EndReason, ExperimentHead};
use iotax_wording::cause::diagnoses::causes;
use iotax_wording::doubt::{Notice, notices, of_files};
use iotax_wording::question::question;
use iotax_wording::verdict::comparison::hypotheses;
use iotax_wording::verdict::headline::headline;
pub use iotax_wording::verdict::phases::AnalyzedPhase;
use iotax_wording::verdict::verdict;
use iotax_wording::{format, note, provenance, replay, units};

use crate::document::Topic::{self, Answer, Circumstances, Doubt};
use crate::document::{ChartFrame, Document, Drawing, Item, Lead, Section, ShownIn, Table};
use crate::figures::Drawn;
use crate::json::kind;
use crate::{caps, cloud_disks, facts, figures, machine, matrix, rules, tables, targets, words};

/// The report of an experiment.
pub fn experiment(experiment: &ExperimentHead, analysis: &Analysis) -> Document {
    beside(experiment, analysis, None)
}

/// The same. `above`: a note that replaces open questions shown elsewhere.
pub(crate) fn beside(
    experiment: &ExperimentHead,
    analysis: &Analysis,
    above: Option<String>,
) -> Document {
    let mut forest = figures::groups(analysis);
    let mut effects = figures::of_effects(analysis);
    figures::number(effects.iter_mut().chain(&mut forest));
    let drawn = figures::drawn(analysis, &effects.iter().chain(&forest).collect::<Vec<_>>());
    let waterfall = drawn.has_waterfall.then(page::waterfall);
    let schedule = page::schedule(experiment, analysis, &drawn);
    let blocks = page::blocks(experiment, analysis, &drawn);
    let mut notices = notices(experiment, analysis);
    notices.extend(of_files(&experiment.spec));
    let mut document = Document::of(lead(experiment, analysis));
    document.screen = glance::of(experiment, analysis, &notices);
    let [context, severe, minor] = sections_of(notices);
    document.extend([context, severe].into_iter().flatten());
    document.extend_on(Answer, rules::section(analysis));
    document.extend_on(Answer, page::tiles(analysis));
    document.extend_on(Answer, page::arms(analysis, &drawn.shown));
    document.extend_on(Answer, matrix::sections(analysis, effects));
    document.extend_on(Answer, page::nodes(experiment, analysis));
    document.extend_on(Answer, matrix::outliers(analysis));
    document.extend_on(Answer, page::forest(experiment, analysis, waterfall, forest));
    document.extend_on(Answer, comparisons(experiment, analysis));
    for (title, table) in caps::all(analysis, &experiment.spec.design) {
        document.add_table(&title, Some(table), None);
    }
    document.extend(attribution(experiment, analysis));
    document.extend(arms(analysis));
    document.add_table("By target", targets::table(analysis), None);
    document.add_table("Target details", targets::limits(analysis), None);
    let others = tables::other_jobs(experiment.spec.workload(), analysis)
        .filter(|_| !targets::have_one_job_each(analysis));
    document.add_table("Other jobs", others, None);
    document.add_table(
        "Chosen queue depths",
        caps::found_depths(experiment.spec.workload(), analysis),
        None,
    );
    document.extend(latencies(experiment, analysis, &drawn));
    document.extend_on(Doubt, replays(experiment, analysis).into_iter().flatten());
    let (heat_topic, heat) = page::heat(analysis, &drawn);
    document.extend_on(heat_topic, heat);
    document.extend(page::trials(analysis, &drawn));
    document.extend(operations(analysis, drawn.operations));
    document.extend(page::meanwhile(drawn.machine, drawn.machine_seconds_per_step));
    document.add_table("Devices", machine::devices(analysis), Some(note::DEVICES.to_owned()));
    document.extend(machine::interfaces(analysis));
    document.extend(system(analysis));
    document.add_table("Negotiated NFS options", machine::nfs_granted(analysis), None);
    document.extend(machine::nfs_connections(analysis));
    document.add_table("NFS operations", machine::nfs_operations(analysis), None);
    document.extend(minor);
    let causes = causes(experiment, analysis);
    document.extend_on(Answer, Section::of_list("Causes", causes));
    let mut open = questions(experiment, analysis);
    open.extend(above);
    document.extend_on(Doubt, page::nothing_open(&open));
    document.extend_on(Doubt, Section::of_list("Open questions", open));
    document.extend_on(Doubt, blocks);
    document.extend_on(Doubt, schedule);
    document.extend_on(Circumstances, page::circumstances(experiment, analysis));
    document.extend(cloud_disks::section(experiment.spec.targets()));
    document.extend_on(Circumstances, page::method(experiment, analysis));
    document.charts = Some(drawn.charts);
    document
}

/// Open questions. A page states only once how many blocks would decide: here, unless a rule, the
/// reason of the end, or (with stalls) the verdict states it.
pub(crate) fn questions(experiment: &ExperimentHead, analysis: &Analysis) -> Vec<String> {
    let is_price = |reason| matches!(reason, &EndReason::OutOfReach { needed: Some(_), .. });
    let is_told = analysis.rules.iter().any(|rule| rule.needed.is_some())
        || analysis.ending.reasons.iter().any(is_price);
    let mut open = analysis.open_questions.clone();
    for question in &mut open {
        let OpenQuestion::NoAnswer { why, .. } = question else { continue };
        match why {
            NoAnswer::Noise { outlook, .. } if is_told => {
                outlook.take_if(|of| matches!(of, Outlook::Blocks(_) | Outlook::OutOfReach));
            }
            NoAnswer::OnlySigns { more } => *more = None,
            _ => {}
        }
    }
    open.iter().map(|open| question(open, experiment)).collect()
}

const OPERATIONS: &str = "Operations, pooled over trials (descriptive)";

fn lead(experiment: &ExperimentHead, analysis: &Analysis) -> Lead {
    Lead {
        kind: kind(&experiment.spec.design),
        subject: analysis.workload.clone(),
        counts: provenance::counts(experiment, analysis),
        took: facts::took(&experiment.spec, analysis.ending.wall_ns),
        headline: headline(experiment, analysis).unwrap_or_default(),
        sentences: verdict(experiment, analysis),
        ending: ending(experiment, analysis),
        origin: facts::origin(&experiment.started, &experiment.hosts),
        about: experiment.spec.workload().about.clone(),
    }
}

/// The context, the warnings and the minor warnings among these notices.
pub(crate) fn sections_of(notices: Vec<Notice>) -> [Option<Section>; 3] {
    let (context, found): (Vec<_>, Vec<_>) = notices.into_iter().partition(Notice::is_context);
    let (severe, minor): (Vec<_>, Vec<_>) = found.into_iter().partition(Notice::is_severe);
    let note = |notice: Notice| {
        let said = notice.messages.into_iter().chain([notice.advice]);
        Item::Note(said.map(|text| words::sentence(&text)).collect::<Vec<_>>().join(" "))
    };
    let section = |heading: &str, items: Vec<Item>, topic: Topic| {
        (!items.is_empty()).then(|| Section::new(heading, items).on(topic))
    };
    let warnings = |notices: Vec<Notice>| notices.into_iter().map(Item::Warning).collect();
    [
        section("", context.into_iter().map(note).collect(), Answer),
        section("Warnings", warnings(severe), Answer)
            .map(|section| Section { is_alarming: true, ..section }),
        section("Minor warnings", warnings(minor), Doubt),
    ]
}

/// What was replayed, if anything, and why the run ended.
fn ending(experiment: &ExperimentHead, analysis: &Analysis) -> String {
    let ending = provenance::ending(experiment, analysis);
    match experiment.spec.workload().recording() {
        Some(recorded) => format!("{} {ending}", replay::about(recorded, analysis)),
        None => ending,
    }
}

/// What the threads of the replays of a recording did, and how late they were.
fn replays(experiment: &ExperimentHead, analysis: &Analysis) -> [Option<Section>; 2] {
    if experiment.spec.workload().recording().is_none() {
        return [None, None];
    }
    let section = |name, table, note: &str| Section::of_table(name, table, Some(note.to_owned()));
    [
        section(replay::TIMES, tables::replay_times(analysis), replay::TIMES_NOTE),
        section(replay::DELAYS, tables::replays(analysis), replay::DELAYS_NOTE),
    ]
}

fn comparisons(experiment: &ExperimentHead, analysis: &Analysis) -> Option<Section> {
    let table = tables::comparisons(analysis, &experiment.spec.design)?;
    let note = Item::Note(provenance::intervals(experiment, analysis));
    Some(Section::new("Tax", [Item::Table(table), note]).at(ShownIn::Undrawn))
}

fn attribution(experiment: &ExperimentHead, analysis: &Analysis) -> Option<Section> {
    let attribution = analysis.attribution.as_ref().filter(|found| found.blocks > 0)?;
    let bare = format::time(attribution.bare_ns);
    let what = units::unit_of_work(analysis);
    let heading = format!("Time per {what} by layer (bare stack: {bare})");
    let mut items = vec![Item::Table(tables::attribution(attribution))];
    items.extend(hypotheses(analysis, experiment.spec.workload()).map(Item::Note));
    Some(Section::new(heading, items).at(ShownIn::Undrawn))
}

fn arms(analysis: &Analysis) -> Vec<Section> {
    // The totals of all targets are with the targets.
    let has_targets = analysis.arms.iter().any(|arm| !arm.targets.is_empty());
    let heading =
        if has_targets { format!("Arms, by {}", analysis.primary) } else { "Arms".into() };
    let table = Section::new(heading, [Item::Table(tables::arms(analysis))]);
    [Some(table), page::targets(analysis)].into_iter().flatten().collect()
}

fn operations(analysis: &Analysis, charts: Vec<ChartFrame>) -> Option<Section> {
    let table = Item::Table(tables::operations(analysis)?);
    let note = tables::operations_note(analysis).map(Item::Note);
    let charts = (!charts.is_empty()).then_some(Item::Drawing(Drawing::Charts(charts)));
    let items = [table].into_iter().chain(note).chain(charts);
    Some(Section::new(OPERATIONS, items.collect::<Vec<_>>()))
}

fn system(analysis: &Analysis) -> Option<Section> {
    let table = Item::Table(machine::system(analysis)?);
    Some(Section::new("CPU and memory", [table]).at(ShownIn::Wide))
}

/// Percentiles of the leading operation of the primary job, with a chart, and of its other
/// operations.
fn latencies(experiment: &ExperimentHead, analysis: &Analysis, drawn: &Drawn) -> Vec<Section> {
    let is_led = units::is_led_by_syncs(analysis);
    let ios = (tables::latency(analysis), if is_led { "Write latency" } else { "Latency" });
    let syncs = (tables::syncs(analysis), "Sync latency");
    let [first, second] = if is_led { [syncs, ios] } else { [ios, syncs] };
    let section = |(table, what): (Option<Table>, &str), chart: Option<Item>| {
        let items = chart.into_iter().chain([Item::Table(table?)]).collect::<Vec<_>>();
        Some(Section::new(provenance::latencies(experiment, what), items))
    };
    let chart = page::latency(analysis, drawn);
    [section(first, Some(chart)), section(second, None)].into_iter().flatten().collect()
}
