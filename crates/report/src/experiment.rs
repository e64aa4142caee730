//! What an experiment of one phase showed: the conclusion first, the method last.

mod method;
mod page;

use iotax_analyze::Analysis;
use iotax_record::Experiment;
use iotax_spec::Design;

use crate::document::{Document, Item, Lead, Place, Section};
use crate::figures::{self, Charts, Drawing, Key};
use crate::json::kind;
use crate::notices::{self, Notice};
use crate::{caps, doctor, facts, format, machine, provenance, sentence, tables};

/// What an experiment showed.
pub fn experiment(experiment: &Experiment, analysis: &Analysis) -> Document {
    let forest = figures::groups(analysis);
    let drawn = figures::drawn(analysis, &forest);
    let mut document = Document {
        lead: Some(lead(experiment, analysis)),
        charts: Some(Charts::of_trials(&drawn)),
        ..Document::default()
    };
    let (severe, mild): (Vec<_>, Vec<_>) =
        notices::notices(analysis).into_iter().partition(|notice| notice.is_severe);
    let severe = warnings("Read this first", severe);
    document.add_unless_empty(Section { is_alarming: true, ..severe });
    document.sections.extend(page::tiles(analysis));
    document.sections.extend(comparisons(experiment, analysis));
    let trials = page::trials(analysis, &drawn);
    let schedule = page::schedule(experiment, analysis, &drawn);
    let meanwhile = page::meanwhile(&drawn);
    document.sections.extend(page::forest(experiment, analysis, forest));
    let design = &experiment.spec.design;
    for (title, table) in caps::all(analysis, design) {
        document.add(Section::new(title, [Item::Table(table)]));
    }
    document.sections.extend(attribution(analysis));
    document.sections.extend(arms(analysis));
    document.sections.extend(latency(experiment, analysis));
    document.sections.extend(trials);
    document.add_table(
        "Operations, pooled over trials (descriptive)",
        tables::operations(analysis),
        None,
    );
    document.sections.extend(meanwhile);
    document.add_table("Devices", machine::devices(analysis), Some(machine::NOTE.to_owned()));
    if let Some(table) = machine::system(analysis) {
        document.add(Section::new("CPU and memory", [Item::Table(table)]).at(Place::Wide));
    }
    document.add_table("NFS operations", machine::nfs(analysis), None);
    document.add_table("Index loads", tables::index(analysis), tables::slow_load_note(analysis));
    document.sections.extend(schedule);
    document.add_unless_empty(warnings("Worth knowing", mild));
    document.add_list("Causes", doctor::causes(experiment, analysis));
    if analysis.open_questions.is_empty() {
        document.add(page::nothing_open());
    }
    document.add_list("Not concluded", analysis.open_questions.clone());
    document.sections.extend(page::circumstances(experiment));
    document.sections.extend(method::sections(experiment, analysis));
    document
}

fn lead(experiment: &Experiment, analysis: &Analysis) -> Lead {
    let mut ending = provenance::ending(experiment, analysis);
    if analysis.arms.len() > 1 && !experiment.spec.is_of_results() {
        let switch_ns = analysis.ending.switch_ns;
        let share = switch_ns as f64 / analysis.ending.wall_ns.max(1) as f64;
        let (span, share) = (format::span(switch_ns), format::percent(share));
        ending.push_str(&format!(" Switching between arms took {span} ({share})."));
    }
    Lead {
        kind: kind(&experiment.spec.design),
        subject: analysis.workload.clone(),
        counts: provenance::counts(experiment, analysis),
        sentences: sentence::verdict(experiment, analysis),
        ending,
        origin: facts::origin(&experiment.started, &experiment.environment),
        about: experiment.spec.workload.about.clone(),
    }
}

fn warnings(heading: &str, notices: Vec<Notice>) -> Section {
    Section::new(heading, notices.into_iter().map(Item::Warning).collect::<Vec<_>>())
}

fn comparisons(experiment: &Experiment, analysis: &Analysis) -> Option<Section> {
    let table = tables::comparisons(analysis, &experiment.spec.design)?;
    let note = Item::Note(provenance::intervals(experiment, analysis));
    Some(Section::new("Tax", [Item::Table(table), note]).at(Place::Undrawn))
}

fn attribution(analysis: &Analysis) -> Option<Section> {
    let attribution = analysis.attribution.as_ref().filter(|found| found.blocks > 0)?;
    let bare = format::time(attribution.bare_ns);
    let heading = format!("Time per I/O by layer (bare stack: {bare})");
    let mut items = vec![Item::Table(tables::attribution(attribution))];
    items.extend(hypotheses(analysis).map(Item::Note));
    Some(Section::new(heading, items).at(Place::Undrawn))
}

/// Why pairs of layers may cost another amount together than apart.
fn hypotheses(analysis: &Analysis) -> impl Iterator<Item = String> {
    let interactions = analysis.attribution.iter().flat_map(|found| &found.interactions);
    let interactions = interactions.filter(|pair| !pair.hypothesis.is_empty());
    interactions.map(|pair| format!("{}: {}", sentence::pair_name(&pair.layers), pair.hypothesis))
}

fn arms(analysis: &Analysis) -> Vec<Section> {
    let legend = Item::Drawing(Drawing::Legend(Key::all(analysis)));
    let arms = Section::new("Arms", [Item::Table(tables::arms(analysis)), legend]);
    let others = tables::other_jobs(analysis);
    let others = others.map(|table| Section::new("Other jobs", [Item::Table(table)]));
    [arms].into_iter().chain(others).collect()
}

fn latency(experiment: &Experiment, analysis: &Analysis) -> Option<Section> {
    let table = Item::Table(tables::latency(analysis)?);
    let items = page::latency(analysis).into_iter().chain([table]);
    Some(Section::new(provenance::latencies(experiment), items.collect::<Vec<_>>()))
}

/// Whether layers, and not arms, are compared.
fn is_peel(experiment: &Experiment) -> bool {
    matches!(experiment.spec.design, Design::Peel { .. })
}
