//! How throughput and latency of one arm answer to the number of I/Os in flight.
//!
//! On a plateau more I/Os in flight only wait longer: throughput stays (slope of ln X over ln depth
//! within 0 +- .05) and latency grows in proportion (slope of ln R within 1 +- .1). Slopes are
//! taken block by block between neighbouring depths, which drift and a change of regime cannot
//! feign, and their intervals are repeated ones: more blocks are run until they are clear.

use iotax_stats::design::Design;
use iotax_stats::plateau::{BUSY, FLAT, PROPORTIONAL};
use iotax_stats::rci::{CriticalValues, Interval};
use iotax_stats::sample::{all_finite, mean, variance};
use iotax_stats::student::critical_t;

use crate::analysis::{ArmDepths, DepthLevel, DepthResponse};

/// Slope of throughput from which on it follows the depth.
const FOLLOWS: f64 = 0.9;
/// Level of the intervals.
const ALPHA: f64 = 0.05;
/// Blocks of a depth check at most. Capped arms hardly differ from block to block.
pub(super) const MOST_BLOCKS: u32 = 10;
/// Values below which there is no spread to judge by.
const MIN_VALUES: usize = 3;

/// The trials of one arm at one depth.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Level {
    /// I/Os in flight that were asked for.
    pub in_flight: u32,
    /// Whether this is the depth of the comparison.
    pub is_own: bool,
    /// `(block, I/Os per second, bytes per second, mean latency in nanoseconds)`.
    pub trials: Vec<(u32, f64, f64, f64)>,
    /// Mean share of its time that the busiest CPU or thread worked.
    pub busy: Option<f64>,
}

/// What the levels of one arm, by ascending depth, say.
pub(crate) fn arm(name: &str, levels: &[Level]) -> ArmDepths {
    let busy = levels.iter().find(|level| level.is_own).and_then(|level| level.busy);
    let shown = |level: &Level| {
        let iops = mean_of(level, |(_, iops, ..)| iops);
        DepthLevel {
            in_flight: level.in_flight,
            iops,
            bytes_per_s: mean_of(level, |(_, _, bytes, _)| bytes),
            // By the I/Os behind it, in windows of one length.
            mean_latency_ns: mean_of(level, |(_, iops, _, latency)| latency * iops) / iops,
            is_own: level.is_own,
        }
    };
    ArmDepths {
        arm: name.to_owned(),
        response: response(levels, busy.is_some_and(|busy| busy >= BUSY)),
        busy,
        levels: levels.iter().map(shown).collect(),
    }
}

fn mean_of(level: &Level, figure: fn((u32, f64, f64, f64)) -> f64) -> f64 {
    mean(&level.trials.iter().copied().map(figure).collect::<Vec<_>>())
}

/// A step from one depth to the next above.
struct Step {
    throughput: Interval,
    latency: Interval,
    /// Whether it begins at the depth of the comparison.
    is_above: bool,
}

fn response(levels: &[Level], is_busy: bool) -> DepthResponse {
    let steps: Vec<Step> = levels.windows(2).filter_map(|pair| step(&pair[0], &pair[1])).collect();
    let is_flat = |s: &Step| s.throughput.lo > -FLAT && s.throughput.hi < FLAT;
    let in_proportion = |s: &Step| (s.latency.lo - 1.0).abs().max((s.latency.hi - 1.0).abs());
    if steps.iter().any(|s| is_flat(s) && in_proportion(s) <= PROPORTIONAL) {
        return if is_busy { DepthResponse::LocalBottleneck } else { DepthResponse::Plateau };
    }
    let follows = |s: &Step| s.throughput.lo > if s.is_above { FLAT } else { FOLLOWS };
    // Less with more in flight: contention, or credits that ran out meanwhile.
    let falls = steps.iter().any(|s| s.throughput.hi < -FLAT);
    if !falls && steps.iter().any(follows) {
        DepthResponse::Scales
    } else if is_busy {
        DepthResponse::LocalBottleneck
    } else if !falls && steps.iter().any(|s| is_flat(s) && s.latency.hi < 1.0 - PROPORTIONAL) {
        DepthResponse::NotReached
    } else {
        DepthResponse::Unclear
    }
}

/// Slopes between two depths, over the blocks that have both.
fn step(below: &Level, above: &Level) -> Option<Step> {
    let distance = (f64::from(above.in_flight) / f64::from(below.in_flight)).ln();
    let (mut throughput, mut latency) = (Vec::new(), Vec::new());
    for (block, iops, _, time) in &below.trials {
        let Some((_, more_iops, _, more_time)) = above.trials.iter().find(|t| t.0 == *block) else {
            continue;
        };
        throughput.push((more_iops / iops).ln() / distance);
        latency.push((more_time / time).ln() / distance);
    }
    let design = Design::with_max_blocks(MOST_BLOCKS as usize);
    let critical = CriticalValues::new(design, ALPHA);
    let look = design.look_at_or_before(throughput.len())?;
    let slope = |slopes: &[f64]| critical.rci(&slopes[..look]);
    Some(Step {
        throughput: slope(&throughput)?,
        latency: slope(&latency)?,
        is_above: below.is_own,
    })
}

/// Student's interval of a mean; `None` where there is no spread to judge by.
pub(super) fn interval(values: &[f64]) -> Option<Interval> {
    let n = values.len();
    if n < MIN_VALUES || !all_finite(values) {
        return None;
    }
    let half = critical_t(ALPHA, n - 1) * (variance(values) / n as f64).sqrt();
    Some(Interval::around(mean(values), half))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A level whose figures differ by a thousandth from block to block.
    fn level(in_flight: u32, is_own: bool, iops: f64, latency_ns: f64) -> Level {
        let wobble = |block: u32| 1.0 + 0.001 * f64::from(block % 2);
        let trial =
            |block| (block, iops * wobble(block), 4096.0 * iops, latency_ns * wobble(block));
        Level { in_flight, is_own, trials: (0..4).map(trial).collect(), busy: Some(0.2) }
    }

    fn found(figures: [(f64, f64); 3]) -> DepthResponse {
        let [half, own, double] = figures;
        let levels = [
            level(4, false, half.0, half.1),
            level(8, true, own.0, own.1),
            level(16, false, double.0, double.1),
        ];
        arm("a", &levels).response
    }

    #[test]
    fn the_same_throughput_and_a_latency_in_proportion_are_a_plateau() {
        assert_eq!(found([(4e3, 1e6), (4e3, 2e6), (4e3, 4e6)]), DepthResponse::Plateau);
    }

    #[test]
    fn a_plateau_that_begins_at_the_depth_of_the_comparison_is_one() {
        assert_eq!(found([(3e3, 1.3e6), (4e3, 2e6), (4e3, 4e6)]), DepthResponse::Plateau);
    }

    #[test]
    fn throughput_that_grows_beyond_the_depth_is_below_every_cap() {
        assert_eq!(found([(1e3, 2e6), (2e3, 2e6), (3e3, 2.6e6)]), DepthResponse::Scales);
    }

    #[test]
    fn half_the_depth_alone_must_halve_throughput_to_rule_a_cap_out() {
        let halves = |iops| {
            let levels = [level(4, false, iops, 2e6), level(8, true, 2e3, 2e6)];
            arm("a", &levels).response
        };
        assert_eq!(halves(1e3), DepthResponse::Scales);
        assert_eq!(halves(1.5e3), DepthResponse::Unclear);
    }

    #[test]
    fn a_depth_that_changes_nothing_at_all_never_reached_the_storage() {
        assert_eq!(found([(2e3, 5e5), (2e3, 5e5), (2e3, 5e5)]), DepthResponse::NotReached);
    }

    #[test]
    fn credits_that_run_out_in_between_decide_nothing() {
        assert_eq!(found([(4e3, 1e6), (4e3, 1e6), (1e3, 16e6)]), DepthResponse::Unclear);
    }

    #[test]
    fn a_busy_cpu_is_the_limit_itself() {
        let mut own = level(8, true, 4e3, 2e6);
        own.busy = Some(0.97);
        let levels = [level(4, false, 4e3, 1e6), own];
        assert_eq!(arm("a", &levels).response, DepthResponse::LocalBottleneck);
        let mut double = level(16, false, 6e3, 2.6e6);
        double.busy = Some(0.99);
        let grows = [levels[1].clone(), double];
        assert_eq!(arm("a", &grows).response, DepthResponse::Scales, "busy, but not the limit yet");
    }

    #[test]
    fn noise_and_missing_blocks_decide_nothing() {
        let mut noisy = level(8, true, 4e3, 2e6);
        noisy.trials[0].1 = 5e3;
        assert_eq!(arm("a", &[level(4, false, 4e3, 1e6), noisy]).response, DepthResponse::Unclear);
        let mut cut = level(8, true, 4e3, 2e6);
        cut.trials.truncate(2);
        assert_eq!(arm("a", &[level(4, false, 4e3, 1e6), cut]).response, DepthResponse::Unclear);
    }
}
