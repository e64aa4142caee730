use iotax_experiment::Subject;
use iotax_stats::dependence::long_run_variance;
use iotax_stats::measuring_time::{MAX_SECONDS, optimal_seconds};
use iotax_stats::sample::{mean, variance};
use iotax_stats::verdict::Verdict;

use super::noise_source;
use crate::analysis::{Doubt, DoubtKind, Noise, Outlook, is_within_reach};
use crate::blocks::Block;
use crate::conclude::Conclusion;
use crate::evidence::Evidence;

/// Noise that keeps comparisons undecided, and what a decision would take. Only in the primary
/// metric, which decides when a run stops, and not for interactions, which do not.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let undecided: Vec<&Conclusion> = evidence
        .primary()
        .filter(|c| !c.is_interaction() && c.spread.is_some())
        .filter(|c| c.comparison.verdict == Verdict::Undecided)
        .collect();
    let Some(blocks) = undecided.iter().map(|c| c.comparison.blocks).max() else {
        return Vec::new();
    };
    let of: Vec<Subject> = undecided.iter().map(|c| c.comparison.subject.clone()).collect();
    let spreads = || undecided.iter().filter_map(|c| c.spread);
    let time_s = evidence.experiment.spec.workload().time_ns as f64 / 1e9;
    let best = best_trial_seconds(evidence).map(f64::ceil);
    let noise = Noise {
        spread: [spreads().fold(f64::INFINITY, f64::min), spreads().fold(0.0, f64::max)],
        outlook: outlook(&undecided),
        best_time_s: best.filter(|best| *best >= 1.5 * time_s),
        source: noise_source::source(evidence),
        of: of.clone(),
    };
    vec![Doubt::about_each(&of, DoubtKind::Noise(noise), blocks)]
}

/// What verdicts on these undecided comparisons would take; `None` if nothing would do.
pub(crate) fn outlook(undecided: &[&Conclusion]) -> Option<Outlook> {
    let needed = || undecided.iter().filter_map(|c| c.comparison.blocks_needed);
    let spent = undecided.iter().map(|c| c.comparison.blocks).max().unwrap_or(0);
    match (needed().min(), needed().max()) {
        (Some(_), Some(most)) if !is_within_reach(most, spent) => Some(Outlook::OutOfReach),
        (Some(least), Some(most)) => Some(Outlook::Blocks([least, most])),
        _ => undecided.iter().find_map(|c| c.withheld).map(Outlook::Withheld),
    }
}

/// The trial length that buys the narrowest interval per second, from how throughput varies from
/// second to second and from trial to trial; `None` where trials are too short to tell.
fn best_trial_seconds(evidence: &Evidence<'_>) -> Option<f64> {
    let kept: Vec<_> = evidence
        .blocks
        .all
        .iter()
        .flat_map(|block: &Block<'_>| block.trials.iter().enumerate())
        .filter_map(|(arm, trial)| trial.map(|trial| (arm, trial)))
        .filter(|(_, trial)| trial.per_second_ios.len() >= 3)
        .collect();
    if kept.len() < 3 {
        return None;
    }
    let (mut within, mut overhead_ns, mut seconds) = (0.0, 0.0, 0.0);
    let mut logs: Vec<Vec<f64>> = vec![Vec::new(); evidence.names.len()];
    for (arm, trial) in &kept {
        let series: Vec<f64> = trial.per_second_ios.iter().map(|ios| f64::from(*ios)).collect();
        let mean = mean(&series);
        if mean <= 0.0 {
            continue;
        }
        let relative: Vec<f64> = series.iter().map(|x| x / mean).collect();
        within += long_run_variance(&relative) / kept.len() as f64;
        overhead_ns += trial.switch_ns as f64 / kept.len() as f64;
        seconds += series.len() as f64 / kept.len() as f64;
        logs[*arm].push(mean.ln());
    }
    overhead_ns += evidence.experiment.spec.workload().ramp_ns as f64;
    let between = (pooled_variance(&logs)? - within / seconds).max(0.0);
    let best = optimal_seconds(overhead_ns / 1e9, within, between);
    (within > 0.0).then_some(best.min(MAX_SECONDS))
}

/// Variance within groups; `None` without a group of two.
fn pooled_variance(groups: &[Vec<f64>]) -> Option<f64> {
    let (mut squares, mut freedom) = (0.0, 0);
    for group in groups.iter().filter(|group| group.len() >= 2) {
        squares += variance(group) * (group.len() - 1) as f64;
        freedom += group.len() - 1;
    }
    (freedom > 0).then(|| squares / freedom as f64)
}
