//! Reports of several phases: an overview, then each phase in full.

mod common;
mod grid;
mod saved;

use iotax_analyze::ArmSummary;
use iotax_experiment::Subject;
use iotax_quantity::count;
use iotax_record::Trial;
use iotax_wording::verdict::comparison::effect_and_verdict;
use iotax_wording::verdict::{against, phases};
use iotax_wording::{chart, format, note, rule};
use serde::Serialize;

use self::common::Common;
use crate::changes::{self, Changes};
use crate::document::{
    Cell, Chapter, Document, Drawing, Group, Head, Item, Lead, Rank, Section, ShownIn, Table, Topic,
};
use crate::experiment::{AnalyzedPhase, beside, experiment};
use crate::json::text::json_text;
use crate::json::{COMPARE_FORMAT, Output, Root, kind};
use crate::{facts, figures, machine, network, tables, words};

/// The decisions on rules of all phases, which come first.
fn ruled(parts: &[AnalyzedPhase]) -> Vec<String> {
    let of_part = |(head, analysis): &AnalyzedPhase| {
        let name = words::printable(&head.spec.workload().name);
        let rulings = rule::rulings(analysis).into_iter();
        rulings.map(move |ruling| ruling.in_phase(&name)).collect::<Vec<_>>()
    };
    rule::sentences(&parts.iter().flat_map(of_part).collect::<Vec<_>>())
}

/// The report of all phases of an experiment, with its name.
///
/// # Panics
/// If there is none.
pub fn experiments(name: &str, parts: &[AnalyzedPhase]) -> Document {
    if let [(one, analysis)] = parts {
        let mut document = experiment(one, analysis);
        document.extend(network::paths(one));
        return document;
    }
    let (first, _) = parts.first().expect("an experiment has at least one phase");
    let is_of_results = first.spec.is_of_results();
    let (phase, phases) = if is_of_results { ("Job", "Jobs") } else { ("Phase", "Phases") };
    let lead = Lead {
        kind: kind(&first.spec.design),
        subject: name.to_owned(),
        counts: if is_of_results { saved::counts(parts) } else { phases_and_time(parts) },
        sentences: ruled(parts)
            .into_iter()
            .chain(if is_of_results { against::sentences(parts) } else { phases::sentences(parts) })
            .collect(),
        took: facts::took(&first.spec, wall_ns(parts)),
        origin: facts::origin(&first.started, &first.hosts),
        ..Lead::default()
    };
    let common = Common::of(parts);
    let own = common.left_out_of(parts);
    let chapters = (1..).zip(&own).map(|(number, part)| Chapter {
        title: format!("{phase} {number} of {}", parts.len()),
        document: beside(&part.0, &part.1, common.instead()),
    });
    let chapters = chapters.collect();
    let mut document = Document::of(lead);
    document.extend_on(Topic::Answer, common::severe(&own));
    let mut forest = figures::over_phases(parts.iter().map(|(_, analysis)| analysis));
    figures::number(&mut forest);
    document.charts = (!forest.is_empty()).then(|| figures::of_forest(&forest));
    let table = |width| {
        let items = [Item::Table(overview(parts, width)), Item::Note(note::PHASES.to_owned())];
        Section::new(phases, items).at(width).on(Topic::Answer)
    };
    let grid = || if is_of_results { None } else { grid::section(parts) };
    let answer =
        grid().unwrap_or_else(|| Section::of(Item::Table(overview(parts, ShownIn::Narrow))));
    document.show_first(Rank::Answer, [answer]);
    document.show_first(Rank::Doubt, common::severe(&own));
    let grid = grid();
    if is_of_results {
        document.extend_on(Topic::Answer, saved::sections(parts));
    }
    document.add(table(ShownIn::Wide));
    // If arms are compared, it is too wide for a terminal.
    document.extend(grid.is_none().then(|| table(ShownIn::Narrow)));
    if !is_of_results {
        document.extend_on(Topic::Answer, levels(parts));
    }
    document.extend(grid);
    document.add_table("Negotiated NFS options", machine::nfs_granted(&parts[0].1), None);
    document.extend(network::paths(first));
    document.extend_on(Topic::Answer, drawn(forest));
    document.extend(common.sections());
    if !is_of_results {
        document.extend_on(Topic::Doubt, common::mild(parts));
    }
    document.chapters = chapters;
    document
}

/// Each arm's comparisons, phase by phase.
fn drawn(forest: Vec<Group>) -> Option<Section> {
    if forest.is_empty() {
        return None;
    }
    let items = [
        Item::Drawing(Drawing::Forest("phase", forest)),
        Item::Note(chart::OVER_PHASES.to_owned()),
    ];
    Some(Section::new("Comparison by arm", items).at(ShownIn::Page))
}

fn phases_and_time(parts: &[AnalyzedPhase]) -> String {
    let trials = parts.iter().map(|(_, analysis)| analysis.ending.trials).sum::<u32>();
    let phases = count(parts.len() as u64, "phase");
    format!("{phases}, {} in {}", count(trials, "trial"), format::span(wall_ns(parts)))
}

pub(crate) fn wall_ns(parts: &[AnalyzedPhase]) -> u64 {
    parts.iter().map(|(_, analysis)| analysis.ending.wall_ns).max().unwrap_or(0)
}

/// One row per phase and arm. If arms are compared, it includes the effect on the primary metric
/// and warnings. Terminals have no room for medians.
fn overview(parts: &[AnalyzedPhase], width: ShownIn) -> Table {
    /// Behind the mean.
    const MEDIAN: usize = 3;
    let has_medians = width == ShownIn::Wide;
    let has_arms = parts.iter().any(|(_, analysis)| analysis.arms.len() > 1);
    let is_of_results = parts.iter().any(|(experiment, _)| experiment.spec.is_of_results());
    let phase = if is_of_results { "job" } else { "phase" };
    let words: &[&str] = if has_arms { &[phase, "arm"] } else { &[phase] };
    let mut table = Table::new(words, &tables::RATES);
    if has_medians {
        table.heads.insert(words.len() + MEDIAN, Head::figure("p50"));
    }
    // Comparisons of saved results have a separate table.
    let has_effect = has_arms && !is_of_results;
    if has_effect {
        table.heads.push(Head::word("effect"));
    }
    let arms = parts.iter().flat_map(|(_, analysis)| &analysis.arms);
    for (_, analysis) in parts {
        for arm in &analysis.arms {
            let mut row = vec![Cell::new(&analysis.workload)];
            row.extend(has_arms.then(|| Cell::new(&arm.name)));
            row.extend(tables::rates(arm));
            if has_medians {
                row.insert(words.len() + MEDIAN, tables::median(arm));
            }
            if has_effect {
                let is_of = |c: &&iotax_analyze::Comparison| c.subject.arm() == Some(&arm.name);
                let found = analysis.comparisons.iter().find(is_of);
                let found = found.map_or_else(
                    || Cell::new(""),
                    |c| Cell::toned(effect_and_verdict(c), words::verdict_tone(c.verdict)),
                );
                row.push(tables::marked(found, analysis, &Subject::Arm(arm.name.clone())));
            }
            table.rows.push(row);
        }
    }
    tables::add_what_lasts(&mut table, arms.map(ArmSummary::leading_sync));
    table.without_absent_figures()
}

/// The changes by levels; empty without a matrix.
fn levels(parts: &[AnalyzedPhase]) -> Vec<Section> {
    let is_of_results = parts.iter().any(|(experiment, _)| experiment.spec.is_of_results());
    let name = if is_of_results { "job" } else { "phase" };
    let changes = parts.iter().filter_map(|(_, part)| Changes::of(part));
    changes::sections(Some(name), &changes.collect::<Vec<_>>())
}

// Several phases as JSON, in order.

/// All phases: each element of `phases[]` is the output of a comparison of one phase.
#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "the keys of the printed object")]
struct Phases<'a> {
    json_format: u32,
    suite: &'a str,
    phases: Vec<Output<'a>>,
}

impl<'a> Phases<'a> {
    fn new(suite: &'a str, parts: &'a [AnalyzedPhase]) -> Self {
        let phases = parts.iter().map(|(experiment, analysis)| Output::new(experiment, analysis));
        Self { json_format: COMPARE_FORMAT, suite, phases: phases.collect() }
    }
}

/// One JSON object for all phases of a comparison.
pub fn phases_json_compare(suite: &str, parts: &[AnalyzedPhase]) -> String {
    json_text(&Phases::new(suite, parts))
}

/// One JSON object in the format of fio's JSON+ for all phases of a run, with their jobs in
/// sequence, as fio prints a job file with `stonewall`.
pub fn phases_json_run(suite: &str, parts: &[AnalyzedPhase], trials: &[Trial]) -> String {
    let mut roots = (0..).zip(parts).map(|(phase, (experiment, analysis))| {
        let own: Vec<&Trial> = trials.iter().filter(|trial| trial.phase == phase).collect();
        Root::new(experiment, analysis, &own, ())
    });
    let first = roots.next().expect("an experiment has at least one phase");
    let joined = roots.fold(first, Root::followed_by);
    json_text(&joined.with(Phases::new(suite, parts)))
}
