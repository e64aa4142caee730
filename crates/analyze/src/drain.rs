//! Loading an arm until its burst credits are spent, and telling that from the seconds of the load.
//!
//! A credit burst is itself steady: what shows its end is one step down. An arm is drained when its
//! throughput has fallen by such a step ([`two_phase`]) and its last two seconds are no higher than
//! 1.05 times what it then keeps up.
//!
//! A load whose credits are spent already shows no step. Where another phase, or another arm on the
//! same storage, fell to a level in I/Os or bytes per second, and this load stays at that level,
//! it is there for the same reason.

use iotax_experiment::{SidePhase, SideRole, Spec, Stop, StopMode, Workload};
use iotax_stats::bucket::two_phase;
use iotax_stats::sample::mean;

use crate::analysis::{ArmDrain, Comparison, Regime};
use crate::metrics::Trait;

/// Above the level after the step by this factor credits are still, or again, being spent.
const DRAINED: f64 = 1.05;
/// Seconds whose mean is looked at.
const LAST_SECONDS: usize = 2;
/// Seconds that tell whether a load is at a level that is known.
const SPENT_SECONDS: usize = 5;
/// Throughput of a trial above the level after the step by this factor comes from credits.
const BURST: f64 = 1.1;
/// Length of one stretch of draining; after each the seconds so far are looked at.
const STRETCH_NS: u64 = 5_000_000_000;

/// The load that drains each arm of `spec`: each of its phases in stretches, for at most `limit_ns`
/// per arm and phase.
pub fn drain_spec(spec: &Spec, limit_ns: u64) -> Spec {
    let time_ns = STRETCH_NS.min(limit_ns.max(1));
    let stretches = u32::try_from(limit_ns.div_ceil(time_ns).max(1)).unwrap_or(u32::MAX);
    let drains = spec.phases().enumerate().map(|(of, phase)| {
        let load = Workload { ramp_ns: 0, time_ns, ..phase.clone() };
        (SidePhase { of, role: SideRole::Drain }, load)
    });
    let stop = Stop {
        mode: StopMode::Quick,
        min_blocks: stretches,
        max_blocks: stretches,
        max_blocks_asked: true,
        max_time_ns: None,
        ..spec.stop
    };
    spec.beside(drains, stop)
}

/// The seconds of one load while it was driven to spend credits.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stretches {
    /// I/Os of each.
    pub per_second_ios: Vec<u32>,
    /// Mean size of an I/O.
    pub bytes_per_io: f64,
}

/// What is kept up once credits are spent, per second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeptUp {
    iops: f64,
    bytes: f64,
}

impl KeptUp {
    /// `None` if it is not known of this drain.
    pub(crate) fn of(drain: &ArmDrain, stretches: &Stretches) -> Option<Self> {
        let iops = drain.rate_iops?;
        Some(Self { iops, bytes: iops * stretches.bytes_per_io })
    }

    /// Whether another load is at this level, too.
    fn is_of(self, iops: f64, bytes_per_io: f64) -> bool {
        let is_near = |x: f64, level: f64| x <= DRAINED * level && x * DRAINED >= level;
        is_near(iops, self.iops) || is_near(iops * bytes_per_io, self.bytes)
    }
}

/// What an arm did while it was drained. `kept_up`: levels that other loads fell to before, on the
/// same storage.
pub(crate) fn arm(name: &str, stretches: &Stretches, kept_up: &[KeptUp]) -> ArmDrain {
    let seconds: Vec<f64> = stretches.per_second_ios.iter().map(|ios| f64::from(*ios)).collect();
    let step = two_phase(&seconds).filter(|fit| fit.found);
    let last = mean(&seconds[seconds.len().saturating_sub(LAST_SECONDS)..]);
    let step = step.filter(|fit| last <= DRAINED * fit.rate);
    let lately = &seconds[seconds.len().saturating_sub(SPENT_SECONDS)..];
    let level = (lately.len() >= LAST_SECONDS).then(|| mean(lately));
    let is_spent = |iops: &f64| kept_up.iter().any(|of| of.is_of(*iops, stretches.bytes_per_io));
    ArmDrain {
        arm: name.to_owned(),
        seconds: seconds.len() as f64,
        burst_iops: step.map(|fit| fit.peak),
        rate_iops: step.map(|fit| fit.rate).or(level.filter(is_spent)),
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
        let is_spent = |rate| *iops <= BURST * rate;
        let regime = |rate| if is_spent(rate) { Regime::Sustained } else { Regime::Burst };
        drain.regime = drain.rate_iops.map(regime);
    }
    for comparison in comparisons.filter(|c| c.metric.has(Trait::Capped)) {
        let involved = |drain: &&ArmDrain, at: usize| match comparison.subject.arm() {
            Some(arm) => at == 0 || drain.arm == arm,
            None => true,
        };
        let mut regimes = drains
            .iter()
            .enumerate()
            .filter(|(at, drain)| involved(drain, *at))
            .map(|(_, drain)| drain.regime);
        let first = regimes.next().flatten();
        if first.is_some() && regimes.all(|regime| regime == first) {
            comparison.regime = first;
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

    fn arm(per_second_ios: Vec<u32>) -> ArmDrain {
        super::arm("a", &Stretches { per_second_ios, bytes_per_io: 4096.0 }, &[])
    }

    #[test]
    fn an_arm_is_drained_after_a_step_down() {
        let drain = arm(step(12, 8));
        assert_eq!(drain.rate_iops.map(f64::round), Some(1001.0));
        assert_eq!(drain.burst_iops.map(f64::round), Some(3001.0));
        assert_eq!(drain.spent_ios.map(|ios| (ios / 1000.0).round()), Some(24.0));
    }

    #[test]
    fn an_arm_without_a_step_is_not_known_to_be_drained() {
        assert_eq!(arm(step(20, 0)).rate_iops, None);
        assert_eq!(arm(step(4, 2)).rate_iops, None, "too short to tell");
    }

    #[test]
    fn an_arm_that_bursts_again_is_not_drained() {
        let mut seconds = step(12, 12);
        seconds.extend([3000, 3000]);
        assert_eq!(arm(seconds).rate_iops, None);
    }

    #[test]
    fn trials_above_the_level_after_the_step_are_a_burst() {
        let mut drains = [arm(step(12, 8)), arm(step(12, 8))];
        label(&mut drains, &[1020.0, 2900.0], std::iter::empty());
        let regimes = drains.each_ref().map(|drain| drain.regime);
        assert_eq!(regimes, [Some(Regime::Sustained), Some(Regime::Burst)]);
    }

    #[test]
    fn a_load_at_a_level_that_another_fell_to_has_no_credits_either() {
        let kept_up = KeptUp { iops: 400.0, bytes: 400.0 * 65_536.0 };
        let rate = |iops: u32, seconds: usize, bytes_per_io: f64| {
            let stretches = Stretches { per_second_ios: vec![iops; seconds], bytes_per_io };
            super::arm("a", &stretches, &[kept_up]).rate_iops
        };
        assert_eq!(rate(405, 5, 4096.0), Some(405.0), "as many I/Os");
        assert_eq!(rate(100, 5, 262_144.0), Some(100.0), "as many bytes");
        assert_eq!(rate(405, 1, 4096.0), None, "too short to tell");
        for (iops, bytes_per_io) in [(1200, 4096.0), (200, 4096.0), (300, 262_144.0)] {
            assert_eq!(rate(iops, 5, bytes_per_io), None, "{iops} of {bytes_per_io}");
        }
    }
}
