//! What the charts draw, as JSON inside the page: thinned out so that a page stays small however
//! long an experiment was.

use iotax_analyze::{Analysis, ArmSummary, LatencySpread, TrialPoint, thinned};
use serde_json::{Value, json};

use super::machine::{Chart as MachineChart, machine};
use super::operations::{OperationChart, operations};
use super::shown::shown;
use crate::document::{Chart, Charts, Group};
use crate::{tables, words};

/// Points of throughput drawn in all. Beyond it neighbouring seconds are drawn as their mean.
const MAX_SERIES_POINTS: usize = 20_000;
/// Blocks of the schedule drawn; at 72 rem a cell is then still wide enough to see.
const MAX_SCHEDULE_BLOCKS: u32 = 120;

/// What the charts of trials draw, and what their captions say of it.
pub(crate) struct Drawn {
    pub(crate) charts: Charts,
    /// Those of what the machine did.
    pub(crate) machine: Vec<Chart>,
    /// Those of how long operations took.
    pub(crate) operations: Vec<Chart>,
    /// Arms that are drawn where each has a line or a strip of its own.
    pub(crate) shown_arms: usize,
    /// Seconds that each point of throughput stands for.
    pub(crate) seconds_per_point: usize,
    /// Blocks of the schedule that are drawn.
    pub(crate) shown_blocks: u32,
    /// Blocks there were.
    pub(crate) blocks: u32,
}

/// Collects what the charts draw. Lists refer to arms by their index.
pub(crate) fn drawn(analysis: &Analysis, forest: &[&Group]) -> Drawn {
    let points: usize = analysis.trials.iter().map(|t| t.per_second_ios.len()).sum();
    let seconds_per_point = points.div_ceil(MAX_SERIES_POINTS).max(1);
    let blocks = analysis.trials.iter().map(|t| t.block.saturating_add(1)).max().unwrap_or(0);
    let shown_blocks = blocks.min(MAX_SCHEDULE_BLOCKS);
    let machine = machine(analysis);
    let arms = &analysis.arms;
    let names: Vec<_> = arms.iter().map(|arm| words::printable(&arm.name)).collect();
    let is_led = tables::is_led_by_syncs(analysis);
    let curve = |arm: &ArmSummary| match arm.leading_sync() {
        Some(sync) => sync.latency.clone(),
        None if is_led => Vec::new(),
        None => arm.latency.clone(),
    };
    let latency = |arm: &ArmSummary| curve(arm).iter().map(|p| (p.q, p.latency_ns)).collect();
    let latency: Vec<Vec<(f64, u64)>> = arms.iter().map(latency).collect();
    let operations = operations(analysis);
    let shown_arms = shown(analysis);
    let data = json!({
        "arms": names,
        "shown": shown_arms,
        "forest": forest,
        "heat": heat(analysis, &shown_arms),
        "blocks": block_ratios(analysis),
        "operations": operations,
        "latency": latency,
        "series": {
            "seconds_per_point": seconds_per_point,
            "unit": tables::unit_of_rate(analysis),
            "trials": series(analysis, seconds_per_point),
        },
        "schedule": { "shown_blocks": shown_blocks, "cells": cells(analysis, shown_blocks) },
        "machine": machine,
    });
    Drawn {
        charts: Charts::new("experiment", &data),
        machine: machine.charts.iter().map(MachineChart::of_page).collect(),
        operations: operations.iter().map(OperationChart::of_page).collect(),
        shown_arms: shown_arms.len(),
        seconds_per_point,
        shown_blocks,
        blocks,
    }
}

/// The data of a page that draws nothing but a forest.
pub(crate) fn of_forest(forest: &[Group]) -> Charts {
    Charts::new("forest", &json!({ "forest": forest }))
}

/// Of each trial of these arms, in the order in which they ran, how its latencies are spread, as
/// shares of all of them; and the edges of all bins, in nanoseconds.
fn heat(analysis: &Analysis, shown: &[usize]) -> Value {
    let trials: Vec<_> = analysis
        .trials
        .iter()
        .filter_map(|trial| {
            let arm = arm_index(analysis, trial).filter(|arm| shown.contains(arm))?;
            Some((arm, trial.spread.as_ref()?))
        })
        .collect();
    let first = trials.iter().map(|(_, spread)| spread.first).min().unwrap_or(0);
    let end = |spread: &LatencySpread| spread.first as usize + spread.counts.len();
    let bins = trials.iter().map(|(_, spread)| end(spread)).max().unwrap_or(0);
    let edges = (first..).take(bins.saturating_sub(first as usize) + 1);
    let edges: Vec<f64> = edges.map(|bin| LatencySpread::edge_ns(bin).round()).collect();
    let cells = trials.iter().map(|(arm, spread)| {
        let all = spread.counts.iter().sum::<u64>().max(1) as f64;
        let share: Vec<f64> =
            spread.counts.iter().map(|count| (*count as f64 / all * 1e4).round() / 1e4).collect();
        json!({ "arm": arm, "first": spread.first - first, "share": share })
    });
    json!({ "trials": cells.collect::<Vec<_>>(), "edges": edges })
}

/// Of each block what each arm did in it, as a fraction of what the baseline did: in
/// throughput, or in the time of a sync where that leads.
fn block_ratios(analysis: &Analysis) -> Value {
    let is_led = tables::is_led_by_syncs(analysis);
    let figure = |trial: &TrialPoint| {
        let figure = if is_led { trial.sync_mean_ns } else { trial.iops };
        figure.filter(|figure| *figure > 0.0)
    };
    let of_baseline = |block: u32| {
        let of = |trial: &&TrialPoint| trial.block == block && trial.arm == analysis.baseline;
        analysis.trials.iter().find(of).and_then(figure)
    };
    let points = analysis.trials.iter().filter(|trial| trial.arm != analysis.baseline);
    let points = points.filter_map(|trial| {
        let ratio = figure(trial)? / of_baseline(trial.block)?;
        let (arm, block) = (arm_index(analysis, trial)?, trial.block.saturating_add(1));
        Some(json!([arm, block, (ratio * 1e4).round() / 1e4, trial.used]))
    });
    let label = if is_led { "time of a sync" } else { "throughput" };
    json!({ "points": points.collect::<Vec<_>>(), "margin": analysis.margin, "label": label })
}

/// Throughput of each trial, in [`tables::unit_of_rate`], and when it started, in seconds since the
/// experiment did.
fn series(analysis: &Analysis, stride: usize) -> Vec<Value> {
    let trials = analysis.trials.iter().filter(|t| !t.per_second_ios.is_empty());
    let trace = |t: &TrialPoint| {
        let start = (t.started_ns / 1_000_000) as f64 / 1e3;
        let arm = arm_index(analysis, t)?;
        let ios = thinned(&t.per_second_ios, stride);
        let rates = match bits_per_io(&analysis.arms[arm]) {
            Some(bits) => {
                let mbit = ios.iter().map(|ios| (f64::from(*ios) * bits / 1e4).round() / 1e2);
                json!(mbit.collect::<Vec<_>>())
            }
            None => json!(ios),
        };
        Some(json!({ "arm": arm, "start": start, "rates": rates, "used": t.used }))
    };
    trials.filter_map(trace).collect()
}

/// Of an arm whose throughput is told in bits: how many one I/O moves.
fn bits_per_io(arm: &ArmSummary) -> Option<f64> {
    (tables::moves_bytes(arm) && arm.iops > 0.0).then(|| 8.0 * arm.bytes_per_s / arm.iops)
}

/// Of each trial its block, place in the block, arm, and whether it was used.
fn cells(analysis: &Analysis, shown_blocks: u32) -> Vec<(u32, u32, usize, bool)> {
    let mut places = vec![0u32; shown_blocks as usize];
    let mut cells = Vec::new();
    for trial in &analysis.trials {
        let Some(place) = places.get_mut(trial.block as usize) else { continue };
        if let Some(arm) = arm_index(analysis, trial) {
            cells.push((trial.block, *place, arm, trial.used));
        }
        *place += 1;
    }
    cells
}

fn arm_index(analysis: &Analysis, trial: &TrialPoint) -> Option<usize> {
    analysis.arms.iter().position(|arm| arm.name == trial.arm)
}
