//! The drawings of an experiment.

mod data;
mod forest;
mod machine;
mod nodes;
mod operations;
mod steps;
mod waterfall;

use iotax_analyze::{Analysis, latency_at};
use iotax_wording::{bandwidth, format, units};

pub(crate) use self::data::{Drawn, drawn, of_forest};
pub(crate) use self::forest::{groups, number, of_effects, over_phases};
pub(crate) use self::nodes::map;
pub(crate) use self::steps::{Figures, Interval, Number, Steps, within};
use crate::document::Tile;
use crate::network;

// The key figures of a run in tiles.

/// Key figures of a single arm; empty without a usable trial.
pub(crate) fn tiles(analysis: &Analysis) -> Vec<Tile> {
    let Some(arm) = analysis.arms.first().filter(|arm| arm.trials > 0) else {
        return Vec::new();
    };
    let tile = |label: &'static str, figure: String| Tile { label, figure };
    let rate = tile("rate", units::rate(arm));
    let bandwidth =
        units::bandwidth(arm).map(|rate| tile("bandwidth", bandwidth::measured_rate(rate)));
    // Results of other tools may lack these.
    let known =
        |(label, ns): (&'static str, f64)| (ns > 0.0).then(|| tile(label, format::time(ns)));
    if let Some(sync) = arm.leading_sync() {
        let p99 = sync.quantile_ns(0.99).map_or(0.0, |ns| ns as f64);
        let times = [("sync p99", p99), ("mean sync time", sync.mean_ns)];
        return times.into_iter().filter_map(known).chain([rate]).chain(bandwidth).collect();
    }
    let times = if let Some(network) = &arm.network {
        network::times(arm, network)
    } else {
        let at = |q: f64| latency_at(&arm.latency, q).map_or(0.0, |ns| ns as f64);
        let mean = ("mean latency", arm.mean_latency_ns);
        vec![mean, ("p50", at(0.5)), ("p99", at(0.99)), ("CPU per I/O", arm.cpu_ns_per_io)]
    };
    let times = times.into_iter().filter_map(known);
    [rate].into_iter().chain(bandwidth).chain(times).collect()
}
