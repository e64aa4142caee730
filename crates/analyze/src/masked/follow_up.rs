//! The experiments that follow one whose arms turned out equal.

use iotax_experiment::rule::{Condition, RuleOutcome};
use iotax_experiment::{Depth, Design, Job, SidePhase, SideRole, Spec, Stop, StopMode, Workload};
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
/// Where trials are slices: how many a window of it is as long as.
const CHECK_SLICES: u64 = 3;
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
    at_depths(spec, parts.iter().map(|(_, analysis)| may_hide_something(analysis)))
}

/// The longest [`depth_check`] that may follow `spec`: every phase that can be equal is.
pub fn longest_depth_check(spec: &Spec) -> Option<Spec> {
    at_depths(spec, spec.phases().map(|phase| is_comparable(spec, phase)))
}

/// `chosen`: which of the phases.
fn at_depths(spec: &Spec, chosen: impl Iterator<Item = bool>) -> Option<Spec> {
    let stop = Stop {
        mode: StopMode::Quick,
        min_blocks: FEWEST_BLOCKS,
        max_blocks: CHECK_BLOCKS,
        max_blocks_asked: true,
        max_time_ns: None,
        ..spec.stop
    };
    let chosen = spec.phases().enumerate().zip(chosen).filter(|(_, chosen)| *chosen);
    let loads = chosen.flat_map(|((of, phase), _)| depths(of, phase)).collect();
    follow_up(spec, loads, stop)
}

/// The experiment that shows what a cap hides: the same arms with one I/O in flight, and at a rate
/// below the cap. `None` if nothing is masked.
pub fn below_the_cap(spec: &Spec, parts: &[(ExperimentHead, Analysis)]) -> Option<Spec> {
    let rates = |(_, analysis): &(_, _)| has(analysis, Verdict::Masked).then(|| rates(analysis));
    at_loads(spec, parts.iter().map(rates))
}

/// The longest [`below_the_cap`] that may follow `spec`: every phase that can be masked is. How
/// long it takes does not depend on its rates, which only the experiment tells.
pub fn longest_below_the_cap(spec: &Spec) -> Option<Spec> {
    let any_rate = |job: &Job| (job.name.clone(), 1.0);
    let rates =
        |phase| is_comparable(spec, phase).then(|| phase.jobs.iter().map(any_rate).collect());
    at_loads(spec, spec.phases().map(rates))
}

/// `rates`: by phase, what is offered to each job by its name; `None` for a phase that is left out.
fn at_loads(spec: &Spec, rates: impl Iterator<Item = Option<Vec<(String, f64)>>>) -> Option<Spec> {
    let mut loads = Vec::new();
    for ((of, phase), rates) in spec.phases().enumerate().zip(rates) {
        let Some(rates) = rates else { continue };
        let phase = phase.clone().unsliced();
        let one = (SideRole::OneAtATime, phase.one_at_a_time());
        for (role, load) in [one, (SideRole::BelowCap, phase.at_rates(&rates))] {
            loads.extend(load.map(|load| (SidePhase { of, role }, load)));
        }
    }
    let mut max_blocks = spec.stop.max_blocks.clamp(spec.stop.min_blocks, MOST_BLOCKS);
    if spec.stop.mode == StopMode::Quick {
        let trials_ns = |loads: &[(SidePhase, Workload)]| {
            let trial_ns = loads.iter().map(|(_, load)| load.ramp_ns.saturating_add(load.time_ns));
            trial_ns.fold(0, u64::saturating_add).saturating_mul(spec.arms.len() as u64)
        };
        let fit = |loads: &[_]| QUICK_NS / trials_ns(loads).max(1);
        // More blocks of shorter trials tell more of a mean. A tail may need longer ones.
        for (_, load) in loads.iter_mut().filter(|(_, load)| !tail_needs_time(load)) {
            shorten(load);
        }
        // The first look needs so many blocks.
        if fit(&loads) < FIRST_LOOK as u64 {
            for (_, load) in &mut loads {
                shorten(load);
            }
        }
        let fewest = spec.stop.min_blocks.max(count(FIRST_LOOK));
        let fit = u32::try_from(fit(&loads)).unwrap_or(u32::MAX);
        max_blocks = max_blocks.min(fit.max(fewest));
    }
    let stop = Stop {
        mode: StopMode::Quick,
        min_blocks: spec.stop.min_blocks.min(max_blocks),
        max_blocks,
        max_blocks_asked: true,
        max_time_ns: None,
        ..spec.stop
    };
    follow_up(spec, loads, stop)
}

/// Whether there are enough I/Os for a p99 in the window of this load, and not in a shortened one.
fn tail_needs_time(load: &Workload) -> bool {
    let offered = load.primary_job().and_then(|job| job.pace.offered_iops());
    let enough = |time_ns: u64| {
        offered.is_some_and(|iops| iops * time_ns as f64 / 1e9 >= samples_needed(0.99) as f64)
    };
    enough(load.time_ns) && !enough(CHECK_TIME_NS)
}

/// Whether throughput is compared in a phase.
fn is_comparable(spec: &Spec, phase: &Workload) -> bool {
    spec.design != Design::Single && !phase.is_open_loop()
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

/// Nothing, or a phase at two depths at least.
fn depths(of: usize, phase: &Workload) -> Vec<(SidePhase, Workload)> {
    let mut depths = Vec::new();
    for depth in Depth::ALL {
        let Some(mut load) = phase.with_depth(depth) else { continue };
        let is_sliced = load.is_sliced();
        load.slices = None;
        if is_sliced {
            load.time_ns = load.time_ns.saturating_mul(CHECK_SLICES);
        }
        shorten(&mut load);
        depths.push((SidePhase { of, role: SideRole::Depth(depth) }, load));
    }
    if depths.len() > 1 { depths } else { Vec::new() }
}

fn shorten(load: &mut Workload) {
    load.ramp_ns = load.ramp_ns.min(CHECK_RAMP_NS);
    load.time_ns = load.time_ns.min(CHECK_TIME_NS);
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

fn follow_up(spec: &Spec, phases: Vec<(SidePhase, Workload)>, stop: Stop) -> Option<Spec> {
    if phases.is_empty() || spec.is_of_results() {
        return None;
    }
    let spec = spec.beside(phases, stop);
    spec.validate().is_ok().then_some(spec)
}

#[cfg(test)]
mod tests {
    use iotax_experiment::{Arm, Target};

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
        let few = spec(StopMode::Quick, 2)
            .with(|few| (few.stop.min_blocks, few.stop.max_blocks) = (3, 3));
        assert_eq!(longest(&few), (3, 36));
    }

    #[test]
    fn a_quick_trial_is_as_long_as_a_tail_needs_it_to_be() {
        let spec = spec(StopMode::Quick, 2);
        let window_ns = |iops: f64| {
            let rates = vec![(spec.workload().primary.clone(), iops)];
            let loads = at_loads(&spec, std::iter::once(Some(rates))).unwrap();
            (loads.phases().map(|load| load.time_ns).last(), loads.stop.max_blocks)
        };
        assert_eq!(window_ns(1_000.0), (Some(CHECK_TIME_NS), 10), "too few in any case");
        assert_eq!(window_ns(3_000.0), (Some(5_000_000_000), 6));
        assert_eq!(window_ns(6_000.0), (Some(CHECK_TIME_NS), 10), "enough in any case");
    }

    /// What a side run does is known by what is recorded, whatever workloads are called.
    #[test]
    fn names_of_workloads_mean_nothing() {
        let spec = spec(StopMode::Default, 2).with(|spec| {
            let like = spec.phases.remove(0);
            let named = |name: &str| Workload { name: name.to_owned(), ..like.clone() };
            spec.phases = ["drain", "x", "x at half depth", "x, below the cap"].map(named).into();
        });
        let check = longest_depth_check(&spec).unwrap();
        assert_eq!(check.validate(), Ok(()));
        let all = (0..4)
            .flat_map(|of| Depth::ALL.map(|depth| SidePhase { of, role: SideRole::Depth(depth) }));
        assert_eq!(check.side_phases, all.collect::<Vec<_>>());
        let below = longest_below_the_cap(&spec).unwrap();
        assert_eq!(below.side_phases[6], SidePhase { of: 3, role: SideRole::OneAtATime });
        assert_eq!(below.phase(6).unwrap().side_phases, [below.side_phases[6]]);
        assert_eq!(below.phases[7].name, "x, below the cap below the cap");
    }

    #[test]
    fn only_compared_throughput_can_be_masked() {
        let arm = Arm::new("a", Target::parse("mem").unwrap());
        let workload = Workload::preset("randread-4k").unwrap();
        let alone = Spec::single(workload, arm, Stop::default(), 1).unwrap();
        assert!(longest_below_the_cap(&alone).is_none() && longest_depth_check(&alone).is_none());
        let offered =
            spec(StopMode::Quick, 2).with(|offered| offered.phases[0].set("rate=100").unwrap());
        assert!(longest_below_the_cap(&offered).is_none());
    }
}
