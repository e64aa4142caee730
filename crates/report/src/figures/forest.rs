//! The forest plot: rows of figures with an interval drawn beside each.
//!
//! It is an HTML table whose second column JavaScript fills with drawings, so that it can be
//! read, copied, printed and spoken without any drawing.

use iotax_analyze::{Analysis, Attribution, Comparison, Estimate, Metric, Unit};
use iotax_words::{Effect, log_factor};

use crate::comparison::{pair_name, row_name, tax};
use crate::document::{Cell, Group, Head, Row};
use crate::format::{self, ABSENT};
use crate::{tables, words};

/// All groups: the peel's attribution first, then one per metric.
pub(crate) fn groups(analysis: &Analysis) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut metrics: Vec<Metric> = Vec::new();
    for comparison in &analysis.comparisons {
        if !metrics.contains(&comparison.metric) {
            metrics.push(comparison.metric);
        }
    }
    if let Some(attribution) = &analysis.attribution {
        groups.push(by_layer(analysis, attribution));
        // The first of them is that of the group above.
        let additive = metrics.iter().position(|metric| metric.adds_up());
        additive.map(|at| metrics.remove(at));
    }
    groups.extend(metrics.into_iter().map(|metric| by_metric(analysis, metric)));
    for group in &mut groups {
        drop_empty_columns(group);
    }
    groups
}

/// Layers, then interactions, then the total, in time per I/O, where serial layers add.
fn by_layer(analysis: &Analysis, attribution: &Attribution) -> Group {
    let mut rows = Vec::new();
    for layer in &attribution.layers {
        let main = layer.shapley_ns.or(layer.first_in_ns);
        let cells = [tables::estimate(main), tables::estimate(layer.delta_p99_ns)];
        rows.push(Row {
            first_in: layer.first_in_ns.map(|e| e.value),
            last_in: layer.last_in_ns.map(|e| e.value),
            ..layer_row(analysis, "layer", &layer.layer, main, cells)
        });
    }
    for pair in &attribution.interactions {
        let cells = [tables::estimate(pair.cost_ns), Cell::new(ABSENT)];
        let name = pair_name(&pair.layers);
        rows.push(layer_row(analysis, "interaction", &name, pair.cost_ns, cells));
    }
    let cells = [tables::estimate(attribution.total_ns), Cell::new(ABSENT)];
    rows.push(layer_row(analysis, "total", "total", attribution.total_ns, cells));
    let largest = rows.iter().filter_map(|row| row.estimate).map(f64::abs);
    let (unit, scale) = format::time_unit(largest.fold(0.0, f64::max));
    // A throughput tax m is a time per I/O of bare / (1 - m), so of bare * m / (1 - m) more.
    let what = tables::unit_of_work(analysis);
    let (bare, m) = (attribution.bare_ns, analysis.margin);
    let of_layers = analysis.comparisons.iter().filter(|c| c.metric.adds_up());
    Group {
        caption: format!("Time per {what} that each layer adds"),
        heads: heads(&[tables::tax_head(of_layers), &format!("time per {what}"), "Δ p99"]),
        axis: format!("added time per {what} ({unit})"),
        ways: None,
        scale,
        margin: [-bare * m / (1.0 + m), bare * m / (1.0 - m)],
        rows,
    }
}

/// Figures, then what they show.
fn heads(figures: &[&str]) -> Vec<Head> {
    let shown = [Head::word("verdict"), Head::figure("n"), Head::word("regime")];
    figures.iter().map(|text| Head::figure(text)).chain(shown).collect()
}

fn layer_row(
    analysis: &Analysis,
    kind: &'static str,
    name: &str,
    main: Option<Estimate>,
    [time, p99]: [Cell; 2],
) -> Row {
    let comparison = analysis
        .comparisons
        .iter()
        .find(|c| c.layer.as_deref() == Some(name) && c.metric.adds_up());
    let [tax, verdict, blocks, regime] =
        comparison.map_or_else(|| [ABSENT; 4].map(Cell::new), figures);
    let name = words::printable(name);
    Row {
        spoken: format!("{name}: {}, {}", time.text, verdict.text),
        name,
        kind,
        estimate: main.map(|e| e.value),
        interval: main.map(|e| [e.lo, e.hi]),
        first_in: None,
        last_in: None,
        cells: vec![tax, time, p99, verdict, blocks, regime],
    }
}

/// All arms (or layers) in one metric, as a tax.
fn by_metric(analysis: &Analysis, metric: Metric) -> Group {
    let is_rate = metric.unit() == Unit::IosPerSecond;
    let compared = || analysis.comparisons.iter().filter(|c| c.metric == metric);
    let head = tables::tax_head(compared());
    let scale = Scale::of(compared());
    let rows = compared().map(|comparison| {
        let shown = if is_rate { p99_of_same(analysis, comparison) } else { Some(comparison) };
        let shown_difference = tables::estimate(shown.and_then(|c| c.difference_ns));
        let [tax, verdict, blocks, regime] = figures(comparison);
        let name = row_name(comparison);
        Row {
            spoken: format!("{name}: {}, {}", tax.text, verdict.text),
            name,
            kind: if comparison.layer.is_some() { "layer" } else { "arm" },
            estimate: comparison.tax.and_then(|tax| scale.at(metric, tax)),
            interval: ends(comparison, scale),
            first_in: None,
            last_in: None,
            cells: vec![tax, shown_difference, verdict, blocks, regime],
        }
    });
    let has_own = compared().any(|comparison| comparison.against.is_some());
    let baseline = if has_own { "its baseline" } else { &analysis.baseline };
    Group {
        caption: scale.caption(metric, &words::printable(baseline)),
        heads: heads(&[head, if is_rate { "Δ p99" } else { "difference" }]),
        axis: scale.axis(metric),
        ways: scale.ways(metric),
        scale: if scale == Scale::Percent { 0.01 } else { 1.0 },
        margin: [-analysis.margin, analysis.margin].map(|tax| scale.at(metric, tax).unwrap_or(0.0)),
        rows: rows.collect(),
    }
}

fn ends(comparison: &Comparison, scale: Scale) -> Option<[f64; 2]> {
    let at = |tax: Option<f64>| scale.at(comparison.metric, tax?);
    at(comparison.lo).zip(at(comparison.hi)).map(Into::into)
}

/// What is drawn of effects: taxes, or logarithms of factors if any of them is said as one, so that
/// twice as slow is as far from none as twice as fast.
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

    /// `None` for what has no place there.
    fn at(self, metric: Metric, tax: f64) -> Option<f64> {
        match self {
            Self::Percent => Some(tax),
            Self::Factors => Some(log_factor(metric.on(), tax)).filter(|log| log.is_finite()),
        }
    }

    fn caption(self, metric: Metric, baseline: &str) -> String {
        let name = metric.name();
        match self {
            Self::Percent => format!("Tax in {name}, against {baseline}"),
            Self::Factors => format!("Effect on {name}, against {baseline}"),
        }
    }

    fn axis(self, metric: Metric) -> String {
        match self {
            Self::Percent => format!("tax in {} (%)", metric.name()),
            Self::Factors => format!("factor in {}", metric.name()),
        }
    }

    fn ways(self, metric: Metric) -> Option<[&'static str; 2]> {
        (self == Self::Factors).then(|| metric.on().ways())
    }
}

fn p99_of_same<'a>(analysis: &'a Analysis, other: &Comparison) -> Option<&'a Comparison> {
    analysis
        .comparisons
        .iter()
        .find(|c| c.metric == Metric::P99 && c.arm == other.arm && c.layer == other.layer)
}

/// Tax, verdict, blocks, regime.
fn figures(comparison: &Comparison) -> [Cell; 4] {
    [
        Cell::new(tax(comparison)),
        Cell {
            text: words::verdict_phrase(comparison),
            tone: words::verdict_tone(comparison.verdict),
        },
        Cell::new(comparison.blocks.to_string()),
        Cell::new(comparison.regime.as_deref().unwrap_or(ABSENT)),
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
