//! Which of many arms lie outside of all the others.

use iotax_experiment::{Design, Spec};
use iotax_stats::fleet::{Fleet, MIN_NODES, Node, Probes};
use iotax_stats::sample::{count, median};

use crate::analysis::{ArmTax, Outlier, Outliers};
use crate::facts::TrialFacts;
use crate::metrics::{Better, Metric};
use crate::screened;

/// Of a comparison of so many arms that they are a population, and no matrix.
pub(crate) fn of(
    spec: &Spec,
    names: &[String],
    trials: &[TrialFacts],
    metric: Metric,
) -> Option<Outliers> {
    let is_of_one_kind = matches!(spec.design, Design::Compare | Design::Fleet);
    if !is_of_one_kind || names.len() < MIN_NODES || spec.matrix().is_some() {
        return None;
    }
    let mut judged: Vec<usize> = (0..names.len()).collect();
    let fleet = if screened::is_in_stages(spec) {
        screened::finished(spec, trials, metric)?
    } else {
        let values = by_arm(spec, names.len(), trials, metric);
        let probes: Vec<Option<Probes>> = values.iter().map(|values| Probes::of(values)).collect();
        judged.retain(|arm| probes[*arm].is_some());
        Fleet::of(&probes.into_iter().flatten().collect::<Vec<_>>(), spec.stop.alpha)?
    };
    let (mut slow, others): (Vec<_>, Vec<_>) =
        judged.iter().copied().zip(fleet.nodes).partition(|(_, node)| node.is_slow);
    slow.sort_by(|(_, a), (_, b)| a.raw.total_cmp(&b.raw));
    let figures = |arm: &usize| {
        let own = trials.iter().filter(|trial| trial.usable && trial.arm == Some(*arm));
        median(&own.filter_map(|trial| metric.of(trial)).collect::<Vec<_>>())
    };
    let tax =
        |log: f64| if metric.better() == Better::Higher { -log.exp_m1() } else { (-log).exp_m1() };
    let outlier = |(arm, node): (usize, Node)| Outlier {
        arm: names[arm].clone(),
        tax: tax(node.raw),
        shrunken: tax(node.shrunken),
        p: node.p,
    };
    Some(Outliers {
        metric,
        arms: count(judged.len()),
        median: median(&judged.iter().map(figures).collect::<Vec<_>>()),
        spread: fleet.spread.exp_m1(),
        rate: spec.stop.alpha,
        slow: slow.into_iter().map(outlier).collect(),
        others: others
            .into_iter()
            .map(|(arm, node)| ArmTax { arm: names[arm].clone(), tax: tax(node.raw) })
            .collect(),
        left_out: (0..names.len())
            .filter(|arm| !judged.contains(arm))
            .map(|arm| names[arm].clone())
            .collect(),
    })
}

/// Logarithms of each arm's figures, higher ones better, less the median of their block. Results of
/// other tools belong to no block.
fn by_arm(spec: &Spec, arms: usize, trials: &[TrialFacts], metric: Metric) -> Vec<Vec<f64>> {
    let sign = if metric.better() == Better::Higher { 1.0 } else { -1.0 };
    let mut known: Vec<(u32, usize, f64)> = trials
        .iter()
        .filter(|trial| trial.usable)
        .filter_map(|trial| Some((trial.block, trial.arm?, sign * metric.of(trial)?.ln())))
        .collect();
    known.sort_by_key(|(block, arm, _)| (*block, *arm));
    let mut values = vec![Vec::new(); arms];
    for block in known.chunk_by(|(a, _, _), (b, _, _)| a == b || spec.is_of_results()) {
        let logs: Vec<f64> = block.iter().map(|(_, _, log)| *log).collect();
        let level = median(&logs);
        for (_, arm, log) in block {
            values[*arm].push(log - level);
        }
    }
    values
}
