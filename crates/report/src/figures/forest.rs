//! The forest plot: rows of figures, each with its interval as a drawing.
//!
//! It is an HTML table, and JavaScript fills its second column with drawings. So it can be read,
//! copied, printed and spoken without the drawings.

use indexmap::IndexSet;
use iotax_analyze::{
    Analysis, Attribution, Comparison, Effect, Estimate, Metric, Unit, log_factor,
};
use iotax_experiment::Subject;
use iotax_wording::effect::ways;
use iotax_wording::format::{self, ABSENT};
use iotax_wording::name::subject as named;
use iotax_wording::verdict::against::baseline_of;
use iotax_wording::verdict::comparison::{effect, primary_of_each, row_name, subject};
use iotax_wording::{name, trial, units};

use crate::document::{Cell, ForestRow, Group, Head};
use crate::{tables, words};

/// Numbers the groups, to identify them in the data of a page.
pub(crate) fn number<'a>(groups: impl IntoIterator<Item = &'a mut Group>) {
    for (place, group) in groups.into_iter().enumerate() {
        group.place = place;
    }
}

/// All groups: the peel's attribution first, then one per metric.
pub(crate) fn groups(analysis: &Analysis) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut metrics = metrics(&analysis.comparisons);
    if let Some(attribution) = &analysis.attribution {
        let mut group = by_layer(analysis, attribution);
        sort_by_cost(&mut group);
        drop_empty_columns(&mut group);
        groups.push(group);
        // The first metric is in the group above.
        let additive = metrics.iter().position(|metric| metric.adds_up());
        additive.map(|at| metrics.remove(at));
    }
    let compared: Vec<&Comparison> = analysis.comparisons.iter().collect();
    let has_own = analysis.comparisons.iter().any(|comparison| comparison.against.is_some());
    let baseline = match analysis.fleet {
        Some(_) => "the other nodes",
        None if has_own => "its baseline",
        None => &analysis.baseline,
    };
    let against = words::printable(baseline);
    let against = format!(", compared with {against}");
    groups.extend(by_each_metric(analysis, metrics, &compared, &against).map(|mut group| {
        sort_by_cost(&mut group);
        group
    }));
    groups
}

/// Each metric once.
fn metrics<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>) -> Vec<Metric> {
    let metrics: IndexSet<Metric> = comparisons.into_iter().map(|c| c.metric).collect();
    metrics.into_iter().collect()
}

/// The effects of a matrix, if it is one: a group per metric.
pub(crate) fn of_effects(analysis: &Analysis) -> Vec<Group> {
    let effects = analysis.matrix.iter().flat_map(|matrix| &matrix.effects);
    let effects: Vec<&Comparison> = effects.map(|effect| &effect.comparison).collect();
    by_each_metric(analysis, metrics(effects.iter().copied()), &effects, "").collect()
}

/// The cost of each arm (or layer) in each phase, in the primary metric: one group for each, all on
/// the same scale.
pub(crate) fn over_phases<'a>(phases: impl Iterator<Item = &'a Analysis>) -> Vec<Group> {
    let all: Vec<(&Analysis, &Comparison)> = phases
        .flat_map(|analysis| {
            let compared = primary_of_each(analysis).into_iter();
            compared.filter(|c| !c.subject.is_interaction()).map(move |c| (analysis, c))
        })
        .collect();
    let Some((_, first)) = all.first() else { return Vec::new() };
    let scale = Scale::of(all.iter().map(|(_, comparison)| *comparison));
    let subjects: IndexSet<&Subject> = all.iter().map(|(_, c)| &c.subject).collect();
    let of_subject = |of: &Subject| {
        let own: Vec<_> = all.iter().filter(|(_, c)| c.subject == *of).collect();
        let (analysis, comparison) = own.first().expect("it has at least one comparison");
        let name = subject(comparison);
        let against = match of.arm() {
            Some(_) => {
                format!(" compared with {}", words::printable(&baseline_of(comparison, analysis)))
            }
            None => String::new(),
        };
        let rows = own.iter().map(|(analysis, c)| of_phase(analysis, c, scale)).collect();
        let margin = analysis.margin;
        Group {
            place: 0,
            caption: format!("{name}{against}"),
            heads: vec![
                Head::word("metric"),
                Head::figure("effect"),
                Head::word("verdict"),
                Head::figure("n"),
            ],
            axis: scale.axis_of_all(first.metric),
            ways: scale.ways(first.metric),
            scale: if scale == Scale::Percent { 0.01 } else { 1.0 },
            shared: true,
            margin: [-margin, margin].map(|tax| scale.at(first.metric, tax).unwrap_or(0.0)),
            rows,
        }
    };
    subjects.into_iter().map(of_subject).collect()
}

fn of_phase(analysis: &Analysis, comparison: &Comparison, scale: Scale) -> ForestRow {
    let [tax, verdict, blocks, _] = figures(comparison);
    let name = words::printable(&analysis.workload);
    let verdict = tables::marked(verdict, analysis, &comparison.subject);
    ForestRow {
        spoken: format!("{name}: {}, {}", tax.text, verdict.text),
        name,
        kind: "arm",
        estimate: comparison.tax.and_then(|tax| scale.at(comparison.metric, tax)),
        interval: ends(comparison, scale),
        first_in: None,
        last_in: None,
        cells: vec![Cell::new(name::metric(comparison.metric)), tax, verdict, blocks],
    }
}

/// The kind of a row, which determines its drawing.
const fn kind(subject: &Subject) -> &'static str {
    match subject {
        Subject::Arm(_) => "arm",
        Subject::Layer(_) | Subject::Level(_) => "layer",
        Subject::Interaction(_) => "interaction",
        Subject::Total => "total",
    }
}

/// Sorts by cost: highest first, unknown last, then the total.
fn sort_by_cost(group: &mut Group) {
    group.rows.sort_by(|a, b| {
        let rank = |row: &ForestRow| (row.kind == "total", row.kind == "interaction");
        let cost = |row: &ForestRow| row.estimate.unwrap_or(f64::NEG_INFINITY);
        rank(a).cmp(&rank(b)).then(cost(b).total_cmp(&cost(a)))
    });
}

/// Layers, then interactions, then the total, in time per I/O, where serial layers add.
fn by_layer(analysis: &Analysis, attribution: &Attribution) -> Group {
    let mut rows = Vec::new();
    for layer in &attribution.layers {
        let main = layer.shapley_ns.or(layer.first_in_ns);
        let cells = [tables::estimate(main), tables::estimate(layer.delta_p99_ns)];
        rows.push(ForestRow {
            first_in: layer.first_in_ns.map(|e| e.value),
            last_in: layer.last_in_ns.map(|e| e.value),
            ..layer_row(analysis, &Subject::Layer(layer.layer.clone()), main, cells)
        });
    }
    for pair in &attribution.interactions {
        let cells = [tables::estimate(pair.cost_ns), Cell::new(ABSENT)];
        let layers = Subject::Interaction(pair.layers.clone());
        rows.push(layer_row(analysis, &layers, pair.cost_ns, cells));
    }
    let cells = [tables::estimate(attribution.total_ns), Cell::new(ABSENT)];
    rows.push(layer_row(analysis, &Subject::Total, attribution.total_ns, cells));
    let largest = rows.iter().filter_map(|row| row.estimate).map(f64::abs);
    let (unit, scale) = format::time_unit(largest.fold(0.0, f64::max));
    // A throughput tax m means a time per I/O of bare / (1 - m), which is bare * m / (1 - m) more.
    let what = units::unit_of_work(analysis);
    let (bare, m) = (attribution.bare_ns, analysis.margin);
    Group {
        place: 0,
        caption: format!("Added time per {what}, by layer"),
        heads: heads(&["effect", &format!("time per {what}"), "Δ p99"]),
        axis: format!("added time per {what} ({unit})"),
        ways: None,
        shared: false,
        scale,
        margin: [-bare * m / (1.0 + m), bare * m / (1.0 - m)],
        rows,
    }
}

/// Heads of the figures, then of the verdict.
fn heads(figures: &[&str]) -> Vec<Head> {
    let shown = [Head::word("verdict"), Head::figure("n"), Head::word("regime")];
    figures.iter().map(|text| Head::figure(text)).chain(shown).collect()
}

fn layer_row(
    analysis: &Analysis,
    subject: &Subject,
    main: Option<Estimate>,
    [time, p99]: [Cell; 2],
) -> ForestRow {
    let comparison =
        analysis.comparisons.iter().find(|c| c.subject == *subject && c.metric.adds_up());
    let [tax, verdict, blocks, regime] =
        comparison.map_or_else(|| [ABSENT; 4].map(Cell::new), figures);
    let name = words::printable(&named(subject));
    ForestRow {
        spoken: format!("{name}: {}, {}", time.text, verdict.text),
        name,
        kind: kind(subject),
        estimate: main.map(|e| e.value),
        interval: main.map(|e| [e.lo, e.hi]),
        first_in: None,
        last_in: None,
        cells: vec![tax, time, p99, verdict, blocks, regime],
    }
}

/// All arms (or layers, or levels) as a tax: a group for each of these metrics.
fn by_each_metric(
    analysis: &Analysis,
    metrics: Vec<Metric>,
    compared: &[&Comparison],
    against: &str,
) -> impl Iterator<Item = Group> {
    metrics.into_iter().map(move |metric| {
        let mut group = by_metric(analysis, metric, compared, against);
        drop_empty_columns(&mut group);
        group
    })
}

fn by_metric(
    analysis: &Analysis,
    metric: Metric,
    compared: &[&Comparison],
    against: &str,
) -> Group {
    let is_rate = metric.unit() == Unit::IosPerSecond;
    let compared = || compared.iter().copied().filter(|c| c.metric == metric);
    let scale = Scale::of(compared());
    let rows = compared().map(|comparison| {
        let shown = if is_rate { p99_of_same(analysis, comparison) } else { Some(comparison) };
        let shown_difference = tables::estimate(shown.and_then(|c| c.difference_ns));
        let [tax, verdict, blocks, regime] = figures(comparison);
        let name = row_name(comparison);
        ForestRow {
            spoken: format!("{name}: {}, {}", tax.text, verdict.text),
            name,
            kind: kind(&comparison.subject),
            estimate: comparison.tax.and_then(|tax| scale.at(metric, tax)),
            interval: ends(comparison, scale),
            first_in: None,
            last_in: None,
            cells: vec![tax, shown_difference, verdict, blocks, regime],
        }
    });
    Group {
        place: 0,
        caption: format!("{}{against}", Scale::caption(metric)),
        heads: heads(&["effect", if is_rate { "Δ p99" } else { "difference" }]),
        axis: scale.axis(metric),
        ways: scale.ways(metric),
        shared: false,
        scale: if scale == Scale::Percent { 0.01 } else { 1.0 },
        margin: [-analysis.margin, analysis.margin].map(|tax| scale.at(metric, tax).unwrap_or(0.0)),
        rows: rows.collect(),
    }
}

fn ends(comparison: &Comparison, scale: Scale) -> Option<[f64; 2]> {
    let at = |tax: Option<f64>| scale.at(comparison.metric, tax?);
    at(comparison.lo).zip(at(comparison.hi)).map(Into::into)
}

/// The scale of effects: taxes, or logarithms of factors if any effect is shown as a factor. Then
/// twice as slow and twice as fast are equally far from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    Percent,
    Factors,
}

impl Scale {
    fn of<'a>(comparisons: impl Iterator<Item = &'a Comparison>) -> Self {
        let mut effects = comparisons.filter_map(Comparison::effect);
        if effects.any(Effect::is_factor) { Self::Factors } else { Self::Percent }
    }

    /// `None` for values that cannot be drawn.
    fn at(self, metric: Metric, tax: f64) -> Option<f64> {
        match self {
            Self::Percent => Some(tax),
            Self::Factors => Some(log_factor(metric.on(), tax)).filter(|log| log.is_finite()),
        }
    }

    fn caption(metric: Metric) -> String {
        format!("Effect on {}", name::metric(metric))
    }

    fn axis(self, metric: Metric) -> String {
        match self {
            Self::Percent => {
                format!("{}: {}", name::metric(metric), self.axis_of_all(metric))
            }
            Self::Factors => format!("{} ratio", name::metric(metric)),
        }
    }

    fn axis_of_all(self, metric: Metric) -> String {
        let [better, worse] = ways(metric.on());
        match self {
            Self::Percent => format!("% {worse} (negative: {better})"),
            Self::Factors => "ratio".to_owned(),
        }
    }

    fn ways(self, metric: Metric) -> Option<[&'static str; 2]> {
        (self == Self::Factors).then(|| ways(metric.on()))
    }
}

fn p99_of_same<'a>(analysis: &'a Analysis, other: &Comparison) -> Option<&'a Comparison> {
    analysis.comparisons.iter().find(|c| c.metric == Metric::P99 && c.subject == other.subject)
}

/// Tax, verdict, blocks, regime.
fn figures(comparison: &Comparison) -> [Cell; 4] {
    [
        Cell::new(effect(comparison)),
        Cell {
            text: iotax_wording::verdict::comparison::verdict(comparison),
            tone: words::verdict_tone(comparison.verdict),
        },
        Cell::new(comparison.blocks.to_string()),
        Cell::new(comparison.regime.map_or(ABSENT, trial::regime)),
    ]
}

fn drop_empty_columns(group: &mut Group) {
    for i in (0..group.heads.len()).rev() {
        if group.rows.iter().all(|row| row.cells[i].text == ABSENT) {
            group.heads.remove(i);
            for row in &mut group.rows {
                row.cells.remove(i);
            }
        }
    }
}
