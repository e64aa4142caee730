//! The sequential procedure with the settings of one experiment.

use iotax_spec::{Design as Arms, Spec, StopMode};

use crate::analysis::{Estimate, Metric};
use crate::stats::design::Design;
use crate::stats::rci::{CriticalValues, Interval};
use crate::stats::sequential::Sequential;
use crate::stats::stopping::Mode;

/// How every metric of an experiment is concluded on.
#[derive(Debug, Clone)]
pub(crate) struct Method {
    higher_is_better: Sequential,
    lower_is_better: Sequential,
    pub alpha: f64,
    pub margin: f64,
    /// Intervals hold for all comparisons at once.
    pub simultaneous: bool,
}

impl Method {
    pub fn new(spec: &Spec) -> Self {
        let stop = &spec.stop;
        let comparisons = match &spec.design {
            Arms::Single => 1,
            Arms::Compare => spec.arms.len().saturating_sub(1).max(1),
            Arms::Peel { layers, .. } => layers.len().max(1),
        };
        let alpha = if stop.simultaneous { stop.alpha / comparisons as f64 } else { stop.alpha };
        let mode = match stop.mode {
            StopMode::Quick => Mode::Quick,
            StopMode::Default => Mode::Default,
            StopMode::Tight => Mode::Tight,
        };
        let design = Design::with_max_blocks(stop.max_blocks as usize);
        let higher_is_better = Sequential::new(design, alpha, stop.margin, mode);
        Self {
            lower_is_better: higher_is_better.clone().lower_is_better(),
            higher_is_better,
            alpha: stop.alpha,
            margin: stop.margin,
            simultaneous: stop.simultaneous,
        }
    }

    pub fn sequential(&self, metric: Metric) -> &Sequential {
        if metric.is_time() { &self.lower_is_better } else { &self.higher_is_better }
    }

    pub fn design(&self) -> Design {
        self.higher_is_better.design()
    }

    fn critical(&self) -> &CriticalValues {
        self.higher_is_better.critical()
    }

    /// Interval of the mean of `contrasts`, one per block, at the latest look; in their unit.
    pub fn estimate(&self, contrasts: &[f64]) -> Option<Estimate> {
        let look = self.design().look_at_or_before(contrasts.len())?;
        self.critical().rci(&contrasts[..look]).map(Estimate::from)
    }
}

impl Metric {
    /// Whether less is better, and the unit is nanoseconds.
    pub(crate) fn is_time(self) -> bool {
        self != Self::Throughput
    }
}

impl From<Interval> for Estimate {
    fn from(interval: Interval) -> Self {
        Self { value: interval.mean, lo: interval.lo, hi: interval.hi }
    }
}
