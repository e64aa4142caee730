//! A matrix: effects of the levels of factors over arms that are their combinations.

use iotax_experiment::{Matrix, Setting, Spec, Subject};
use iotax_stats::matrix::{Cells, Level, contrast, interaction};
use iotax_stats::rci::Interval;
use iotax_stats::sample::{count, mean};
use iotax_stats::verdict::Verdict;

use crate::analysis::{
    ArmSummary, Comparison, Estimate, FactorEffect, FactorEffects, FactorInteraction, FactorShift,
};
use crate::block_differences::BlockDifferences;
use crate::blocks::Blocks;
use crate::compare;
use crate::conclude::{Conclusion, conclude};
use crate::facts::{JobFacts, TrialFacts};
use crate::family;
use crate::method::Method;
use crate::metrics::Metric;
use crate::resolution;
use crate::results::{self, Contrast, Sample};

/// The factors of an experiment, and how their effects are concluded on.
#[derive(Debug, Clone)]
pub(crate) struct Factors {
    names: Vec<String>,
    matrix: Matrix,
    cells: Cells,
    levels: Vec<Level>,
    /// Those of the same factor make no pair.
    pairs_of_levels: Vec<[Level; 2]>,
    effects: Method,
    interactions: Method,
}

/// The trials of a level: the pairs of arms whose mean its effect is.
struct Pairs {
    known: Vec<[usize; 2]>,
    stalled: usize,
}

impl Pairs {
    /// Without those of which an arm completed nothing in some trial: these have no size.
    fn of(blocks: &Blocks<'_>, all: Vec<[usize; 2]>) -> Self {
        let stalls = |arm: usize| {
            let mut trials = blocks.all.iter().filter_map(|block| block.trials[arm]);
            trials.any(|trial| trial.stalled_below.is_some())
        };
        let total = all.len();
        let known: Vec<[usize; 2]> =
            all.into_iter().filter(|pair| !pair.iter().any(|arm| stalls(*arm))).collect();
        Self { stalled: total - known.len(), known }
    }
}

impl Factors {
    /// `None` unless its arms make up a matrix.
    pub(crate) fn of(spec: &Spec) -> Option<Self> {
        let matrix = spec.matrix()?;
        let cells = Cells::new(matrix.cells.clone());
        let has_pairs = |level: &Level| !cells.pairs(*level).is_empty();
        let levels: Vec<Level> = cells.levels().into_iter().filter(has_pairs).collect();
        let others =
            |a: Level| levels.iter().filter(move |b| b.factor > a.factor).map(move |b| [a, *b]);
        let crossed =
            |[a, b]: &[Level; 2]| cells.pairs_at(*a, *b).iter().all(|pairs| !pairs.is_empty());
        let pairs_of_levels: Vec<_> =
            levels.iter().flat_map(|a| others(*a)).filter(crossed).collect();
        Some(Self {
            effects: Method::simultaneous(spec, levels.len()),
            interactions: Method::simultaneous(spec, pairs_of_levels.len()),
            names: spec.arms.iter().map(|arm| arm.name.clone()).collect(),
            matrix,
            cells,
            levels,
            pairs_of_levels,
        })
    }

    /// One conclusion per level but the factors' first.
    pub(crate) fn conclude(&self, blocks: &Blocks<'_>, metric: Metric) -> Vec<Conclusion> {
        let rows = self.levels.iter().map(|level| self.row(blocks, *level, metric));
        conclude(&self.effects, rows.collect())
    }

    /// What there is to show. `arms`: the conclusions on each arm against the first; where one is
    /// masked by a cap, so is an effect that rests on it and seems to be none.
    pub(crate) fn analysis(
        &self,
        blocks: &Blocks<'_>,
        metrics: &[Metric],
        arms: &[Comparison],
    ) -> FactorEffects {
        let mut by_metric: Vec<Vec<Conclusion>> =
            metrics.iter().map(|metric| self.conclude(blocks, *metric)).collect();
        family::correct(self.effects.alpha, &mut by_metric);
        let interactions = metrics.first().map_or_else(Vec::new, |metric| {
            let of = |pair: &[Level; 2]| self.interaction(blocks, *pair, *metric);
            self.pairs_of_levels.iter().filter_map(of).collect()
        });
        let pairs = |level: &Level| Pairs::of(blocks, self.cells.pairs(*level));
        self.told(&by_metric, &pairs, arms, interactions)
    }

    /// The same of saved results, which belong to no block. Whether costs depend on each other is
    /// not concluded.
    pub(crate) fn analysis_of_results(
        &self,
        trials: &[TrialFacts],
        metrics: &[Metric],
        arms: &[Comparison],
    ) -> FactorEffects {
        let known = |level: &Level| {
            let has_some = |arm: usize| trials.iter().any(|t| t.usable && t.arm == Some(arm));
            let mut known = self.cells.pairs(*level);
            known.retain(|pair| pair.iter().all(|arm| has_some(*arm)));
            Pairs { known, stalled: 0 }
        };
        let by_metric: Vec<Vec<Conclusion>> = metrics
            .iter()
            .map(|metric| {
                let arms = 0..self.names.len();
                let samples: Vec<Sample> =
                    arms.map(|arm| Sample::of(trials, arm, *metric)).collect();
                let contrast = |level: &Level| {
                    let known = known(level).known.into_iter();
                    let pairs: Vec<[usize; 2]> = known.map(|[with, base]| [base, with]).collect();
                    let subject = Subject::Level(self.setting(*level));
                    Contrast::of(trials, *metric, subject, &samples, &pairs)
                };
                results::family(
                    &self.effects,
                    &self.levels.iter().map(contrast).collect::<Vec<_>>(),
                )
            })
            .collect();
        self.told(&by_metric, &known, arms, Vec::new())
    }

    fn told(
        &self,
        by_metric: &[Vec<Conclusion>],
        pairs: &dyn Fn(&Level) -> Pairs,
        arms: &[Comparison],
        interactions: Vec<FactorInteraction>,
    ) -> FactorEffects {
        let effect = |(at, level): (usize, &Level)| {
            let pairs = pairs(level);
            let of_metric = |conclusions: &Vec<Conclusion>| FactorEffect {
                setting: self.setting(*level),
                against: self.first_of(*level),
                pairs: count(pairs.known.len()),
                stalled_pairs: count(pairs.stalled),
                comparison: seen_through(
                    &conclusions[at].comparison,
                    arms.iter().filter(|arm| self.is_of(arm, &pairs)),
                ),
            };
            by_metric.iter().map(of_metric).collect::<Vec<_>>()
        };
        FactorEffects {
            factors: self.matrix.factors.clone(),
            cells: self.matrix.cells.clone(),
            effects: self.levels.iter().enumerate().flat_map(effect).collect(),
            shifts: Vec::new(),
            interactions,
            unpaired: self.unpaired(),
        }
    }

    /// What each level changed of the figures of `arms`.
    pub(crate) fn shifts(&self, arms: &[ArmSummary]) -> Vec<FactorShift> {
        let shift = |level: &Level| {
            let is_known = |pair: &[usize; 2]| pair.iter().all(|arm| arms[*arm].iops > 0.0);
            let pairs: Vec<[&ArmSummary; 2]> = (self.cells.pairs(*level).into_iter())
                .filter(is_known)
                .map(|pair| pair.map(|arm| &arms[arm]))
                .collect();
            let ratio = |figure: fn(&ArmSummary) -> f64| {
                let logs = pairs.iter().map(|[with, base]| (figure(with) / figure(base)).ln());
                mean(&logs.collect::<Vec<_>>()).exp()
            };
            let times = || pairs.iter().flatten().map(|arm| arm.mean_latency_ns);
            let more = pairs.iter().map(|[with, base]| with.mean_latency_ns - base.mean_latency_ns);
            let latency_ns = mean(&more.collect::<Vec<_>>());
            (!pairs.is_empty()).then(|| FactorShift {
                setting: self.setting(*level),
                against: self.first_of(*level),
                iops: ratio(|arm| arm.iops),
                iops_interval: None,
                bytes_per_s: ratio(|arm| arm.bytes_per_s),
                bytes_per_s_interval: None,
                latency_ns: times().all(|ns| ns > 0.0).then_some(latency_ns),
                latency_interval_ns: None,
                pairs: count(pairs.len()),
            })
        };
        self.levels.iter().filter_map(shift).collect()
    }

    /// The same with intervals, from block to block; as it is, where there are none.
    pub(crate) fn within_blocks(
        &self,
        shifts: Vec<FactorShift>,
        blocks: &Blocks<'_>,
    ) -> Vec<FactorShift> {
        let estimate = |level: &Level, figure: &dyn Fn(&JobFacts) -> f64| {
            let of_trial = |trial: Option<&TrialFacts>| Some(figure(trial?.primary()?));
            let values: Vec<Vec<Option<f64>>> = (blocks.all.iter())
                .map(|block| block.trials.iter().map(|t| of_trial(*t)).collect())
                .collect();
            let Pairs { known, .. } = Pairs::of(blocks, self.cells.pairs(*level));
            let values: Vec<f64> =
                contrast(&values, &known)?.into_iter().map(|(_, value)| value).collect();
            self.effects.estimate(&values).filter(|found| found.value.is_finite())
        };
        let known = |mut shift: FactorShift| {
            let level = self.levels.iter().find(|level| self.setting(**level) == shift.setting)?;
            if let Some(Estimate { value, lo, hi }) = estimate(level, &|job| job.iops().ln()) {
                (shift.iops, shift.iops_interval) = (value.exp(), Some([lo.exp(), hi.exp()]));
            }
            if let Some(found) = estimate(level, &|job| job.bytes_per_s().ln()) {
                shift.bytes_per_s = found.value.exp();
                shift.bytes_per_s_interval = Some([found.lo.exp(), found.hi.exp()]);
            }
            if let Some(found) =
                estimate(level, &|job| job.mean_latency_ns).filter(|_| shift.latency_ns.is_some())
            {
                shift.latency_ns = Some(found.value);
                shift.latency_interval_ns = Some([found.lo, found.hi]);
            }
            Some(shift)
        };
        shifts.into_iter().filter_map(known).collect()
    }

    /// Whether an arm is of one of these pairs.
    fn is_of(&self, arm: &Comparison, pairs: &Pairs) -> bool {
        let place = self.names.iter().position(|own| arm.subject.arm() == Some(own));
        place.is_some_and(|place| pairs.known.iter().flatten().any(|own| *own == place))
    }

    fn unpaired(&self) -> Vec<Setting> {
        let levels = self.cells.levels();
        let unpaired = levels.iter().filter(|level| !self.levels.contains(level));
        unpaired.map(|level| self.setting(*level)).collect()
    }

    fn row(&self, blocks: &Blocks<'_>, level: Level, metric: Metric) -> BlockDifferences {
        let mut row = BlockDifferences::new(Subject::Level(self.setting(level)), metric);
        (row.is_pair, row.may_change) = (false, false);
        let Pairs { known, .. } = Pairs::of(blocks, self.cells.pairs(level));
        let of = |values: &[Vec<Option<f64>>]| contrast(values, &known).unwrap_or_default();
        let logs = of(&logarithms(blocks, metric));
        let figures = of(&figures(blocks, metric));
        for ((block, log_ratio), (_, difference)) in logs.into_iter().zip(figures) {
            row.push_contrast(blocks.all[block].block, log_ratio, difference);
        }
        row.gate = known.iter().find_map(|pair| gate(blocks, *pair, metric));
        let trials = blocks.all.iter().flat_map(|block| block.trials.iter().flatten().copied());
        row.resolution = resolution::of_contrast(metric, trials.clone());
        row.are_of_all = !metric.is_speed() && metric.is_of_all(trials);
        row
    }

    /// Only one that is worth saying: it is there, and it is more than what counts as none, or it
    /// turns the effect round.
    fn interaction(
        &self,
        blocks: &Blocks<'_>,
        [level, with]: [Level; 2],
        metric: Metric,
    ) -> Option<FactorInteraction> {
        let pairs = self.cells.pairs_at(level, with).map(|pairs| Pairs::of(blocks, pairs));
        if pairs.iter().any(|pairs| pairs.stalled > 0) {
            return None;
        }
        let pairs = pairs.map(|pairs| pairs.known);
        let logs = logarithms(blocks, metric);
        let method = &self.interactions;
        let of = |values: &[(usize, f64)]| {
            method.interval(&values.iter().map(|(_, value)| *value).collect::<Vec<_>>())
        };
        let values = interaction(&logs, &pairs);
        let difference = of(&values)?;
        let [at, at_first] = pairs.map(|pairs| of(&contrast(&logs, &pairs)?));
        let (at, at_first) = (at?, at_first?);
        let excludes_zero = |i: &Interval| i.lo > 0.0 || i.hi < 0.0;
        let matters = difference.mean.abs() >= -(-method.margin).ln_1p();
        let turns = excludes_zero(&at) && excludes_zero(&at_first) && at.mean * at_first.mean < 0.0;
        let cost = |interval| Estimate::from(method.cost(metric, interval));
        (excludes_zero(&difference) && matters || turns).then(|| FactorInteraction {
            setting: self.setting(level),
            against: self.first_of(level),
            with: self.setting(with),
            first: self.first_of(with),
            metric,
            at: cost(at),
            at_first: cost(at_first),
            difference: cost(difference),
            blocks: count(values.len()),
        })
    }

    fn setting(&self, level: Level) -> Setting {
        let factor = &self.matrix.factors[level.factor];
        Setting { factor: factor.name.clone(), level: factor.levels[level.level].clone() }
    }

    fn first_of(&self, level: Level) -> String {
        self.matrix.factors[level.factor].levels[0].clone()
    }
}

/// By block, by arm.
fn figures(blocks: &Blocks<'_>, metric: Metric) -> Vec<Vec<Option<f64>>> {
    let arms = blocks.all.first().map_or(0, |block| block.trials.len());
    metric.by_block(blocks.all.len(), arms, |block, arm| blocks.all[block].trials[arm])
}

fn logarithms(blocks: &Blocks<'_>, metric: Metric) -> Vec<Vec<Option<f64>>> {
    let mut figures = figures(blocks, metric);
    figures.iter_mut().flatten().for_each(|figure| *figure = figure.map(f64::ln));
    figures
}

fn gate(blocks: &Blocks<'_>, [with, base]: [usize; 2], metric: Metric) -> Option<Verdict> {
    let pairs =
        blocks.all.iter().filter_map(|block| Some([block.trials[base]?, block.trials[with]?]));
    compare::gate(metric, &pairs.collect::<Vec<_>>())
}

/// An effect that seems to be none, and rests on an arm that a cap masks, is masked, too.
fn seen_through<'a>(
    effect: &Comparison,
    mut arms: impl Iterator<Item = &'a Comparison>,
) -> Comparison {
    let hides = |arm: &&Comparison| arm.verdict == Verdict::Masked && arm.metric == effect.metric;
    match arms.find(hides) {
        Some(masked) if effect.verdict == Verdict::Equivalent => {
            Comparison { verdict: Verdict::Masked, sign: None, cap: masked.cap, ..effect.clone() }
        }
        _ => effect.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_seems_to_be_no_effect_is_masked_where_an_arm_of_it_is() {
        let of = |verdict, arm: &str| Comparison::example(verdict, Subject::Arm(arm.to_owned()));
        let masked = of(Verdict::Masked, "b");
        let equal = of(Verdict::Equivalent, "sec=krb5");
        let seen = |effect: &Comparison, arms: &[&Comparison]| {
            let seen = seen_through(effect, arms.iter().copied());
            (seen.verdict, seen.sign)
        };
        assert_eq!(seen(&equal, &[&masked]), (Verdict::Masked, None));
        assert_eq!(seen(&equal, &[&of(Verdict::Equivalent, "b")]).0, Verdict::Equivalent);
        assert_eq!(seen(&equal, &[]).0, Verdict::Equivalent);
        // What was found was found in spite of the cap.
        let slower = of(Verdict::Slower, "sec=krb5");
        assert_eq!(seen(&slower, &[&masked]).0, Verdict::Slower);
        // A cap on throughput says nothing of CPU time.
        let cpu = Comparison { metric: Metric::CpuPerIo, ..masked };
        assert_eq!(seen(&equal, &[&cpu]).0, Verdict::Equivalent);
    }
}
