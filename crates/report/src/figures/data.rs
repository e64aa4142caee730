//! What the charts draw, as JSON inside the page. Each has room for so many bytes, so that a page
//! stays small however long an experiment was.

use std::collections::HashMap;

use iotax_analyze::{Analysis, ArmSummary, LatencySpread, TrialPoint};
use iotax_wording::units;
use iotax_wording::verdict::comparison::primary_of_each;
use serde::Serialize;
use serde_json::{Value, json};

use super::machine::{MachineChart, machine};
use super::operations::{OperationChart, operations};
use super::steps::{Figures, Interval, Number, Steps, within};
use crate::document::{ChartFrame, Charts, Group};
use crate::words;

/// Bytes per arm for throughput over time.
const ROOM_FOR_SERIES: usize = 7_000;
/// Bytes per arm for what the machine did.
const ROOM_FOR_MACHINE: usize = 13_000;
/// Bytes per arm for the spread of latencies.
const ROOM_FOR_SPREAD: usize = 6_000;
/// Bytes per arm for the differences of blocks.
const ROOM_FOR_BLOCKS: usize = 3_000;
/// A page has room for this many arms at least.
const FEWEST_ARMS: usize = 2;
/// Blocks of the schedule drawn; at 72 rem a cell is then still wide enough to see.
const MAX_SCHEDULE_BLOCKS: u32 = 120;

/// What the charts of trials draw, and what their captions say of it.
pub(crate) struct Drawn {
    pub(crate) charts: Charts,
    /// Those of what the machine did.
    pub(crate) machine: Vec<ChartFrame>,
    /// Those of how long operations took.
    pub(crate) operations: Vec<ChartFrame>,
    /// Arms that are drawn where each has a line or a strip of its own.
    pub(crate) shown_arms: usize,
    /// Seconds that each step of throughput stands for.
    pub(crate) seconds_per_step: u32,
    /// The same of what the machine did; 1: from sample to sample.
    pub(crate) machine_seconds_per_step: u32,
    /// Trials in each column of the spread of latencies.
    pub(crate) trials_per_column: u32,
    /// Blocks of which only the lowest and the highest are drawn, if they are more than two.
    pub(crate) blocks_together: u32,
    /// Blocks of the schedule that are drawn.
    pub(crate) shown_blocks: u32,
    /// Blocks there were.
    pub(crate) blocks: u32,
}

/// Collects what the charts draw. Lists refer to arms by their index.
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
        seconds_per_step,
        machine_seconds_per_step,
        trials_per_column,
        blocks_together,
        shown_blocks,
        blocks,
    }
}

/// The data of a page that draws nothing but a forest.
pub(crate) fn of_forest(forest: &[Group]) -> Charts {
    Charts::new("forest", &json!({ "forest": forest }))
}

/// The trials of an arm that were used, or those that were not, in the order in which they ran.
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

/// When a trial started, in seconds since the experiment did.
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

/// The spread of each trial that has one, of these arms.
fn spreads<'a>(analysis: &'a Analysis, shown: &[usize]) -> Vec<(usize, Vec<&'a LatencySpread>)> {
    let of = |arm: &usize| {
        let name = &analysis.arms[*arm].name;
        let trials = analysis.trials.iter().filter(|trial| trial.arm == *name);
        (*arm, trials.filter_map(|trial| trial.spread.as_ref()).collect())
    };
    shown.iter().map(of).collect()
}

fn first_bin(spreads: &[(usize, Vec<&LatencySpread>)]) -> u32 {
    spreads.iter().flat_map(|(_, of)| of).map(|spread| spread.first).min().unwrap_or(0)
}

/// The edges of all bins, in nanoseconds.
fn edges(spreads: &[(usize, Vec<&LatencySpread>)]) -> Vec<Number> {
    let first = first_bin(spreads);
    let end = |spread: &&LatencySpread| spread.first as usize + spread.counts.len();
    let bins = spreads.iter().flat_map(|(_, of)| of).map(end).max().unwrap_or(0);
    let bins = (first..).take(bins.saturating_sub(first as usize) + 1);
    bins.map(|bin| Number::whole(LatencySpread::edge_ns(bin))).collect()
}

/// How the latencies of trials are spread: of so many of an arm together, in ten thousandths of
/// all.
fn columns(spreads: &[(usize, Vec<&LatencySpread>)], together: usize) -> Vec<Value> {
    let lowest = first_bin(spreads);
    let column = |arm: usize, number: usize, few: &[&LatencySpread]| {
        let first = few.iter().map(|spread| spread.first).min().unwrap_or(0);
        let mut counts: Vec<u64> = Vec::new();
        for spread in few {
            let from = (spread.first - first) as usize;
            counts.resize(counts.len().max(from + spread.counts.len()), 0);
            for (sum, count) in counts[from..].iter_mut().zip(&spread.counts) {
                *sum += count;
            }
        }
        let all = counts.iter().sum::<u64>().max(1) as f64;
        // Few are not none.
        let least = |count: u64| if count > 0 { 1.0 } else { 0.0 };
        let share = |count: &u64| Number::whole((*count as f64 / all * 1e4).max(least(*count)));
        let trials = [number * together + 1, number * together + few.len()];
        let share: Vec<Number> = counts.iter().map(share).collect();
        json!({ "arm": arm, "trials": trials, "first": first - lowest, "share": share })
    };
    let columns = spreads.iter().flat_map(|(arm, of)| {
        of.chunks(together).enumerate().map(|(number, few)| column(*arm, number, few))
    });
    columns.collect()
}

/// What an arm did in each block, as a fraction of what the baseline did in it.
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

/// In throughput, or in the time of a sync where that leads.
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

/// All of them, or of so many that follow each other the lowest and the highest.
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

/// Of an arm whose throughput is told in bits: how many one I/O moves.
fn bits_per_io(arm: &ArmSummary) -> Option<f64> {
    (units::moves_bytes(arm) && arm.iops > 0.0).then(|| 8.0 * arm.bytes_per_s / arm.iops)
}

/// The arms of each block in the order in which they ran; and which of the trials, by block and
/// place, were not used. Nothing of very many arms, whose order is not drawn.
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

/// Arms up to which all are drawn.
const MAX_ARMS: usize = 12;

/// Indices of all arms; of very many the baseline, those that lie outside of the others, and then
/// those that differ most, in their order.
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
