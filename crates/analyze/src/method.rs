//! The sequential procedure with the settings of one experiment.

use iotax_experiment::rule::Condition;
use iotax_experiment::{Design as Arms, Spec, StopMode};
use iotax_stats::design::Design;
use iotax_stats::gate::Reach;
use iotax_stats::rci::{CriticalValues, Interval};
use iotax_stats::regime::{self, Change};
use iotax_stats::sequential::{Decision, Sequential, Series};
use iotax_stats::stopping::Mode;

use crate::analysis::Estimate;
use crate::conclude::RuleBounds;
use crate::metrics::{Better, Metric, Trait};

/// The first look at the blocks of a comparison. Until then some order of its trials was there once
/// or not at all, and three tosses of a coin agree in one of four runs.
pub const FIRST_LOOK: usize = 4;

/// How every metric of an experiment is concluded on.
#[derive(Debug, Clone)]
pub(crate) struct Method {
    higher_is_better: Sequential,
    lower_is_better: Sequential,
    pub alpha: f64,
    pub margin: f64,
    /// Intervals hold for all comparisons at once.
    pub simultaneous: bool,
    /// Nominal level at which each series of block differences is searched for a change.
    regime_level: f64,
    /// Error rate of each rule about a difference.
    pub rule_alpha: f64,
    /// For bounds that hold at that rate one by one; `None` without such a rule.
    one_sided: Option<CriticalValues>,
}

impl Method {
    pub(crate) fn new(spec: &Spec) -> Self {
        let stop = &spec.stop;
        let comparisons = match &spec.design {
            Arms::Single => 1,
            Arms::Compare => spec.pairs().len().max(1),
            // Each of two against the other is one question.
            Arms::Fleet if spec.arms.len() == 2 => 1,
            Arms::Fleet => spec.arms.len(),
            Arms::Peel { layers, .. } => layers.len().max(1),
        };
        Self::of_family(spec, comparisons, stop.simultaneous || spec.design == Arms::Fleet)
    }

    /// For so many comparisons, whose intervals hold all at once.
    pub(crate) fn simultaneous(spec: &Spec, comparisons: usize) -> Self {
        Self::of_family(spec, comparisons.max(1), true)
    }

    fn of_family(spec: &Spec, comparisons: usize, simultaneous: bool) -> Self {
        let stop = &spec.stop;
        let alpha = if simultaneous { stop.alpha / comparisons as f64 } else { stop.alpha };
        let mode = match stop.mode {
            StopMode::Quick => Mode::Quick,
            StopMode::Default => Mode::Default,
            StopMode::Tight => Mode::Tight,
        };
        let looks = if spec.is_of_slices() { Design::of_slices } else { Design::with_max_blocks };
        let design = looks(stop.max_blocks as usize);
        let has_rules = spec.fail_if.iter().any(|r| matches!(r.condition, Condition::SlowerBy(_)));
        let rule_alpha = stop.alpha / comparisons as f64;
        let higher_is_better = Sequential::new(design, alpha, stop.margin, mode);
        Self {
            lower_is_better: higher_is_better.clone().lower_is_better(),
            higher_is_better,
            alpha: stop.alpha,
            margin: stop.margin,
            simultaneous,
            regime_level: regime_level(spec),
            rule_alpha,
            one_sided: has_rules.then(|| CriticalValues::new(design, 2.0 * rule_alpha)),
        }
    }

    /// Nominal level at which a series of block differences in `metric` is searched for a change
    /// of the effect; `None` where it is not. CPU time does not tell of a device's regime.
    pub(crate) fn regime_level(&self, metric: Metric) -> Option<f64> {
        metric.has(Trait::MayChange).then_some(self.regime_level)
    }

    pub(crate) fn sequential(&self, metric: Metric) -> &Sequential {
        match metric.better() {
            Better::Higher => &self.higher_is_better,
            Better::Lower => &self.lower_is_better,
        }
    }

    /// Takes back a sign; the goals of all metrics are alike.
    pub(crate) fn withhold(&self, decision: &mut Decision) {
        self.higher_is_better.withhold(decision);
    }

    pub(crate) fn design(&self) -> Design {
        self.higher_is_better.design()
    }

    /// What the arm costs by the first `blocks` of `series`, between two bounds each of which holds
    /// at the error rate of a rule.
    pub(crate) fn bounds(
        &self,
        metric: Metric,
        series: Series<'_>,
        blocks: usize,
    ) -> Option<RuleBounds> {
        let critical = self.one_sided.as_ref()?;
        let summary = series.allowed_for(blocks, critical.design())?;
        let log_ratio = critical.interval(&summary);
        let standard_error = summary.standard_error();
        let (half_width, freedom) = (log_ratio.half_width(), summary.blocks - 1);
        let reach = Reach { half_width, standard_error, freedom };
        Some(RuleBounds { cost: self.cost(metric, log_ratio), reach })
    }

    /// Interval of the mean of logarithms of ratios, one per block, at the latest look.
    pub(crate) fn interval(&self, log_ratios: &[f64]) -> Option<Interval> {
        let look = self.look(log_ratios)?;
        self.critical().rci(&log_ratios[..look])
    }

    /// The same as what it costs.
    pub(crate) fn cost(&self, metric: Metric, log_ratio: Interval) -> Interval {
        self.sequential(metric).goal().cost(log_ratio)
    }

    fn look(&self, values: &[f64]) -> Option<usize> {
        self.design().look_at_or_before(values.len()).filter(|look| *look >= FIRST_LOOK)
    }

    /// A change of the level of a series of values, one per block.
    pub(crate) fn monitor(&self, values: &[f64], level: f64) -> Option<Change> {
        if self.design().is_of_slices() {
            regime::monitor_slices(values, level)
        } else {
            regime::monitor(values, level)
        }
    }

    pub(crate) fn critical(&self) -> &CriticalValues {
        self.higher_is_better.critical()
    }

    /// Interval of the mean of `contrasts`, one per block, at the latest look; in their unit.
    pub(crate) fn estimate(&self, contrasts: &[f64]) -> Option<Estimate> {
        let look = self.look(contrasts)?;
        self.critical().rci(&contrasts[..look]).map(Estimate::from)
    }
}

/// All series that are searched share one error rate.
fn regime_level(spec: &Spec) -> f64 {
    let subjects = match &spec.design {
        // Each layer, and the total.
        Arms::Peel { layers, .. } => layers.len() + 1,
        Arms::Fleet => spec.arms.len(),
        Arms::Single | Arms::Compare => spec.arms.len().saturating_sub(1),
    };
    let metrics = Metric::of_workload(spec.workload());
    let series = subjects * metrics.iter().filter(|metric| metric.has(Trait::MayChange)).count();
    regime::LEVEL / series.max(1) as f64
}

#[cfg(test)]
mod tests {
    use iotax_experiment::PART_COUNTS;
    use iotax_stats::design::SLICE_LOOKS;

    #[test]
    fn the_first_look_at_a_recording_is_about_all_of_its_parts() {
        for parts in PART_COUNTS.map(|parts| parts as usize) {
            let first = 8_usize.next_multiple_of(parts);
            assert!(SLICE_LOOKS.contains(&first), "{parts}");
        }
    }
}
