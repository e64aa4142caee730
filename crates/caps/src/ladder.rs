//! Throughput and latency over queue depth: is there a plateau, and where does it begin?

use iotax_experiment::Purpose;
use iotax_stats::plateau::{FLAT, PROPORTIONAL};

use crate::found::{DepthStep, Plateau};
use crate::probe::{Ended, Observation};
use crate::scout::{SMALL_BYTES, Shape, TargetSearch};
use crate::{processors, soak};

/// Deepest queue that is tried.
const DEEPEST: u32 = 256;
/// So many times as much is more, and nothing that two measurements differ by.
const ODD: f64 = 1.02;
/// How often what cannot be right is measured again.
const TRIES: usize = 3;
/// Share of the plateau that a useful depth reaches.
const NEARLY: f64 = 0.95;

/// Measures from the top down, so that a target with credits does not earn any meanwhile, and only
/// as many depths as it takes.
pub(crate) fn climb(on: &mut TargetSearch<'_, '_>) -> Result<(), Ended> {
    let expected_iops = on.found.soak_iops.last().copied();
    let mut climb = Climb { on, steps: Vec::new(), expected_iops };
    let mut top = soak::DEPTH;
    climb.at(top)?;
    climb.at(top / 2)?;
    climb.at(top / 4)?;
    climb.settle(top)?;
    while !climb.plateau(top).is_plateau && top < DEEPEST {
        top *= 2;
        climb.at(top)?;
        climb.settle(top)?;
    }
    climb.doubt(top)?;
    climb.on.found.plateau = climb.plateau(top);
    climb.at(1)?;
    climb.knee()?;
    let kernel_threads_share = climb.kernel_threads_share();
    let Climb { on: TargetSearch { found, .. }, steps, .. } = climb;
    found.plateau.kernel_threads_share = kernel_threads_share;
    found.unloaded_latency_ns = steps.first().map(|(step, _)| step.mean_latency_ns);
    let best = steps.iter().map(|(step, _)| step.iops).fold(0.0, f64::max);
    let useful = steps.iter().find(|(step, _)| step.iops >= NEARLY * best);
    found.useful_depth = useful.map(|(step, _)| step.queue_depth);
    found.ladder = steps.into_iter().map(|(step, _)| step).collect();
    Ok(())
}

struct Climb<'o, 's, 'a> {
    on: &'o mut TargetSearch<'s, 'a>,
    /// Ascending by depth.
    steps: Vec<(DepthStep, Observation)>,
    expected_iops: Option<f64>,
}

impl Climb<'_, '_, '_> {
    fn at(&mut self, queue_depth: u32) -> Result<(), Ended> {
        let at = self.steps.binary_search_by_key(&queue_depth, |(step, _)| step.queue_depth);
        let Err(at) = at else { return Ok(()) };
        let shape = Shape {
            purpose: Purpose::OverDepth,
            block_bytes: SMALL_BYTES,
            queue_depth,
            expected_iops: self.expected_iops,
            // Twice the depth brings twice as much at best.
            most_iops: self.expected_iops.map(|iops| 2.2 * iops),
            ..Shape::default()
        };
        let seen = soak::measure(self.on, shape)?;
        let (iops, mean_latency_ns) = (seen.iops(), seen.mean_latency_ns);
        self.expected_iops = Some(iops);
        self.steps.insert(at, (DepthStep { queue_depth, iops, mean_latency_ns }, seen));
        Ok(())
    }

    /// Repeats each depth that reached less than a lower one: more I/Os in flight do not make a target
    /// slower, but what disturbs a measurement does.
    fn settle(&mut self, top: u32) -> Result<(), Ended> {
        for _ in 0..TRIES {
            let upper = || self.steps.iter().filter(|(step, _)| step.queue_depth * 4 >= top);
            let is_odd = |step: &DepthStep| {
                let shallower = upper().filter(|(other, _)| other.queue_depth < step.queue_depth);
                shallower.map(|(other, _)| other.iops).fold(0.0, f64::max) > step.iops * ODD
            };
            let odd: Vec<u32> = upper()
                .filter(|(step, _)| is_odd(step))
                .map(|(step, _)| step.queue_depth)
                .collect();
            if odd.is_empty() || !self.on.scout.may_refine() {
                break;
            }
            for queue_depth in odd {
                self.again(queue_depth)?;
            }
        }
        Ok(())
    }

    /// Measures the depths from `top` down again, if they show no plateau: it may be a disturbance
    /// that looks like growth.
    fn doubt(&mut self, top: u32) -> Result<(), Ended> {
        for _ in 0..TRIES {
            if self.plateau(top).is_plateau || !self.on.scout.may_refine() {
                break;
            }
            for queue_depth in [top, top / 2, top / 4] {
                self.again(queue_depth)?;
            }
        }
        Ok(())
    }

    /// Measures a depth again, and keeps the better of both.
    fn again(&mut self, queue_depth: u32) -> Result<(), Ended> {
        let same = |(step, _): &(DepthStep, Observation)| step.queue_depth == queue_depth;
        let Some(at) = self.steps.iter().position(same) else { return Ok(()) };
        let before = self.steps.remove(at);
        self.at(queue_depth)?;
        if self.steps[at].0.iops < before.0.iops {
            self.steps[at] = before;
        }
        Ok(())
    }

    /// The powers of two on both sides of the depth at which the plateau must begin: by Little's
    /// law the throughput there times the latency of one I/O alone.
    fn knee(&mut self) -> Result<(), Ended> {
        let (Some((bottom, _)), Some((top, _))) = (self.steps.first(), self.steps.last()) else {
            return Ok(());
        };
        let knee = top.iops * bottom.mean_latency_ns / 1e9;
        let (top, mut depth) = (top.queue_depth, 1);
        while f64::from(depth) < knee && depth < top {
            depth *= 2;
        }
        self.at(depth)?;
        self.at((depth / 2).max(1))
    }

    /// Slopes over the three depths from `top` down.
    fn plateau(&self, top: u32) -> Plateau {
        let upper = self.steps.iter().filter(|(step, _)| step.queue_depth * 4 >= top);
        let upper: Vec<&(DepthStep, Observation)> = upper.collect();
        let slope = |of: fn(&DepthStep) -> f64| {
            let depth = |step: &DepthStep| f64::from(step.queue_depth).ln();
            slope(&upper.iter().map(|(s, _)| (depth(s), of(s).ln())).collect::<Vec<_>>())
        };
        let throughput_slope = slope(|step| step.iops);
        let latency_slope = slope(|step| step.mean_latency_ns);
        let off = upper.iter().filter_map(|(_, seen)| littles_law_off(seen)).fold(0.0, f64::max);
        Plateau {
            is_plateau: throughput_slope.abs() <= FLAT
                && (latency_slope - 1.0).abs() <= PROPORTIONAL,
            throughput_slope,
            latency_slope,
            littles_law_off: off,
            thread_busy: upper.last().and_then(|(_, seen)| seen.busy),
            kernel_threads_share: None,
        }
    }

    /// From the depths with the least and the most throughput.
    fn kernel_threads_share(&self) -> Option<f64> {
        let seen = || self.steps.iter().map(|(_, seen)| seen);
        let slow = seen().min_by(|a, b| a.iops().total_cmp(&b.iops()))?;
        let fast = seen().max_by(|a, b| a.iops().total_cmp(&b.iops()))?;
        processors::kernel_share(slow, fast)
    }
}

/// Throughput times latency against I/Os in flight as counted, where they were.
fn littles_law_off(seen: &Observation) -> Option<f64> {
    let by_latency = seen.iops() * seen.mean_latency_ns / 1e9;
    (seen.in_flight > 0.0).then(|| (by_latency / seen.in_flight - 1.0).abs())
}

/// Least-squares slope.
pub(crate) fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (mx, my) =
        (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let covariance: f64 = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    let variance: f64 = points.iter().map(|p| (p.0 - mx).powi(2)).sum();
    if variance > 0.0 { covariance / variance } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn littles_law_is_held_against_what_was_counted_in_flight() {
        let off = |in_flight: f64, mean_latency_ns: f64| {
            let seen =
                Observation { ios: 1000, active_ns: 1_000_000_000, ..Observation::default() };
            littles_law_off(&Observation { mean_latency_ns, in_flight, ..seen })
        };
        assert!((off(32.0, 33.6e6).unwrap() - 0.05).abs() < 1e-12);
        assert!((off(32.0, 30.4e6).unwrap() - 0.05).abs() < 1e-12);
        assert_eq!(off(0.0, 33.6e6), None);
    }
}
