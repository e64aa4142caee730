//! What the charts draw, as JSON inside the page: thinned out so that a page stays small however
//! long an experiment was.

use iotax_analyze::{Analysis, ArmSummary, TrialPoint, thinned};
use serde_json::{Value, json};

use super::machine::{Chart as MachineChart, machine};
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
    /// Seconds that each point of throughput stands for.
    pub(crate) seconds_per_point: usize,
    /// Blocks of the schedule that are drawn.
    pub(crate) shown_blocks: u32,
    /// Blocks there were.
    pub(crate) blocks: u32,
}

/// Collects what the charts draw. Lists refer to arms by their index.
pub(crate) fn drawn(analysis: &Analysis, forest: &[Group]) -> Drawn {
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
    let data = json!({
        "arms": names,
        "forest": forest,
        "latency": latency,
        "series": {
            "seconds_per_point": seconds_per_point,
            "trials": series(analysis, seconds_per_point),
        },
        "schedule": { "shown_blocks": shown_blocks, "cells": cells(analysis, shown_blocks) },
        "machine": machine,
    });
    let script = concat!(include_str!("machine.js"), include_str!("charts.js"));
    let charts = Charts::new(&data, script);
    let machine = machine.charts.iter().map(MachineChart::of_page).collect();
    Drawn { charts, machine, seconds_per_point, shown_blocks, blocks }
}

/// I/Os per second of each trial, and when it started, in seconds since the experiment did.
fn series(analysis: &Analysis, stride: usize) -> Vec<Value> {
    let trials = analysis.trials.iter().filter(|t| !t.per_second_ios.is_empty());
    let trace = |t: &TrialPoint| {
        let start = (t.started_ns / 1_000_000) as f64 / 1e3;
        let (arm, iops) = (arm_index(analysis, t)?, thinned(&t.per_second_ios, stride));
        Some(json!({ "arm": arm, "start": start, "iops": iops, "used": t.used }))
    };
    trials.filter_map(trace).collect()
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
