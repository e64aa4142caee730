//! Matrices: a table by axes, the effect of each level, and interactions.

use iotax_analyze::{Analysis, Comparison, Effect, FactorEffects};
use iotax_wording::effect::EffectWords as _;
use iotax_wording::format::{self, ABSENT};
use iotax_wording::verdict::comparison::{primary_of_each, short_effect};
use iotax_wording::verdict::outliers::{Member, chance};
use iotax_wording::{name, note};

use crate::changes::{self, Changes};
use crate::document::{Cell, Drawing, Group, Head, Item, Section, ShownIn, Table};
use crate::tables;
use crate::words::printable;

/// Maximum number of levels of the last factor that become columns.
const MAX_COLUMNS: usize = 5;

/// The table by axes, and the effects as a drawing or table.
pub(crate) fn sections(analysis: &Analysis, drawn: Vec<Group>) -> Vec<Section> {
    let Some(matrix) = &analysis.matrix else { return Vec::new() };
    let comparisons = matrix.effects.iter().map(|effect| &effect.comparison);
    let mut sections = vec![by_axes(matrix, analysis)];
    if let Some(table) = tables::effects("setting", comparisons, analysis.alpha) {
        let note = note::effects(matrix, analysis);
        let section = |item| Section::new("Effects", [item, Item::Note(note.clone())]);
        let drawing = Item::Drawing(Drawing::Forest("effect", drawn));
        sections.push(section(drawing).at(ShownIn::Page));
        sections.push(section(Item::Table(table)).at(ShownIn::Undrawn));
    }
    sections.extend(changes::sections(None, Changes::of(analysis).as_slice()));
    sections
}

/// One cell per arm: its figure, and its difference from the first arm.
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
    Section::new("By factor", [Item::Table(table), Item::Note(note::by_factor(analysis))])
}

fn level_cells(matrix: &FactorEffects, levels: &[usize]) -> Vec<Cell> {
    let name = |(factor, level): (&iotax_experiment::Factor, &usize)| {
        Cell::new(printable(&factor.levels[*level]))
    };
    matrix.factors.iter().zip(levels).map(name).collect()
}

/// `3803 IOPS (23 % slower)`. For the first arm, which the others are compared with, only the
/// figure.
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

// Outliers among many arms.

/// The outliers with their evidence.
pub(crate) fn outliers(analysis: &Analysis) -> Option<Section> {
    let found = analysis.outliers.as_ref()?;
    let member = Member::of(analysis).name();
    let mut items = Vec::new();
    if !found.slow.is_empty() {
        let short = |tax| Effect::sized(found.metric.on(), tax).in_short();
        let rows = Table::of(&found.slow)
            .word(member, |slow| printable(&slow.arm))
            .figure("effect", |slow| short(slow.tax))
            .figure("adjusted effect", |slow| short(slow.shrunken))
            .figure("p-value", |slow| chance(slow.p));
        items.push(Item::Table(rows.table));
    }
    items.push(Item::Note(note::outliers(analysis, found)));
    Some(Section::new("Outliers", items))
}
