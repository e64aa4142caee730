//! Rules that nothing could break or keep, because too little would be measured.

use std::collections::BTreeSet;

use iotax_analyze::fewest;
use iotax_experiment::plan::Plan;
use iotax_experiment::rule::Condition;
use iotax_experiment::units::format_duration;
use iotax_experiment::{Bound, Design, Draft, Rule};
use iotax_record::Trial;

use crate::exit::{Result, usage};

/// Blocks to advise: the fewest of all decide only on a disk without any noise.
const ENOUGH: u32 = 10;

/// Refuses rules that no outcome of this run decides.
pub(super) fn refuse_undecidable(spec: &Draft) -> Result<()> {
    spec.fail_if.iter().try_for_each(|rule| refuse_with_few_blocks(spec, rule))
}

fn refuse_with_few_blocks(spec: &Draft, rule: &Rule) -> Result<()> {
    let needed = fewest(spec, rule);
    let is_run = spec.design == Design::Single;
    let (unit, option) = if is_run { ("trials", "-n") } else { ("blocks", "--max-blocks") };
    let most = spec.stop.max_blocks;
    if most < needed {
        return Err(usage(format!(
            "`{rule}` can never be decided with {option} {most}: it takes {needed} {unit} at \
             least, and more where trials vary; use {option} {ENOUGH}, or leave {option} out"
        )));
    }
    let Some(limit_ns) = spec.stop.max_time_ns.filter(|_| is_as_long_as_planned(spec)) else {
        return Ok(());
    };
    let block_ns = Plan::new(spec).block_ns(spec.arms.len());
    let shortest_ns = block_ns.saturating_mul(needed.into());
    if shortest_ns > limit_ns {
        let enough_ns = block_ns.saturating_mul(ENOUGH.into());
        return Err(usage(format!(
            "`{rule}` can never be decided within --max-time {}: it takes {needed} {unit} at \
             least, which is {} of load; use --max-time {} or shorter trials (--time)",
            format_duration(limit_ns),
            format_duration(shortest_ns),
            format_duration(whole_seconds(enough_ns))
        )));
    }
    Ok(())
}

/// Whether no job ends a trial before its time.
fn is_as_long_as_planned(spec: &Draft) -> bool {
    let mut jobs = spec.phases().flat_map(|phase| &phase.jobs);
    jobs.all(|job| job.bound == Bound::Time && !job.ends_all)
}

fn whole_seconds(ns: u64) -> u64 {
    const SECOND_NS: u64 = 1_000_000_000;
    ns.div_ceil(SECOND_NS).saturating_mul(SECOND_NS)
}

/// Refuses rules that these results cannot decide, since there are too few of an arm.
pub(super) fn refuse_undecided_by(spec: &Draft, trials: &[Trial]) -> Result<()> {
    spec.fail_if.iter().try_for_each(|rule| {
        let needed = fewest(spec, rule);
        let mut arms = arms_behind(spec, rule).into_iter();
        let few = arms.find_map(|arm| {
            let name = &spec.arms[arm].name;
            let own = trials.iter().filter(|trial| trial.arm == *name);
            let results = own.map(|trial| trial.block).collect::<BTreeSet<_>>().len();
            (results < needed as usize).then_some((name, results))
        });
        let Some((name, results)) = few else { return Ok(()) };
        let results =
            if results == 1 { "one result".to_owned() } else { format!("{results} results") };
        Err(usage(format!(
            "`{rule}` can never be decided with {results} of {name}: it takes {needed} of each arm \
             at least, and more where results vary; measure more often, and name all results of an \
             arm with commas between"
        )))
    })
}

/// The arms that a rule rests on.
fn arms_behind(spec: &Draft, rule: &Rule) -> BTreeSet<usize> {
    match rule.condition {
        Condition::SlowerBy(_) => {
            let pairs = spec.pairs().into_iter();
            pairs.filter(|[_, arm]| rule.is_about(&spec.arms[*arm].name)).flatten().collect()
        }
        Condition::Figure { .. } | Condition::BelowDocumented(_) => {
            (0..spec.arms.len()).filter(|arm| rule.is_about(&spec.arms[*arm].name)).collect()
        }
    }
}
