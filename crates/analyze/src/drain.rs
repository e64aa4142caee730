//! Loading an arm until its burst credits are spent, and telling that from the seconds of the load.
//!
//! A credit burst is itself steady: what shows its end is one step down. An arm is drained when its
//! throughput has fallen by such a step ([`two_phase`]) and its last two seconds are no higher than
//! 1.05 times what it then keeps up.

use iotax_spec::{SideRuns, Spec, Stop, StopMode, Workload};

use crate::analysis::{ArmDrain, Comparison};
use crate::stats::bucket::two_phase;
use crate::stats::sample::mean;

/// Above the level after the step by this factor credits are still, or again, being spent.
const DRAINED: f64 = 1.05;
/// Seconds whose mean is looked at.
const LAST_SECONDS: usize = 2;
/// Throughput of a trial above the level after the step by this factor comes from credits.
const BURST: f64 = 1.1;
/// Length of one stretch of draining; after each the seconds so far are looked at.
const STRETCH_NS: u64 = 5_000_000_000;

/// The load that drains each arm of `spec`: its first phase in stretches, for at most `limit_ns`
/// per arm.
pub fn drain_spec(spec: &Spec, limit_ns: u64) -> Spec {
    let time_ns = STRETCH_NS.min(limit_ns.max(1));
    let stretches = u32::try_from(limit_ns.div_ceil(time_ns).max(1)).unwrap_or(u32::MAX);
    let name = format!("{} to drain credits", spec.workload.name);
    let workload = Workload { name, ramp_ns: 0, time_ns, ..spec.workload.clone() };
    let stop = Stop {
        mode: StopMode::Quick,
        min_blocks: stretches,
        max_blocks: stretches,
        max_time_ns: None,
        ..spec.stop
    };
    let side_runs = SideRuns::default();
    Spec { workload, then: Vec::new(), suite: None, stop, side_runs, ..spec.clone() }
}

/// What an arm did while it was drained, from the I/Os of its seconds.
pub(crate) fn arm(name: &str, per_second_ios: &[u32]) -> ArmDrain {
    let seconds: Vec<f64> = per_second_ios.iter().map(|ios| f64::from(*ios)).collect();
    let step = two_phase(&seconds).filter(|fit| fit.found);
    let last = mean(&seconds[seconds.len().saturating_sub(LAST_SECONDS)..]);
    let step = step.filter(|fit| last <= DRAINED * fit.rate);
    ArmDrain {
        arm: name.to_owned(),
        seconds: seconds.len() as f64,
        burst_iops: step.map(|fit| fit.peak),
        rate_iops: step.map(|fit| fit.rate),
        spent_ios: step.map(|fit| fit.burst),
        regime: None,
    }
}

/// Says of each drained arm which regime its trials were in, and of each comparison of throughput
/// where that is the same for all `involved` arms. `iops`: mean of each arm's trials.
pub(crate) fn label<'a>(
    drains: &mut [ArmDrain],
    iops: &[f64],
    comparisons: impl Iterator<Item = &'a mut Comparison>,
) {
    for (drain, iops) in drains.iter_mut().zip(iops) {
        let regime = |rate| if *iops <= BURST * rate { "sustained" } else { "burst" };
        drain.regime = drain.rate_iops.map(|rate| regime(rate).to_owned());
    }
    for comparison in comparisons.filter(|c| c.metric.is_capped()) {
        let involved = |drain: &&ArmDrain, at: usize| match &comparison.arm {
            Some(arm) => at == 0 || drain.arm == *arm,
            None => true,
        };
        let mut regimes = drains
            .iter()
            .enumerate()
            .filter(|(at, drain)| involved(drain, *at))
            .map(|(_, drain)| drain.regime.as_ref());
        let first = regimes.next().flatten();
        if first.is_some() && regimes.all(|regime| regime == first) {
            comparison.regime = first.cloned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(before: usize, after: usize) -> Vec<u32> {
        let wobble = |at: usize| u32::try_from(at % 3).unwrap();
        let burst = (0..before).map(|at| 3000 + wobble(at));
        burst.chain((0..after).map(|at| 1000 + wobble(at))).collect()
    }

    #[test]
    fn an_arm_is_drained_after_a_step_down() {
        let drain = arm("a", &step(12, 8));
        assert_eq!(drain.rate_iops.map(f64::round), Some(1001.0));
        assert_eq!(drain.burst_iops.map(f64::round), Some(3001.0));
        assert_eq!(drain.spent_ios.map(|ios| (ios / 1000.0).round()), Some(24.0));
    }

    #[test]
    fn an_arm_without_a_step_is_not_known_to_be_drained() {
        assert_eq!(arm("a", &step(20, 0)).rate_iops, None);
        assert_eq!(arm("a", &step(4, 2)).rate_iops, None, "too short to tell");
    }

    #[test]
    fn an_arm_that_bursts_again_is_not_drained() {
        let mut seconds = step(12, 12);
        seconds.extend([3000, 3000]);
        assert_eq!(arm("a", &seconds).rate_iops, None);
    }

    #[test]
    fn trials_above_the_level_after_the_step_are_a_burst() {
        let mut drains = [arm("a", &step(12, 8)), arm("b", &step(12, 8))];
        label(&mut drains, &[1020.0, 2900.0], std::iter::empty());
        let regimes = drains.each_ref().map(|drain| drain.regime.as_deref());
        assert_eq!(regimes, [Some("sustained"), Some("burst")]);
    }
}
