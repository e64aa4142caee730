//! The nodes of a fleet: each against the others.
//!
//! Of few nodes each is held against the mean of the others in the same blocks, and all intervals
//! hold at once. Many are a population:
//! [`crate::screened`].

use iotax_experiment::{Design, Spec, Subject};
use iotax_stats::sample::{count, mean};

use crate::analysis::{Against, FleetCost};
use crate::block_differences::BlockDifferences;
use crate::blocks::{Block, Blocks};
use crate::compare;
use crate::conclude::{Conclusion, conclude as conclude_on};
use crate::facts::TrialFacts;
use crate::method::Method;
use crate::metrics::{Metric, Trait};
use crate::resolution;
use crate::screened::is_population;
use crate::stalled::StalledBlocks;

/// What the look at the nodes cost.
pub(crate) fn cost(spec: &Spec, trials: &[&TrialFacts]) -> Option<FleetCost> {
    const MINUTE_NS: f64 = 60e9;
    let load_ns: u64 = trials.iter().map(|trial| trial.window_ns + spec.workload().ramp_ns).sum();
    (spec.design == Design::Fleet).then(|| FleetCost {
        nodes: count(spec.arms.len()),
        is_population: is_population(spec),
        node_minutes: load_ns as f64 / MINUTE_NS,
    })
}

/// One conclusion per node. Of two, both say the same.
pub(crate) fn conclude(
    method: &Method,
    blocks: &Blocks<'_>,
    names: &[String],
    metric: Metric,
) -> Vec<Conclusion> {
    let rows = (0..names.len()).map(|node| row(blocks, names, node, metric)).collect();
    let mut conclusions = conclude_on(method, rows);
    for (node, conclusion) in conclusions.iter_mut().enumerate() {
        conclusion.comparison.against = Some(match names {
            [a, b] => Against::Arm(if node == 0 { b } else { a }.clone()),
            _ => Against::Others(count(names.len() - 1)),
        });
    }
    conclusions
}

/// A node against the geometric mean of the others.
fn row(blocks: &Blocks<'_>, names: &[String], node: usize, metric: Metric) -> BlockDifferences {
    let mut row = BlockDifferences::new(Subject::Arm(names[node].clone()), metric);
    let (mut known, mut orders) = (Vec::new(), Vec::new());
    for block in &blocks.all {
        let logs: Option<Vec<f64>> =
            others(block, node).map(|trial| Some(metric.of(trial?)?.ln())).collect();
        let own = block.trials[node].and_then(|trial| metric.of(trial));
        // One that is missing would move the mean of the others.
        if let (Some(logs), Some(own)) = (logs, own) {
            row.push(block.block, mean(&logs).exp(), own);
            known.push(block.trials.iter().flatten().copied().collect::<Vec<_>>());
            orders.push(is_last_half(block, node));
        }
    }
    row.in_order(orders.into_iter());
    row.gate = compare::gate(metric, &known);
    row.resolution = resolution::of_contrast(metric, known.iter().flatten().copied());
    if metric.has(Trait::Stalls) {
        row.stalled = StalledBlocks::of(&pairs(blocks, node, metric));
    }
    row
}

/// Whether the others came, on average, before this node; unknown if all ran at the same time.
fn is_last_half(block: &Block<'_>, node: usize) -> Option<bool> {
    let own = f64::from(block.trials[node]?.place?);
    let places: Option<Vec<f64>> =
        others(block, node).map(|trial| Some(f64::from(trial?.place?))).collect();
    Some(mean(&places?) < own)
}

fn others<'a>(block: &Block<'a>, node: usize) -> impl Iterator<Item = Option<&'a TrialFacts>> {
    let trials = block.trials.clone();
    trials.into_iter().enumerate().filter(move |(other, _)| *other != node).map(|(_, trial)| trial)
}

/// A node beside one of the others that completed something, where there is one: of stalls the
/// signs count, and the stall of another node is not this one's.
fn pairs<'a>(blocks: &Blocks<'a>, node: usize, metric: Metric) -> Vec<(u32, [&'a TrialFacts; 2])> {
    let pair = |block: &Block<'a>| {
        let others: Vec<&TrialFacts> = others(block, node).flatten().collect();
        let alive = others.iter().find(|trial| metric.of(trial).is_some());
        Some((block.block, [*alive.or(others.first())?, block.trials[node]?]))
    };
    blocks.all.iter().filter_map(pair).collect()
}
