//! The experiments that follow one whose arms turned out equal.

use iotax_experiment::rule::{Condition, RuleOutcome};
use iotax_experiment::{Depth, Design, Job, SideRun, Spec, Stop, StopMode, Workload};
use iotax_record::ExperimentHead;
use iotax_stats::sample::count;
use iotax_stats::tail::samples_needed;
use iotax_stats::verdict::Verdict;

use super::depths::MOST_BLOCKS as CHECK_BLOCKS;
use super::judge::candidates;
use crate::analysis::{Analysis, Comparison, Judgment};
use crate::method::FIRST_LOOK;

/// Blocks of a depth check at least.
const FEWEST_BLOCKS: u32 = 3;
/// Longest ramp and window of a depth check: it asks for a level, not for a tail.
const CHECK_RAMP_NS: u64 = 1_000_000_000;
const CHECK_TIME_NS: u64 = 2_000_000_000;
/// Share of the cap that is offered to see what it hides: the queue in front of the cap is short
/// then, and what an I/O takes is not mostly waiting.
const BELOW_CAP: f64 = 0.7;
/// Blocks at most to see what a cap hides.
const MOST_BLOCKS: u32 = 16;
/// Longest time for that where any verdict will do, in nanoseconds and without switching.
const QUICK_NS: u64 = 120_000_000_000;

/// The experiment that tells whether arms of equal throughput sit on a cap: the same arms at half
/// the depth, the same and twice the depth. `None` if nothing was equal in a closed loop, or no
/// depth can be changed.
pub fn depth_check(spec: &Spec, parts: &[(ExperimentHead, Analysis)]) -> Option<Spec> {
    let equal = parts.iter().filter(|(_, analysis)| may_hide_something(analysis));
    at_depths(spec, equal.map(|(experiment, _)| experiment.spec.workload()))
}

/// The longest [`depth_check`] that may follow `spec`: every phase that can be equal is.
pub fn longest_depth_check(spec: &Spec) -> Option<Spec> {
    at_depths(spec, comparable(spec))
}

fn at_depths<'a>(spec: &Spec, workloads: impl Iterator<Item = &'a Workload>) -> Option<Spec> {
    let loads = workloads.flat_map(depths).map(shortened);
    follow_up(spec, SideRun::DepthCheck, loads.collect(), CHECK_BLOCKS)
}

/// The experiment that shows what a cap hides: the same arms with one I/O in flight, and at a rate
/// below the cap. `None` if nothing is masked.
pub fn below_the_cap(spec: &Spec, parts: &[(ExperimentHead, Analysis)]) -> Option<Spec> {
    let masked = parts.iter().filter(|(_, analysis)| has(analysis, Verdict::Masked));
    let loads = masked.map(|(experiment, analysis)| (experiment.spec.workload(), rates(analysis)));
    at_loads(spec, loads)
}

/// The longest [`below_the_cap`] that may follow `spec`: every phase that can be masked is. How
/// long it takes does not depend on its rates, which only the experiment tells.
pub fn longest_below_the_cap(spec: &Spec) -> Option<Spec> {
    let any_rate = |job: &Job| (job.name.clone(), 1.0);
    let loads = comparable(spec).map(|phase| (phase, phase.jobs.iter().map(any_rate).collect()));
    at_loads(spec, loads)
}

fn at_loads<'a>(
    spec: &Spec,
    workloads: impl Iterator<Item = (&'a Workload, Vec<(String, f64)>)>,
) -> Option<Spec> {
    let loads = workloads.flat_map(|(workload, rates)| {
        [workload.one_at_a_time(), workload.at_rates(&rates)].into_iter().flatten()
    });
    let mut loads: Vec<Workload> = loads.collect();
    let mut max_blocks = spec.stop.max_blocks.clamp(spec.stop.min_blocks, MOST_BLOCKS);
    if spec.stop.mode == StopMode::Quick {
        let trials_ns = |loads: &[Workload]| {
            let trial_ns = loads.iter().map(|load| load.ramp_ns.saturating_add(load.time_ns));
            trial_ns.fold(0, u64::saturating_add).saturating_mul(spec.arms.len() as u64)
        };
        let fit = |loads: &[Workload]| QUICK_NS / trials_ns(loads).max(1);
        // More blocks of shorter trials tell more of a mean. A tail may need longer ones.
        let short = |load| if tail_needs_time(&load) { load } else { shortened(load) };
        loads = loads.into_iter().map(short).collect();
        // The first look needs so many blocks.
        if fit(&loads) < FIRST_LOOK as u64 {
            loads = loads.into_iter().map(shortened).collect();
        }
        let fewest = spec.stop.min_blocks.max(count(FIRST_LOOK));
        let fit = u32::try_from(fit(&loads)).unwrap_or(u32::MAX);
        max_blocks = max_blocks.min(fit.max(fewest));
    }
    follow_up(spec, SideRun::BelowCap, loads, max_blocks)
}

/// Whether there are enough I/Os for a p99 in the window of this load, and not in a shortened one.
fn tail_needs_time(load: &Workload) -> bool {
    let offered = load.primary_job().and_then(|job| job.pace.offered_iops());
    let enough = |time_ns: u64| {
        offered.is_some_and(|iops| iops * time_ns as f64 / 1e9 >= samples_needed(0.99) as f64)
    };
    enough(load.time_ns) && !enough(CHECK_TIME_NS)
}

/// The phases in which throughput is compared.
fn comparable(spec: &Spec) -> impl Iterator<Item = &Workload> {
    let compares = spec.design != Design::Single;
    spec.phases().filter(move |phase| compares && !phase.is_open_loop())
}

/// Whether some comparison of throughput found the arms equal, or a rule about their speed is kept.
fn may_hide_something(analysis: &Analysis) -> bool {
    let is_kept = |judged: &Judgment| {
        let is_about_speed = matches!(judged.rule.condition, Condition::SlowerBy(_));
        is_about_speed && judged.outcome == RuleOutcome::Pass
    };
    let has_kept = analysis.rules.iter().any(is_kept);
    let may_hide = |c: &Comparison| {
        c.verdict == Verdict::Equivalent || has_kept && c.verdict == Verdict::Undecided
    };
    analysis.comparisons.iter().any(|c| may_hide(c) && candidates(c))
}

/// Whether some comparison of throughput earned this word.
fn has(analysis: &Analysis, verdict: Verdict) -> bool {
    analysis.comparisons.iter().any(|c| c.verdict == verdict && candidates(c))
}

/// Nothing, or the workload at two depths at least.
fn depths(workload: &Workload) -> Vec<Workload> {
    let depths: Vec<Workload> =
        Depth::ALL.iter().filter_map(|depth| workload.with_depth(*depth)).collect();
    if depths.len() > 1 { depths } else { Vec::new() }
}

fn shortened(workload: Workload) -> Workload {
    Workload {
        ramp_ns: workload.ramp_ns.min(CHECK_RAMP_NS),
        time_ns: workload.time_ns.min(CHECK_TIME_NS),
        ..workload
    }
}

/// What each job is offered: a share of what the slowest arm made of it.
fn rates(analysis: &Analysis) -> Vec<(String, f64)> {
    let slowest = |iops: Vec<f64>| iops.into_iter().fold(f64::INFINITY, f64::min) * BELOW_CAP;
    let measured: Vec<_> = analysis.arms.iter().filter(|arm| arm.trials > 0).collect();
    let Some(first) = measured.first() else { return Vec::new() };
    let primary = slowest(measured.iter().map(|arm| arm.iops).collect());
    let others = first.other_jobs.iter().map(|job| {
        let of_name =
            measured.iter().flat_map(|arm| &arm.other_jobs).filter(|o| o.name == job.name);
        (job.name.clone(), slowest(of_name.map(|other| other.iops).collect()))
    });
    std::iter::once((analysis.primary.clone(), primary)).chain(others).collect()
}

fn follow_up(spec: &Spec, run: SideRun, phases: Vec<Workload>, max_blocks: u32) -> Option<Spec> {
    if phases.is_empty() || spec.is_of_results() {
        return None;
    }
    let min_blocks = match run {
        SideRun::DepthCheck => FEWEST_BLOCKS,
        _ => spec.stop.min_blocks.min(max_blocks),
    };
    let mode = StopMode::Quick;
    let stop = Stop { mode, min_blocks, max_blocks, max_time_ns: None, ..spec.stop };
    let spec = spec.beside(run, phases, stop);
    spec.validate().is_ok().then_some(spec)
}

#[cfg(test)]
mod tests {
    use iotax_experiment::{Arm, Stop, Target};

    use super::*;

    fn spec(mode: StopMode, arms: usize) -> Spec {
        let mut workload = Workload::preset("randread-4k").unwrap();
        (workload.ramp_ns, workload.time_ns) = (2_000_000_000, 5_000_000_000);
        workload.set("depth=8").unwrap();
        let arm = |at| Arm::new(format!("arm {at}"), Target::parse("mem").unwrap());
        let stop = Stop { mode, ..Stop::default() };
        Spec::compare(workload, (0..arms).map(arm).collect(), stop, 1).unwrap()
    }

    /// Blocks at most, and the seconds that they take.
    fn longest(spec: &Spec) -> (u32, u64) {
        let loads = longest_below_the_cap(spec).unwrap();
        assert_eq!(loads.phases().count(), 2);
        let trial_ns: u64 = loads.phases().map(|load| load.ramp_ns + load.time_ns).sum();
        let blocks = loads.stop.max_blocks;
        (blocks, trial_ns * loads.arms.len() as u64 * u64::from(blocks) / 1_000_000_000)
    }

    #[test]
    fn a_quick_look_below_the_cap_takes_two_minutes_at_most() {
        assert_eq!(longest(&spec(StopMode::Default, 2)), (16, 448));
        assert_eq!(longest(&spec(StopMode::Quick, 2)), (10, 120));
        assert_eq!(longest(&spec(StopMode::Quick, 4)), (5, 120));
        // Four blocks are the least.
        assert_eq!(longest(&spec(StopMode::Quick, 8)), (4, 192));
        let mut few = spec(StopMode::Quick, 2);
        (few.stop.min_blocks, few.stop.max_blocks) = (3, 3);
        assert_eq!(longest(&few), (3, 36));
    }

    #[test]
    fn a_quick_trial_is_as_long_as_a_tail_needs_it_to_be() {
        let spec = spec(StopMode::Quick, 2);
        let window_ns = |iops: f64| {
            let rates = vec![(spec.workload().primary.clone(), iops)];
            let loads = at_loads(&spec, std::iter::once((spec.workload(), rates))).unwrap();
            (loads.phases().map(|load| load.time_ns).last(), loads.stop.max_blocks)
        };
        assert_eq!(window_ns(1_000.0), (Some(CHECK_TIME_NS), 10), "too few in any case");
        assert_eq!(window_ns(3_000.0), (Some(5_000_000_000), 6));
        assert_eq!(window_ns(6_000.0), (Some(CHECK_TIME_NS), 10), "enough in any case");
    }

    #[test]
    fn only_compared_throughput_can_be_masked() {
        let arm = Arm::new("a", Target::parse("mem").unwrap());
        let workload = Workload::preset("randread-4k").unwrap();
        let alone = Spec::single(workload, arm, Stop::default(), 1).unwrap();
        assert!(longest_below_the_cap(&alone).is_none() && longest_depth_check(&alone).is_none());
        let mut offered = spec(StopMode::Quick, 2);
        offered.phases[0].set("rate=100").unwrap();
        assert!(longest_below_the_cap(&offered).is_none());
    }
}
