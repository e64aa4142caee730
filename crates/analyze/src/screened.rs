//! The nodes of a large fleet, looked at in stages by [`iotax_stats::screening`].

use iotax_experiment::{Design, Spec};
use iotax_record::EndReason;
use iotax_stats::fleet::{Fleet, MIN_NODES};
use iotax_stats::sample::median;
use iotax_stats::screening::{FIRST, LATER, Screening};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::facts::TrialFacts;
use crate::lengths::Lengths;
use crate::metrics::{Better, Metric};
use crate::progress::Standing;

/// Whether the nodes are so many that they are judged as a population.
pub fn is_population(spec: &Spec) -> bool {
    spec.design == Design::Fleet && spec.arms.len() >= MIN_NODES
}

/// Whether it is looked at in stages: another number of rounds is that of all nodes.
pub(crate) fn is_in_stages(spec: &Spec) -> bool {
    let all = LATER.last().map_or(FIRST, |(end, _)| *end);
    is_population(spec) && spec.stop.max_blocks as usize == all
}

/// Which nodes take part in the next round, or why there is none.
pub(crate) fn progress(
    spec: &Spec,
    trials: &[TrialFacts],
    metric: Option<Metric>,
    blocks: u32,
) -> Standing {
    let nodes = spec.arms.len();
    let lengths = Lengths::Alike;
    let go_on = |open| Standing { open, stop: Vec::new(), arms: Vec::new(), blocks, lengths };
    let end = |reason| Standing { stop: vec![reason], ..go_on(vec![true; nodes]) };
    if blocks >= spec.stop.max_blocks {
        return end(EndReason::AllRun);
    }
    let Some(screened) = metric
        .filter(|_| is_in_stages(spec) && blocks as usize >= FIRST)
        .and_then(|metric| Screened::of(spec, trials, metric, blocks))
    else {
        return go_on(vec![true; nodes]);
    };
    if screened.taking_part.is_empty() {
        return end(EndReason::NoNodeStandsOut { rounds: blocks });
    }
    go_on((0..nodes).map(|node| screened.taking_part.contains(&node)).collect())
}

/// Where each node stands once the stages are over, with the number of rounds taken; `None` before
/// that.
pub(crate) fn finished(spec: &Spec, trials: &[TrialFacts], metric: Metric) -> Option<Fleet> {
    let blocks = trials.iter().map(|trial| trial.block + 1).max()?;
    let screened = Screened::of(spec, trials, metric, blocks)?;
    screened.taking_part.is_empty().then(|| screened.screening.finish(spec.stop.alpha))
}

struct Screened {
    screening: Screening,
    /// Suspects and controls of the stage under way.
    taking_part: Vec<usize>,
}

impl Screened {
    /// By the stages that are complete after so many rounds.
    fn of(spec: &Spec, trials: &[TrialFacts], metric: Metric, blocks: u32) -> Option<Self> {
        let nodes = spec.arms.len();
        let round = |block: usize| logarithms(trials, nodes, metric, block);
        let mut probes = vec![Vec::new(); nodes];
        for block in 0..FIRST {
            let round = round(block);
            let level = median(&round.iter().flatten().copied().collect::<Vec<f64>>());
            for (probes, value) in probes.iter_mut().zip(round) {
                probes.extend(value.map(|value| value - level));
            }
        }
        let mut screening = Screening::of(&probes)?;
        let mut begun = FIRST;
        for (end, _) in LATER {
            let suspects = screening.suspects();
            if suspects.is_empty() {
                break;
            }
            let controls = controls(&screening, &suspects, nodes, spec.seed ^ end as u64);
            if (blocks as usize) < end {
                let taking_part = [suspects, controls].concat();
                return Some(Self { screening, taking_part });
            }
            let rounds: Vec<Vec<Option<f64>>> = (begun..end).map(round).collect();
            screening.take_in(&rounds, &controls);
            begun = end;
        }
        Some(Self { screening, taking_part: Vec::new() })
    }
}

/// Some of the other nodes, by the seed alone: a record is judged as it was run.
fn controls(screening: &Screening, suspects: &[usize], nodes: usize, seed: u64) -> Vec<usize> {
    let mut others: Vec<usize> = (0..nodes).filter(|node| !suspects.contains(node)).collect();
    others.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    others.truncate(screening.controls());
    others
}

/// Of each node in a round, higher ones better.
fn logarithms(
    trials: &[TrialFacts],
    nodes: usize,
    metric: Metric,
    block: usize,
) -> Vec<Option<f64>> {
    let sign = if metric.better() == Better::Higher { 1.0 } else { -1.0 };
    let mut round = vec![None; nodes];
    for trial in trials.iter().filter(|trial| trial.usable && trial.block as usize == block) {
        if let (Some(node), Some(value)) = (trial.arm, metric.of(trial)) {
            round[node] = Some(sign * value.ln());
        }
    }
    round
}
