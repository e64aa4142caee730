//! A matrix: a table by its axes, what each level costs, and which factors change that.

use iotax_analyze::{
    Analysis, Comparison, Effect, Estimate, FactorEffect, FactorEffects, FactorInteraction,
    Verdict, log_factor,
};
use iotax_wording::effect::EffectWords as _;
use iotax_wording::name;

use crate::changes::{self, Changes};
use crate::comparison::{by_size, primary_effects, primary_of_each, short_effect};
use crate::document::{Cell, Drawing, Group, Head, Item, Place, Section, Table};
use crate::format::{self, ABSENT};
use crate::words::printable;
use crate::{against, tables};

/// Effects up to which each gets a sentence; above that only those that were found do.
const MAX_SENTENCES: usize = 6;
/// Costs that depend on another factor up to which each gets a sentence.
const MAX_INTERACTIONS: usize = 3;
/// Levels up to which those of the last factor are columns.
const MAX_COLUMNS: usize = 5;

/// `sec=krb5p is 2.4x slower [2.1, 2.8] than sec=sys in throughput.`
pub(crate) fn sentences(matrix: &FactorEffects, analysis: &Analysis) -> Vec<String> {
    let primary = primary_effects(matrix);
    let is_found = |effect: &&FactorEffect| {
        matches!(effect.comparison.verdict, Verdict::Slower | Verdict::Faster)
    };
    let mut told: Vec<&FactorEffect> = if primary.len() > MAX_SENTENCES {
        primary.iter().copied().filter(is_found).collect()
    } else {
        primary.clone()
    };
    told.sort_by(|a, b| by_size(&a.comparison, &b.comparison));
    let mut sentences: Vec<String> =
        told.iter().take(MAX_SENTENCES).map(|effect| of_effect(effect, analysis)).collect();
    let rest = primary.len() - sentences.len();
    if rest > 0 {
        let levels = format::counted(rest as u64, "more level");
        sentences.push(format!("{levels}: see Effects."));
    }
    let mut found: Vec<&FactorInteraction> = matrix.interactions.iter().collect();
    found.sort_by(|a, b| difference(b).total_cmp(&difference(a)));
    sentences.extend(found.iter().take(MAX_INTERACTIONS).map(|found| of_interaction(found)));
    if let Some(rest @ 1..) = found.len().checked_sub(MAX_INTERACTIONS) {
        let costs = format::counted(rest as u64, "more cost");
        let verb = if rest == 1 { "depends" } else { "depend" };
        sentences.push(format!("{costs} {verb} on another factor: see By factor."));
    }
    if !matrix.unpaired.is_empty() {
        let levels = matrix.unpaired.iter().map(|own| format!("{}={}", own.factor, own.level));
        let levels = printable(&levels.collect::<Vec<_>>().join(", "));
        sentences.push(format!(
            "Without an effect, for want of arms that differ in nothing else: {levels}."
        ));
    }
    sentences
}

fn of_effect(effect: &FactorEffect, analysis: &Analysis) -> String {
    let against = printable(&format!("{}={}", effect.setting.factor, effect.against));
    let mut text = against::against(&effect.comparison, &against, analysis);
    if effect.stalled_pairs > 0 {
        let pairs = format::counted(effect.stalled_pairs, "pair");
        text.push_str(&format!(" Without {pairs} of arms that stalled."));
    }
    text
}

/// How far a cost is from what it is at the first level, as a factor.
fn difference(found: &FactorInteraction) -> f64 {
    let log = |cost: Estimate| log_factor(found.metric.on(), cost.value);
    (log(found.at) - log(found.at_first)).abs()
}

/// `The cost of sec=krb5p depends on nconnect: 60 % slower [55, 64] in throughput at nconnect=4, 30 %
/// slower [25, 35] in throughput at nconnect=1.`
fn of_interaction(found: &FactorInteraction) -> String {
    let FactorInteraction { setting, with, metric, .. } = found;
    let size = |cost: Estimate| {
        Effect::of(metric.on(), cost.value, [cost.lo, cost.hi]).size(name::metric(*metric))
    };
    printable(&format!(
        "The cost of {}={} depends on {}: {} at {}={}, {} at {}={}.",
        setting.factor,
        setting.level,
        with.factor,
        size(found.at),
        with.factor,
        with.level,
        size(found.at_first),
        with.factor,
        found.first,
    ))
}

/// The table by axes, and the effects: drawn, or as a table.
pub(crate) fn sections(analysis: &Analysis, drawn: Vec<Group>) -> Vec<Section> {
    let Some(matrix) = &analysis.matrix else { return Vec::new() };
    let comparisons = matrix.effects.iter().map(|effect| &effect.comparison);
    let confidence = format::percent(1.0 - analysis.alpha);
    let mut sections = vec![by_axes(matrix, analysis)];
    if let Some(table) = tables::effects("setting", comparisons, analysis.alpha) {
        let has_intervals = matrix.effects.iter().any(|effect| effect.comparison.lo.is_some());
        let intervals = if has_intervals {
            format!("The intervals of a metric hold all at once with {confidence}.")
        } else {
            "Without an interval.".to_owned()
        };
        let note = format!(
            "A level against the first of its factor, the mean over all pairs of arms that differ \
             in nothing else ({}). {intervals}",
            pairs(matrix)
        );
        let section = |item| Section::new("Effects", [item, Item::Note(note.clone())]);
        let drawing = Item::Drawing(Drawing::Forest("effect", drawn));
        sections.push(section(drawing).at(Place::Page));
        sections.push(section(Item::Table(table)).at(Place::Undrawn));
    }
    sections.extend(changes::sections(None, Changes::of(analysis).as_slice()));
    sections
}

/// `sec=krb5p: 2 pairs; nconnect=4: 4 pairs`, or `4 pairs each`.
fn pairs(matrix: &FactorEffects) -> String {
    let all = primary_effects(matrix);
    match all.as_slice() {
        [first, rest @ ..] if rest.iter().all(|effect| effect.pairs == first.pairs) => {
            format!("{} each", format::counted(first.pairs, "pair"))
        }
        _ => {
            let own = all.iter().map(|effect| {
                let pairs = format::counted(effect.pairs, "pair");
                format!("{}={}: {pairs}", effect.setting.factor, effect.setting.level)
            });
            printable(&own.collect::<Vec<_>>().join("; "))
        }
    }
}

/// A cell for each arm: its figure, and its difference from the first arm.
fn by_axes(matrix: &FactorEffects, analysis: &Analysis) -> Section {
    let comparisons = primary_of_each(analysis);
    let (last, others) = matrix.factors.split_last().expect("a matrix has factors");
    let is_grid = !others.is_empty() && last.levels.len() <= MAX_COLUMNS;
    let rows = if is_grid { others } else { matrix.factors.as_slice() };
    let names: Vec<String> = rows.iter().map(|factor| printable(&factor.name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut table = Table::new(&names, &[]);
    let of_arm = |arm: usize| Cell::new(figure(arm, &comparisons, analysis));
    let metric = comparisons.first().map_or("figure", |comparison| name::metric(comparison.metric));
    if is_grid {
        let heads = last
            .levels
            .iter()
            .map(|level| Head::figure(&printable(&format!("{}={level}", last.name))));
        table.heads.extend(heads);
        let mut places: Vec<&[usize]> =
            matrix.cells.iter().map(|cell| &cell[..others.len()]).collect();
        places.dedup();
        for place in places {
            let at = |level: usize| {
                let wanted = [place, &[level]].concat();
                let arm = matrix.cells.iter().position(|cell| *cell == wanted);
                arm.map_or_else(|| Cell::new(""), of_arm)
            };
            let mut row = level_cells(matrix, place);
            row.extend((0..last.levels.len()).map(at));
            table.rows.push(row);
        }
    } else {
        table.heads.push(Head::figure(metric));
        for (arm, cell) in matrix.cells.iter().enumerate() {
            let mut row = level_cells(matrix, cell);
            row.push(of_arm(arm));
            table.rows.push(row);
        }
    }
    let note =
        format!("{}, and its difference from the first arm.", iotax_quantity::capital(metric));
    Section::new("By factor", [Item::Table(table), Item::Note(note)])
}

fn level_cells(matrix: &FactorEffects, levels: &[usize]) -> Vec<Cell> {
    let name = |(factor, level): (&iotax_experiment::Factor, &usize)| {
        Cell::new(printable(&factor.levels[*level]))
    };
    matrix.factors.iter().zip(levels).map(name).collect()
}

/// `3803 IOPS (23 % slower)`; of the first arm, which the others are compared with, its figure alone.
fn figure(arm: usize, comparisons: &[&Comparison], analysis: &Analysis) -> String {
    let of = |comparison: &Comparison, value: f64| format::figure(comparison.metric.unit(), value);
    let name = &analysis.arms[arm].name;
    if arm == 0 {
        let known = comparisons.iter().find_map(|c| Some(of(c, c.base?)));
        return known.unwrap_or_else(|| ABSENT.to_owned());
    }
    let own = comparisons.iter().find(|c| c.subject.arm() == Some(name));
    let known = own.and_then(|c| Some((c, c.with?)));
    known.map_or_else(
        || ABSENT.to_owned(),
        |(comparison, with)| format!("{} ({})", of(comparison, with), short_effect(comparison)),
    )
}
