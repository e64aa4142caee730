//! The cost of each arm in each phase, narrow enough for a terminal: one row per phase, one column
//! per arm.

use indexmap::IndexMap;
use iotax_analyze::{Analysis, Comparison, Effect, Verdict, is_within_reach, log_factor};
use iotax_experiment::Subject;
use iotax_quantity::percent;
use iotax_wording::effect::EffectWords as _;
use iotax_wording::format::ABSENT;
use iotax_wording::verdict::comparison::{primary_of_each, subject};
use iotax_wording::{name, note};

use crate::document::{Cell, Head, Item, LegendEntry, Section, Table, Topic};
use crate::experiment::AnalyzedPhase;
use crate::{tables, words};

/// Maximum number of arms with text in the cells and names as heads.
const MAX_IN_WORDS: usize = 3;
/// Maximum length of a name as the head of a column of signs.
const MAX_NAME: usize = 6;

/// `None` if nothing is compared.
pub(super) fn section(parts: &[AnalyzedPhase]) -> Option<Section> {
    let found: Vec<Vec<&Comparison>> = parts.iter().map(|(_, analysis)| of(analysis)).collect();
    let all = found.iter().flatten();
    let subjects: IndexMap<&Subject, String> = all.map(|c| (&c.subject, subject(c))).collect();
    if subjects.is_empty() {
        return None;
    }
    let in_words = subjects.len() <= MAX_IN_WORDS;
    let has_names = in_words || subjects.values().all(|name| name.chars().count() <= MAX_NAME);
    let mut table = Table::new(&["phase"], &[]);
    let heads = (0..).zip(subjects.values()).map(|(i, name)| {
        let letter = LegendEntry::letter(i);
        Head::figure(if has_names { name } else { &letter })
    });
    table.heads.extend(heads);
    for ((_, analysis), compared) in parts.iter().zip(&found) {
        let cell = |of: &&Subject| {
            let own = compared.iter().find(|c| c.subject == **of);
            own.map_or_else(|| Cell::new(""), |own| shown(own, analysis, in_words))
        };
        let row = [Cell::new(&analysis.workload)].into_iter().chain(subjects.keys().map(cell));
        table.rows.push(row.collect());
    }
    let mut notes = Vec::new();
    if !has_names {
        let key = (0..)
            .zip(subjects.values())
            .map(|(i, name)| format!("{}: {name}", LegendEntry::letter(i)));
        notes.push(format!("{}.", key.collect::<Vec<_>>().join(", ")));
    }
    if !in_words {
        notes.push(note::SIGNS.to_owned());
    }
    let items = [Item::Table(table)].into_iter();
    let items = items.chain((!notes.is_empty()).then(|| Item::Note(notes.join(" "))));
    Some(Section::new(heading(parts), items.collect::<Vec<_>>()).on(Topic::Answer))
}

fn heading(parts: &[AnalyzedPhase]) -> String {
    let baselines = parts.iter().map(|(_, analysis)| analysis.baseline.as_str());
    let first = baselines.clone().next().unwrap_or_default();
    let has_arms = parts
        .iter()
        .any(|(_, analysis)| analysis.comparisons.iter().any(|c| c.subject.arm().is_some()));
    if has_arms && baselines.clone().all(|other| other == first) {
        format!("Phases compared with {}", words::printable(first))
    } else {
        "Phase comparison".to_owned()
    }
}

fn of(analysis: &Analysis) -> Vec<&Comparison> {
    let all = primary_of_each(analysis).into_iter();
    all.filter(|c| !c.subject.is_interaction()).collect()
}

/// `23 % slower`, or `23%`.
fn shown(comparison: &Comparison, analysis: &Analysis, in_words: bool) -> Cell {
    let tone = words::verdict_tone(comparison.verdict);
    let is_doubtful = tables::is_doubtful(analysis, &comparison.subject);
    let word = name::verdict(comparison.verdict).to_owned();
    let is_signed = matches!(comparison.verdict, Verdict::Slower | Verdict::Faster);
    let size = comparison.effect().and_then(Effect::without_interval);
    let text = if in_words {
        match size {
            Some(size) if is_signed => size.in_words(),
            _ => word,
        }
    } else {
        match (comparison.verdict, size) {
            (Verdict::Equivalent, _) => "=".to_owned(),
            (Verdict::Undecided, _) => undecided(comparison),
            (Verdict::Slower | Verdict::Faster, Some(size)) => sign(comparison, size.is_factor()),
            _ => "!".to_owned(),
        }
    };
    let text = if is_doubtful && text != "!" { format!("{text}!") } else { text };
    Cell::toned(text, tone)
}

/// `?16`, if 16 blocks in total would probably decide.
fn undecided(comparison: &Comparison) -> String {
    let is_told = |needed: &u32| is_within_reach(*needed, comparison.blocks);
    let needed = comparison.blocks_needed.filter(is_told);
    let needed = needed.map(|blocks| iotax_quantity::grouped(blocks.into()));
    format!("?{}", needed.unwrap_or_default())
}

/// `23 %`, `2.1x`, `1/28x`.
fn sign(comparison: &Comparison, is_factor: bool) -> String {
    let Some(tax) = comparison.tax else { return ABSENT.to_owned() };
    if !is_factor {
        return percent(tax);
    }
    let log = log_factor(comparison.metric.on(), tax);
    let times = iotax_quantity::times(log.abs().exp());
    if log < 0.0 { format!("1/{times}") } else { times }
}
