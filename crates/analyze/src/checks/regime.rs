use iotax_experiment::Design;
use iotax_quantity::{Effect, count, fell_or_rose, grouped, list, whole};
use iotax_stats::regime::{LEVEL, monitor};

use crate::analysis::{Check, Comparison, EffectChange, Estimate, Warning, named};
use crate::evidence::Evidence;
use crate::metrics::{Better, Metric};

const FELL: &str = "Probably burst credits ran out; early in a run it may also be a cache that \
                    filled up, or a neighbour that began. If what lasts is to be measured, drain \
                    the credits first (--drain); if the burst, let the volume rest and run shorter.";
const FELL_OF_WRITES: &str = "Probably burst credits ran out, or a fresh SSD had no erased blocks \
                              left; early in a run it may also be a cache that filled up, or a \
                              neighbour that began. If what lasts is to be measured, drain the \
                              credits (--drain), or write the span first (--precondition); if the \
                              burst, let the volume rest and run shorter.";
const ROSE: &str = "Probably something else used the storage and ended, or the volume grew faster. \
                    If only the level since is of interest, run again.";
const SINCE_FELL: &str = "Burst credits or a cache were used up, or another load began: verdicts are \
                          about the level before that. Use --drain to compare what lasts; `iotax \
                          limits` measures bursts.";
const SINCE_ROSE: &str = "Another load ended, or credits came back: run again for a verdict at the \
                          level that lasts.";
const CHANGED: &str = "Something came or went that this arm alone has: a cache that filled up, \
                       credits of its own, a background job on its device. Run again: if the cost \
                       is what it has been since the change, that is the one that lasts.";

/// A level that changed for good in the middle of the run. One arm's is looked for first, since it
/// moves the mean of all arms, too.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let primary = evidence.conclusions.first().map(|c| c.comparison.metric);
    let changed: Vec<Warning> = evidence
        .conclusions
        .iter()
        .map(|conclusion| &conclusion.comparison)
        .filter(|comparison| Some(comparison.metric) == primary)
        .filter_map(|comparison| Some(of_one(comparison, comparison.change.as_ref()?)))
        .collect();
    let mut warnings =
        if changed.is_empty() { of_all(evidence).into_iter().collect() } else { changed };
    warnings.extend(since_then(evidence));
    warnings
}

/// Arms that the depth check found at another level.
fn since_then(evidence: &Evidence<'_>) -> Option<Warning> {
    let first = evidence.shifts.first()?;
    let each: Vec<String> = (evidence.shifts.iter())
        .map(|shift| {
            let [before, since] = shift.iops.map(|iops| format!("{} IOPS", grouped(whole(iops))));
            format!("{} at {since} where it had {before}", evidence.names[shift.arm])
        })
        .collect();
    let is_worse = first.iops[1] < first.iops[0];
    Some(Warning {
        check: Check::RegimeShift,
        arm: None,
        message: format!(
            "the depth check, which followed, found another level at the same depth: {}",
            list(&each.iter().map(String::as_str).collect::<Vec<_>>())
        ),
        advice: if is_worse { SINCE_FELL } else { SINCE_ROSE }.to_owned(),
        trials: u32::try_from(first.trials).unwrap_or(u32::MAX),
    })
}

/// The effect of one arm (or layer).
fn of_one(comparison: &Comparison, change: &EffectChange) -> Warning {
    let [before, since] = change.blocks;
    if change.in_depth_check {
        return after_the_run(comparison, change);
    }
    let rests = if comparison.verdict.is_decided() {
        "the verdict rests on those since"
    } else {
        "those since are too few for a verdict of their own"
    };
    Warning {
        check: Check::RegimeShift,
        arm: Some(named(&comparison.subject)),
        message: format!(
            "the effect on {} changed after block {}: {} in the {} up to then, {} in the {} \
             since; {rests}",
            comparison.metric.name(),
            change.after_block,
            tax(comparison, change.before),
            count(before.into(), "block"),
            tax(comparison, change.since),
            count(since.into(), "block"),
        ),
        advice: CHANGED.to_owned(),
        trials: since,
    }
}

fn after_the_run(comparison: &Comparison, change: &EffectChange) -> Warning {
    Warning {
        check: Check::RegimeShift,
        arm: Some(named(&comparison.subject)),
        message: format!(
            "the depth check, at the same depth, disagrees with the comparison: the effect on {} \
             was {} in its {}, and {} in the {} of the check",
            comparison.metric.name(),
            tax(comparison, change.before),
            count(change.blocks[0].into(), "block"),
            tax(comparison, change.since),
            count(change.blocks[1].into(), "block"),
        ),
        advice: "Something ended in between: burst credits, a cache, another load. Compare what \
                 lasts with --drain, or measure bursts with `iotax limits`."
            .to_owned(),
        trials: change.blocks[1],
    }
}

fn tax(comparison: &Comparison, part: Option<Estimate>) -> String {
    let tax = part.and_then(|part| comparison.effect_of(part).without_interval());
    tax.map_or_else(|| "an effect of unknown size".to_owned(), Effect::in_words)
}

/// The level of all arms: comparisons are within blocks, so it moves none of them.
fn of_all(evidence: &Evidence<'_>) -> Option<Warning> {
    let spec = &evidence.experiment.spec;
    let measured = Metric::additive(spec.workload());
    let (blocks, levels) = evidence.blocks.levels(measured);
    let change = monitor(&levels, LEVEL)?;
    let after = blocks[change.before - 1];
    let changed = fell_or_rose(change.step.exp());
    let message = if spec.design == Design::Single {
        format!(
            "{} {changed} after trial {}; the summary averages over both levels",
            measured.name(),
            after + 1
        )
    } else {
        format!(
            "the level of all arms ({}) {changed} after block {}; comparisons are within blocks \
             and stand",
            measured.name(),
            after + 1
        )
    };
    let is_worse = (change.step < 0.0) == (measured.better() == Better::Higher);
    let trials = evidence.trials.iter().filter(|trial| trial.usable && trial.block > after).count();
    Some(Warning {
        check: Check::RegimeShift,
        arm: None,
        message,
        advice: match is_worse {
            true if spec.workload().writes() => FELL_OF_WRITES,
            true => FELL,
            false => ROSE,
        }
        .to_owned(),
        trials: u32::try_from(trials).unwrap_or(u32::MAX),
    })
}
