//! The key figures in tiles.

use iotax_analyze::{Analysis, Comparison};

use crate::comparison::{self, is_interaction, primary_of_each, subject};
use crate::document::Tile;
use crate::words::Tone;
use crate::{bandwidth, format, tables, words};

/// Key figures shown big.
const MAX_TILES: usize = 4;

/// The key figures: the total first, then what costs most.
pub(crate) fn tiles(analysis: &Analysis) -> Vec<Tile> {
    let primary = primary_of_each(analysis);
    if primary.is_empty() {
        return run_tiles(analysis);
    }
    let mut shown: Vec<_> = primary.into_iter().filter(|c| !is_interaction(c, analysis)).collect();
    shown.sort_by(|a, b| {
        let rank = |c: &Comparison| c.layer.as_deref() != Some("total");
        let tax = |c: &Comparison| c.tax.unwrap_or(f64::NEG_INFINITY);
        rank(a).cmp(&rank(b)).then(tax(b).total_cmp(&tax(a)))
    });
    shown.into_iter().take(MAX_TILES).map(tile).collect()
}

fn tile(comparison: &Comparison) -> Tile {
    let tax = comparison::tax(comparison);
    let (figure, interval) = tax.split_once(" [").unwrap_or((&tax, ""));
    Tile {
        label: subject(comparison),
        figure: figure.to_owned(),
        interval: if interval.is_empty() { String::new() } else { format!("[{interval}") },
        note: format!("{}: {}", comparison.metric.name(), words::verdict_phrase(comparison)),
        tone: words::verdict_tone(comparison.verdict),
    }
}

fn run_tiles(analysis: &Analysis) -> Vec<Tile> {
    let Some(arm) = analysis.arms.first().filter(|arm| arm.trials > 0) else {
        return Vec::new();
    };
    let tile = |label: &str, figure: String| Tile {
        label: label.to_owned(),
        figure,
        interval: String::new(),
        note: String::new(),
        tone: Tone::Plain,
    };
    let rate = tile("rate", tables::rate(arm));
    let bandwidth =
        tables::bandwidth(arm).map(|rate| tile("bandwidth", bandwidth::measured_rate(rate)));
    // Another tool may not say these.
    let known = |(label, ns): (&str, f64)| (ns > 0.0).then(|| tile(label, format::time(ns)));
    if let Some(sync) = arm.leading_sync() {
        let p99 = sync.quantile_ns(0.99).map_or(0.0, |ns| ns as f64);
        let times = [("p99 of a sync", p99), ("mean of a sync", sync.mean_ns)];
        return times.into_iter().filter_map(known).chain([rate]).chain(bandwidth).collect();
    }
    let times = [("mean latency", arm.mean_latency_ns), ("CPU per I/O", arm.cpu_ns_per_io)];
    let times = times.into_iter().filter_map(known);
    [rate].into_iter().chain(bandwidth).chain(times).collect()
}
