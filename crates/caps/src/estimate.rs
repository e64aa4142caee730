//! A cap, from many short windows: the highest level that repeats, if one does, and else the mean
//! of the measurements with an interval that holds at whichever of them one stops.

use iotax_stats::ceiling::{REPEATS, ceiling};
use iotax_stats::design::Design;
use iotax_stats::levels::has_another;
use iotax_stats::rci::CriticalValues;
use iotax_stats::sample::{count, median};

use crate::found::{Cap, CapKind};
use crate::probe::{Ended, Observation};
use crate::processors::Busy;
use crate::reason::CapReason;
use crate::scout::{Shape, TargetSearch};
use crate::soak;

/// Half-width at which an interval is narrow enough, as a share of the cap.
const NARROW: f64 = 0.01;
/// Half-width beyond which something else than a device's own noise is at work.
const NOISE: f64 = 0.1;
/// Measurements, at least.
const FEWEST: usize = 3;
/// Measurements at most, and the same with `--quick`.
const MOST: usize = 10;
const MOST_QUICK: usize = 8;
/// Measurements at most where a ceiling begins to show, or the load had to wait for CPUs.
const MOST_DISTURBED: usize = 16;
/// Error rate of the intervals.
const ALPHA: f64 = 0.05;

/// What was measured again and again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Series {
    /// Of each measurement, the logarithm of its rate.
    logs: Vec<f64>,
    /// Rates of windows.
    pub windows: Vec<f64>,
    /// Share of a window's rate that an I/O makes; the most of all windows.
    grain: f64,
    /// The measurements.
    pub seen: Vec<Observation>,
    /// Whether time was up before they were enough.
    pub is_cut: bool,
}

/// A rate with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Estimate {
    pub rate: f64,
    pub lo: f64,
    pub hi: f64,
    /// Windows come to it again and again, and not beyond.
    pub is_ceiling: bool,
}

impl Estimate {
    /// As a cap, of what was measured with I/Os like these.
    pub(crate) fn cap(
        &self,
        series: &Series,
        shape: Shape,
        kind: CapKind,
        reason: CapReason,
    ) -> Cap {
        Cap {
            cap: self.rate,
            lo: self.lo,
            hi: self.hi,
            measurements: count(series.seen.len()),
            block_bytes: shape.block_bytes,
            queue_depth: shape.queue_depth,
            kind,
            reason,
            burst: None,
        }
    }

    /// The logarithm of its upper end over its lower.
    pub(crate) fn width(&self) -> f64 {
        (self.hi / self.lo).ln()
    }
}

impl Series {
    /// Adds a measurement of this rate.
    fn add(&mut self, seen: Observation, rate: f64) {
        let unit = rate / seen.iops();
        self.logs.push(rate.ln());
        self.windows.extend(seen.windows().iter().map(|iops| iops * unit));
        self.grain = self.grain.max(seen.grain());
        self.seen.push(seen);
    }

    /// `None` for fewer than three measurements.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        let mean = critical().rci(&self.logs)?;
        if let Some(found) = ceiling(&self.windows, self.grain) {
            let (rate, lo, hi) = (found.level, found.lo, found.hi);
            return Some(Estimate { rate, lo, hi, is_ceiling: true });
        }
        let [rate, lo, hi] = [mean.mean, mean.lo, mean.hi].map(f64::exp);
        Some(Estimate { rate, lo, hi, is_ceiling: false })
    }

    /// How far the measurements are apart, as a logarithm.
    pub(crate) fn spread(&self) -> f64 {
        let most = self.logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most - self.logs.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// What was reached at least. Not the most: a window whose edges a pause has moved has more
    /// than its share.
    pub(crate) fn reached(&self) -> f64 {
        median(&self.windows)
    }

    fn is_enough(&self, critical: &CriticalValues, quick: bool) -> bool {
        let times = self.seen.len();
        if times < FEWEST {
            return false;
        }
        let is_narrow = || critical.rci(&self.logs).is_some_and(|i| i.half_width() <= NARROW);
        let ceiling = ceiling(&self.windows, self.grain);
        // One that it leaves for another level is none.
        if let Some(ceiling) = ceiling
            && has_another(&self.windows, ceiling.level)
        {
            return times >= MOST_DISTURBED;
        }
        if ceiling.is_some() || (critical.design().is_look(times) && is_narrow()) {
            return true;
        }
        let usual = if quick { MOST_QUICK } else { MOST };
        let is_noise = || critical.rci(&self.logs).is_some_and(|i| i.half_width() <= NOISE);
        let is_disturbed = self.may_have_a_ceiling() || !is_noise();
        times >= if is_disturbed { MOST_DISTURBED } else { usual }
    }

    /// The highest windows are alike, or CPUs were missing, which lowers some of them.
    fn may_have_a_ceiling(&self) -> bool {
        let highest = self.windows.iter().copied().fold(0.0, f64::max);
        let is_near = |rate: f64| rate >= highest * (1.0 - 2.0 * REPEATS.max(self.grain));
        self.windows.iter().filter(|rate| is_near(**rate)).count() > 1
            || Busy::of(&self.seen, 0.0).taken().is_some()
    }
}

/// Measures each of these in random order, again and again, until each has a ceiling or a narrow
/// interval. `rate` is what an observation says of a shape.
pub(crate) fn again(
    on: &mut TargetSearch<'_, '_>,
    shapes: &[Shape],
    rate: impl Fn(usize, &Observation) -> f64,
) -> Result<Vec<Series>, Ended> {
    let mut measured = vec![Series::default(); shapes.len()];
    let critical = critical();
    let quick = on.scout.search.quick;
    while measured.iter().any(|series| !series.is_enough(&critical, quick)) {
        if measured.iter().all(|series| series.seen.len() >= FEWEST) && !on.scout.may_refine() {
            for series in &mut measured {
                series.is_cut = !series.is_enough(&critical, quick);
            }
            break;
        }
        for at in on.scout.order(shapes.len()) {
            if measured[at].is_enough(&critical, quick)
                || measured[at].seen.len() >= FEWEST && !on.scout.may_refine()
            {
                continue;
            }
            let seen = soak::measure(on, shapes[at])?;
            let rate = rate(at, &seen);
            measured[at].add(seen, rate);
        }
    }
    Ok(measured)
}

fn critical() -> CriticalValues {
    CriticalValues::new(Design::with_max_blocks(MOST_DISTURBED), ALPHA)
}
