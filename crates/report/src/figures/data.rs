//! The data of the charts, as JSON in the page. The size of each is limited, so that pages stay
//! small for long experiments.

use std::collections::HashMap;

use iotax_analyze::{Analysis, ArmSummary, LatencySpread, TrialPoint};
use iotax_wording::units;
use iotax_wording::verdict::comparison::primary_of_each;
use serde::Serialize;
use serde_json::{Value, json};

use super::machine::{MachineChart, machine};
use super::operations::{OperationChart, operations};
use super::steps::{Figures, Interval, Number, Steps, within};
use super::waterfall::waterfall;
use crate::document::{ChartFrame, Charts, Group};
use crate::words;

/// Bytes per arm for throughput over time.
const ROOM_FOR_SERIES: usize = 7_000;
/// Bytes per arm for system metrics.
const ROOM_FOR_MACHINE: usize = 13_000;
/// Bytes per arm for the spread of latencies.
const ROOM_FOR_SPREAD: usize = 6_000;
/// Bytes per arm for the differences of blocks.
const ROOM_FOR_BLOCKS: usize = 3_000;
/// Minimum number of arms that a page has room for.
const FEWEST_ARMS: usize = 2;
/// Maximum number of blocks in the schedule. At 72 rem, a cell is still visible.
const MAX_SCHEDULE_BLOCKS: u32 = 120;

/// Charts of trials, and the facts for their captions.
pub(crate) struct Drawn {
    pub(crate) charts: Charts,
    /// Charts of system metrics.
    pub(crate) machine: Vec<ChartFrame>,
    /// Charts of operation times.
    pub(crate) operations: Vec<ChartFrame>,
    /// Arms that get a separate line or strip.
    pub(crate) shown: Vec<usize>,
    pub(crate) shown_arms: usize,
    /// Whether the layers of a peel are drawn as steps.
    pub(crate) has_waterfall: bool,
    /// Seconds per step of throughput.
    pub(crate) seconds_per_step: u32,
    /// Seconds per step of system metrics; 1: every sample.
    pub(crate) machine_seconds_per_step: u32,
    /// Trials per column of the latency distribution.
    pub(crate) trials_per_column: u32,
    /// Number of blocks in a group; if it is more than two, only the minimum and maximum are drawn.
    pub(crate) blocks_together: u32,
    /// Number of blocks in the drawn schedule.
    pub(crate) shown_blocks: u32,
    /// Total number of blocks.
    pub(crate) blocks: u32,
}

/// Collects the data of the charts. Lists refer to arms by index.
pub(crate) fn drawn(analysis: &Analysis, forest: &[&Group]) -> Drawn {
    let blocks = analysis.trials.iter().map(|t| t.block.saturating_add(1)).max().unwrap_or(0);
    let shown_blocks = blocks.min(MAX_SCHEDULE_BLOCKS);
    let arms = &analysis.arms;
    let names: Vec<_> = arms.iter().map(|arm| words::printable(&arm.name)).collect();
    let is_led = units::is_led_by_syncs(analysis);
    let curve = |arm: &ArmSummary| match arm.leading_sync() {
        Some(sync) => sync.latency.clone(),
        None if is_led => Vec::new(),
        None => arm.latency.clone(),
    };
    let latency = |arm: &ArmSummary| curve(arm).iter().map(|p| (p.q, p.latency_ns)).collect();
    let latency: Vec<Vec<(f64, u64)>> = arms.iter().map(latency).collect();
    let operations = operations(analysis);
    let shown_arms = shown(analysis);
    let waterfall = analysis.attribution.as_ref().and_then(waterfall);
    let room = |per_arm: usize| per_arm * shown_arms.len().max(FEWEST_ARMS);
    let traces = traces(analysis, &shown_arms);
    let (series, seconds_per_step) =
        within(room(ROOM_FOR_SERIES), |seconds| series(analysis, &traces, seconds));
    let (machine, machine_seconds_per_step) =
        within(room(ROOM_FOR_MACHINE), |seconds| machine(&traces, seconds));
    let spreads = spreads(analysis, &shown_arms);
    let (columns, trials_per_column) =
        within(room(ROOM_FOR_SPREAD), |together| columns(&spreads, together as usize));
    let differences = differences(analysis, &shown_arms);
    let (points, blocks_together) =
        within(room(ROOM_FOR_BLOCKS), |together| extremes(&differences, together as usize));
    let data = json!({
        "arms": names,
        "shown": shown_arms,
        "forest": forest,
        "waterfall": waterfall,
        "heat": { "columns": columns, "edges": edges(&spreads) },
        "blocks": {
            "points": points,
            "means": differences.iter().filter_map(Differences::mean).collect::<Vec<_>>(),
            "margin": analysis.margin,
            "label": if is_led { "sync time" } else { "throughput" },
        },
        "operations": operations,
        "latency": latency,
        "series": { "unit": units::unit_of_rate(analysis), "spans": series },
        "schedule": schedule(analysis, shown_blocks),
        "machine": machine,
    });
    Drawn {
        charts: Charts::new("experiment", &data),
        machine: machine.charts.iter().map(MachineChart::of_page).collect(),
        operations: operations.iter().map(OperationChart::of_page).collect(),
        shown_arms: shown_arms.len(),
        shown: shown_arms,
        has_waterfall: waterfall.is_some(),
        seconds_per_step,
        machine_seconds_per_step,
        trials_per_column,
        blocks_together,
        shown_blocks,
        blocks,
    }
}

/// The data of a page with only a forest plot.
pub(crate) fn of_forest(forest: &[Group]) -> Charts {
    Charts::new("forest", &json!({ "forest": forest }))
}

/// The used (or unused) trials of an arm, in the order of execution.
#[derive(Debug)]
pub(super) struct Trace<'a> {
    pub(super) arm: usize,
    pub(super) used: bool,
    pub(super) trials: Vec<&'a TrialPoint>,
}

fn traces<'a>(analysis: &'a Analysis, shown: &[usize]) -> Vec<Trace<'a>> {
    let kinds = shown.iter().flat_map(|arm| [true, false].map(|used| (*arm, used)));
    let traces = kinds.map(|(arm, used)| {
        let name = &analysis.arms[arm].name;
        let trials = analysis.trials.iter();
        let mut trials: Vec<_> = trials.filter(|t| t.arm == *name && t.used == used).collect();
        trials.sort_by_key(|trial| trial.started_ns);
        Trace { arm, used, trials }
    });
    traces.filter(|trace| !trace.trials.is_empty()).collect()
}

/// Start of a trial, in seconds since the start of the experiment.
pub(super) fn start_s(trial: &TrialPoint) -> f64 {
    (trial.started_ns / 1_000_000) as f64 / 1e3
}

/// A line over time.
#[derive(Debug, Serialize)]
struct Span {
    arm: usize,
    used: bool,
    #[serde(flatten)]
    steps: Steps,
    #[serde(flatten)]
    figures: Figures,
}

/// Throughput of each trial, in [`units::unit_of_rate`].
fn series(analysis: &Analysis, traces: &[Trace<'_>], seconds: u32) -> Vec<Span> {
    let span = |trace: &Trace<'_>| {
        let mut intervals: Vec<Interval> = Vec::new();
        let mut rates = Vec::new();
        let bits = bits_per_io(&analysis.arms[trace.arm]);
        for trial in &trace.trials {
            let start = start_s(trial);
            for (ios, second) in trial.per_second_ios.iter().zip(0u32..) {
                let from = start + f64::from(second);
                intervals.push((from, from + 1.0));
                rates.push(Some(f64::from(*ios) * bits.map_or(1.0, |bits| bits / 1e6)));
            }
        }
        let steps = Steps::new(&intervals, seconds);
        let number = if bits.is_some() { Number::hundredths } else { Number::whole };
        let figures = steps.figures(&rates, number);
        (!rates.is_empty()).then_some(Span { arm: trace.arm, used: trace.used, steps, figures })
    };
    traces.iter().filter_map(span).collect()
}

/// The spreads of an arm's trials, in order. A trial without I/Os has none.
type Spreads<'a> = (usize, Vec<Option<&'a LatencySpread>>);

/// The spread of each trial of these arms.
fn spreads<'a>(analysis: &'a Analysis, shown: &[usize]) -> Vec<Spreads<'a>> {
    let of = |arm: &usize| {
        let name = &analysis.arms[*arm].name;
        let trials = analysis.trials.iter().filter(|trial| trial.arm == *name);
        (*arm, trials.map(|trial| trial.spread.as_ref()).collect())
    };
    shown.iter().map(of).collect()
}

fn known<'a>(spreads: &'a [Spreads<'a>]) -> impl Iterator<Item = &'a LatencySpread> {
    spreads.iter().flat_map(|(_, of)| of.iter().flatten().copied())
}

fn first_bin(spreads: &[Spreads<'_>]) -> u32 {
    known(spreads).map(|spread| spread.first).min().unwrap_or(0)
}

/// The edges of all bins, in nanoseconds.
fn edges(spreads: &[Spreads<'_>]) -> Vec<Number> {
    let first = first_bin(spreads);
    let end = |spread: &LatencySpread| spread.first as usize + spread.counts.len();
    let bins = known(spreads).map(end).max().unwrap_or(0);
    let bins = (first..).take(bins.saturating_sub(first as usize) + 1);
    bins.map(|bin| Number::whole(LatencySpread::edge_ns(bin))).collect()
}

/// The latency distribution of groups of trials of an arm, in ten thousandths.
fn columns(spreads: &[Spreads<'_>], together: usize) -> Vec<Value> {
    let lowest = first_bin(spreads);
    let column = |arm: usize, number: usize, few: &[Option<&LatencySpread>]| {
        let known = || few.iter().flatten();
        let first = known().map(|spread| spread.first).min()?;
        let mut counts: Vec<u64> = Vec::new();
        for spread in known() {
            let from = (spread.first - first) as usize;
            counts.resize(counts.len().max(from + spread.counts.len()), 0);
            for (sum, count) in counts[from..].iter_mut().zip(&spread.counts) {
                *sum += count;
            }
        }
        let all = counts.iter().sum::<u64>().max(1) as f64;
        // A small share must not become zero.
        let least = |count: u64| if count > 0 { 1.0 } else { 0.0 };
        let share = |count: &u64| Number::whole((*count as f64 / all * 1e4).max(least(*count)));
        let trials = [number * together + 1, number * together + few.len()];
        let share: Vec<Number> = counts.iter().map(share).collect();
        Some(json!({ "arm": arm, "trials": trials, "first": first - lowest, "share": share }))
    };
    let columns = spreads.iter().flat_map(|(arm, of)| {
        of.chunks(together).enumerate().filter_map(|(number, few)| column(*arm, number, few))
    });
    columns.collect()
}

/// The figure of an arm in each block, as a ratio to the baseline.
#[derive(Debug)]
struct Differences {
    arm: usize,
    /// Block, ratio, and whether the trial was used.
    ratios: Vec<(u32, f64, bool)>,
}

impl Differences {
    fn mean(&self) -> Option<(usize, Number)> {
        let used = self.ratios.iter().filter(|(.., used)| *used);
        let logarithms: Vec<f64> = used.map(|(_, ratio, _)| ratio.ln()).collect();
        let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
        (!logarithms.is_empty()).then(|| (self.arm, Number::digits(mean.exp())))
    }
}

/// Ratios of throughput, or of sync times if syncs lead.
fn differences(analysis: &Analysis, shown: &[usize]) -> Vec<Differences> {
    let is_led = units::is_led_by_syncs(analysis);
    let figure = |trial: &TrialPoint| {
        let figure = if is_led { trial.sync_mean_ns } else { trial.iops };
        figure.filter(|figure| *figure > 0.0)
    };
    let baseline = analysis.trials.iter().filter(|trial| trial.arm == analysis.baseline);
    let baseline: HashMap<u32, f64> =
        baseline.filter_map(|trial| Some((trial.block, figure(trial)?))).collect();
    let of = |arm: &usize| {
        let name = &analysis.arms[*arm].name;
        let trials = analysis.trials.iter().filter(|trial| trial.arm == *name);
        let ratio = |trial: &TrialPoint| {
            let ratio = figure(trial)? / baseline.get(&trial.block)?;
            Some((trial.block.saturating_add(1), ratio, trial.used))
        };
        Differences { arm: *arm, ratios: trials.filter_map(ratio).collect() }
    };
    shown.iter().filter(|arm| analysis.arms[**arm].name != analysis.baseline).map(of).collect()
}

/// All points, or the minimum and maximum of each group of successive points.
fn extremes(differences: &[Differences], together: usize) -> Vec<(usize, u32, Number, bool)> {
    let mut points = Vec::new();
    for Differences { arm, ratios } in differences {
        for is_used in [true, false] {
            let alike: Vec<_> = ratios.iter().filter(|(.., used)| *used == is_used).collect();
            for few in alike.chunks(together) {
                let mut few = few.to_vec();
                few.sort_by(|a, b| a.1.total_cmp(&b.1));
                let mut kept = vec![few[0], few[few.len() - 1]];
                kept.sort_by_key(|(block, ..)| *block);
                kept.dedup_by_key(|(block, ..)| *block);
                points.extend(
                    kept.iter()
                        .map(|(block, ratio, used)| (*arm, *block, Number::digits(*ratio), *used)),
                );
            }
        }
    }
    points
}

/// Bits per I/O, for an arm whose throughput is shown in bits.
fn bits_per_io(arm: &ArmSummary) -> Option<f64> {
    (units::moves_bytes(arm) && arm.iops > 0.0).then(|| 8.0 * arm.bytes_per_s / arm.iops)
}

/// The arms of each block in the order of execution, and the unused trials (block, position). Empty
/// for very many arms, whose order is not drawn.
fn schedule(analysis: &Analysis, shown_blocks: u32) -> Value {
    let is_drawn = !analysis.fleet.is_some_and(|fleet| fleet.is_population);
    let arms = analysis.arms.iter().enumerate().map(|(i, arm)| (arm.name.as_str(), i));
    let arms: HashMap<&str, usize> = arms.collect();
    let mut blocks: Vec<Vec<usize>> =
        vec![Vec::new(); if is_drawn { shown_blocks as usize } else { 0 }];
    let mut unused = Vec::new();
    for trial in &analysis.trials {
        let (Some(block), Some(arm)) =
            (blocks.get_mut(trial.block as usize), arms.get(trial.arm.as_str()))
        else {
            continue;
        };
        if !trial.used {
            unused.push((trial.block, block.len()));
        }
        block.push(*arm);
    }
    json!({ "blocks": blocks, "unused": unused })
}

/// Maximum number of arms that are all drawn.
const MAX_ARMS: usize = 12;

/// Indices of the arms to draw. With very many arms: the baseline, outliers, and then those that
/// differ most, in order.
fn shown(analysis: &Analysis) -> Vec<usize> {
    let arms = &analysis.arms;
    if arms.len() <= MAX_ARMS {
        return (0..arms.len()).collect();
    }
    let slow = analysis.outliers.iter().flat_map(|found| &found.slow).map(|slow| &*slow.arm);
    let mut by_size: Vec<_> = primary_of_each(analysis)
        .into_iter()
        .filter_map(|c| Some((c.subject.arm()?, c.tax?)))
        .collect();
    by_size.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
    let rest = by_size.into_iter().map(|(arm, _)| arm).chain(arms.iter().map(|arm| &*arm.name));
    let mut shown: Vec<usize> = Vec::new();
    for name in [&*analysis.baseline].into_iter().chain(slow).chain(rest) {
        let arm = arms.iter().position(|arm| arm.name == name);
        shown.extend(arm.filter(|arm| shown.len() < MAX_ARMS && !shown.contains(arm)));
    }
    shown.sort_unstable();
    shown
}
