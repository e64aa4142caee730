//! Arms that are saved results: independent samples instead of blocks. The unit is the result: the
//! trials of a record share a day and a machine, so their spread is not that of results.

use std::collections::BTreeMap;

use iotax_experiment::{Pace, Spec, Subject, Workload};
use iotax_stats::holm;
use iotax_stats::rci::Interval;
use iotax_stats::sample::{count, mean};
use iotax_stats::sequential::{Decision, StopReason};
use iotax_stats::unpaired::Unpaired;
use iotax_stats::verdict::{Sign, Verdict};

use crate::analysis::{Against, Comparison, Estimate, Withheld};
use crate::compare;
use crate::conclude::{Conclusion, RuleBounds, word};
use crate::facts::{TrialFacts, mixes_engines};
use crate::method::Method;
use crate::metrics::Metric;

/// What is compared: throughput, and what all results know besides. Latencies only where the job
/// was held to a rate: elsewhere a slower arm got less load, and its tail is that of another load.
pub(crate) fn metrics(trials: &[TrialFacts], workload: &Workload) -> Vec<Metric> {
    let usable = || trials.iter().filter(|trial| trial.usable);
    let is_known = |metric: &Metric| {
        usable().next().is_some() && usable().all(|trial| metric.of(trial).is_some())
    };
    if workload.is_network() {
        let metrics = Metric::of_workload(workload).into_iter().enumerate();
        return metrics.filter(|(at, m)| *at == 0 || is_known(m)).map(|(_, m)| m).collect();
    }
    let is_rate = is_held_to_a_rate(workload);
    let syncs = [Metric::SyncP99, Metric::SyncLatency].into_iter();
    let syncs = syncs.filter(|metric| is_rate || metric.quantile().is_none()).filter(is_known);
    let others: &[Metric] = if is_rate {
        &[Metric::Latency, Metric::P99, Metric::P50, Metric::CpuPerIo]
    } else {
        &[Metric::P50, Metric::CpuPerIo]
    };
    let others = others.iter().copied().filter(is_known);
    let rest = std::iter::once(Metric::Throughput).chain(others);
    if workload.waits_for_syncs() { syncs.chain(rest).collect() } else { rest.collect() }
}

/// Whether the primary job had a rate to keep, as far as its options tell.
pub(crate) fn is_held_to_a_rate(workload: &Workload) -> bool {
    workload.primary_job().is_some_and(|job| {
        if job.pace != Pace::Closed {
            return true;
        }
        let is_rate = |name: &str| matches!(name, "rate" | "rate_iops");
        let is_set = |value: Option<&str>| value.is_some_and(|value| value != "0");
        job.fio.iter().any(|option| is_rate(&option.name) && is_set(option.value.as_deref()))
    })
}

/// The values of one arm: those of its results, and of all trials in them.
pub(crate) struct Sample {
    blocks: Vec<u32>,
    values: Vec<f64>,
    /// Logarithms; a record has several trials, which are one result, and no more than that.
    trials: Vec<f64>,
    /// Variance that their mean has at least: results of one tool round alike.
    least: f64,
}

impl Sample {
    pub(crate) fn of(trials: &[TrialFacts], arm: usize, metric: Metric) -> Self {
        let usable = trials.iter().filter(|trial| trial.usable && trial.arm == Some(arm));
        let typical = |trial: &TrialFacts| trial.primary()?.typical.map(|t| t.blur_variance());
        let is_typical = |_: &f64| metric == Metric::P50;
        let least = usable.clone().filter_map(typical).filter(is_typical).fold(0.0, f64::max);
        let known = usable.filter_map(|trial| Some((trial.block, metric.of(trial)?)));
        let mut results: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (block, value) in known {
            results.entry(block).or_default().push(value.ln());
        }
        let typical = |logs: &Vec<f64>| mean(logs).exp();
        Self {
            blocks: results.keys().copied().collect(),
            values: results.values().map(typical).collect(),
            trials: results.into_values().flatten().collect(),
            least,
        }
    }

    fn logs(&self) -> Vec<f64> {
        self.values.iter().map(|value| value.ln()).collect()
    }

    /// Geometric mean; `None` without values.
    fn typical(&self) -> Option<f64> {
        let logs = self.logs();
        (!logs.is_empty()).then(|| mean(&logs).exp())
    }
}

/// Each pair of a baseline and an arm, in one metric.
pub(crate) fn conclude(
    method: &Method,
    trials: &[TrialFacts],
    spec: &Spec,
    metric: Metric,
) -> Vec<Conclusion> {
    let samples: Vec<Sample> =
        (0..spec.arms.len()).map(|arm| Sample::of(trials, arm, metric)).collect();
    let pairs = spec.pairs();
    let contrasts = pairs.iter().map(|pair| {
        let arm = &spec.arms[pair[1]];
        let subject = Subject::Arm(arm.name.clone());
        let against = arm.against.clone().map(Against::Arm);
        Contrast { against, ..Contrast::of(trials, metric, subject, &samples, &[*pair]) }
    });
    family(method, &contrasts.collect::<Vec<_>>())
}

/// Conclusions on a family of contrasts: Holm's procedure runs over them.
pub(crate) fn family(method: &Method, contrasts: &[Contrast<'_>]) -> Vec<Conclusion> {
    let tests: Vec<Option<Unpaired>> = contrasts.iter().map(Contrast::test).collect();
    let p: Vec<f64> = tests.iter().map(|test| test.map_or(1.0, |test| test.p_value())).collect();
    let adjusted = holm::adjusted(&p);
    let concluded = contrasts.iter().zip(tests.into_iter().zip(adjusted));
    concluded
        .map(|(contrast, (test, adjusted))| {
            let test = test.filter(|_| !contrast.is_gated);
            contrast.conclusion(method, test, contrasts.len(), adjusted)
        })
        .collect()
}

/// Pairs of samples, the baseline first, and what is asked of them.
pub(crate) struct Contrast<'a> {
    metric: Metric,
    subject: Subject,
    /// The baseline, if that is not that of all.
    against: Option<Against>,
    pairs: Vec<[&'a Sample; 2]>,
    is_gated: bool,
    mixes_engines: bool,
}

impl<'a> Contrast<'a> {
    /// Of pairs of arms, the baseline first.
    pub(crate) fn of(
        trials: &[TrialFacts],
        metric: Metric,
        subject: Subject,
        samples: &'a [Sample],
        pairs: &[[usize; 2]],
    ) -> Self {
        let arms = || pairs.iter().flatten();
        let usable = |arm: &usize| {
            let arm = Some(*arm);
            trials.iter().filter(move |trial| trial.usable && trial.arm == arm)
        };
        Self {
            metric,
            subject,
            against: None,
            pairs: pairs.iter().map(|pair| pair.map(|arm| &samples[arm])).collect(),
            is_gated: arms().any(|arm| !compare::has_tail(metric, usable(arm))),
            mixes_engines: mixes_engines(arms().flat_map(usable)),
        }
    }

    /// With enough results of all of them.
    fn test(&self) -> Option<Unpaired> {
        let logs: Vec<[Vec<f64>; 2]> =
            self.pairs.iter().map(|pair| pair.map(Sample::logs)).collect();
        let test =
            Unpaired::over(&logs.iter().map(|[base, with]| [&**base, &**with]).collect::<Vec<_>>());
        let least = self.pairs.iter().map(|[base, with]| base.least + with.least);
        let least = least.fold(0.0, f64::max).sqrt();
        test.map(|test| test.at_least(least))
    }

    /// What the trials of single results give, where that is all there is.
    fn within(&self) -> Option<Unpaired> {
        match self.pairs.as_slice() {
            [[base, with]] if base.values.len() == 1 && with.values.len() == 1 => {
                Unpaired::of(&base.trials, &with.trials)
            }
            _ => None,
        }
    }

    /// Mean logarithm of the ratio, if every sample has a value.
    fn point(&self) -> Option<f64> {
        let ratios: Option<Vec<f64>> = (self.pairs.iter())
            .map(|[base, with]| Some((with.typical()? / base.typical()?).ln()))
            .collect();
        ratios.filter(|ratios| !ratios.is_empty()).map(|ratios| mean(&ratios))
    }

    fn conclusion(
        &self,
        method: &Method,
        test: Option<Unpaired>,
        comparisons: usize,
        adjusted_p: f64,
    ) -> Conclusion {
        let goal = method.sequential(self.metric).goal();
        let simultaneous = if method.simultaneous { comparisons.max(1) } else { 1 };
        let alpha = method.alpha / simultaneous as f64;
        let log_ratio = test.map(|test| test.interval(alpha));
        let cost = log_ratio.map(|interval| goal.cost(interval));
        let holds = test.is_some() && adjusted_p <= method.alpha;
        let own = cost.map_or(Verdict::Undecided, |cost| Verdict::of(&cost, method.margin));
        let withheld = if self.mixes_engines {
            Some(Withheld::OtherEngines)
        } else {
            (own.is_signed() && !method.simultaneous && !holds).then_some(Withheld::AfterHolm)
        };
        let verdict = match withheld {
            Some(_) => Verdict::Undecided,
            None if self.is_gated => Verdict::InsufficientTailSamples,
            None => own,
        };
        let sign = cost.as_ref().and_then(Sign::of);
        let (base, with) = match self.pairs.as_slice() {
            [[base, with]] => (base.typical(), with.typical()),
            _ => (None, None),
        };
        let point = self.point().map(|log_ratio| Interval::around(log_ratio, 0.0));
        let point = point.filter(|_| !self.is_gated).map(|point| goal.cost(point).mean);
        let within = self.within().filter(|_| !self.is_gated);
        let within = within.map(|test| Estimate::from(goal.cost(test.interval(alpha))));
        let samples = || self.pairs.iter().flatten();
        let blocks = samples().map(|sample| sample.values.len()).min().unwrap_or(0);
        let comparison = Comparison {
            against: self.against.clone(),
            tax: cost.map(|cost| cost.mean).or(point),
            lo: cost.map(|cost| cost.lo),
            hi: cost.map(|cost| cost.hi),
            within,
            base,
            with,
            difference_ns: test.and_then(|_| self.difference_ns(alpha)),
            verdict,
            sign: sign.filter(|_| verdict == Verdict::Equivalent).map(word),
            blocks: count(blocks),
            p: test.map(|test| test.p_value()),
            holds_after_holm: holds && verdict.is_decided(),
            ..Comparison::new(self.subject.clone(), self.metric)
        };
        let decision = Decision::without_size(blocks, verdict, Some(StopReason::LastLook));
        let decision = Decision { sign, log_ratio, cost, ..decision };
        let mut blocks: Vec<u32> =
            samples().flat_map(|sample| sample.blocks.iter().copied()).collect();
        blocks.sort_unstable();
        blocks.dedup();
        Conclusion {
            comparison,
            decision,
            p_if_dependent: test.map_or(1.0, |test| test.p_value()),
            blocks,
            spread: None,
            bounds: test.map(|test| RuleBounds {
                cost: goal.cost(test.interval(2.0 * method.rule_alpha)),
                reach: test.reach(2.0 * method.rule_alpha),
            }),
            withheld,
        }
    }

    fn difference_ns(&self, alpha: f64) -> Option<Estimate> {
        if !self.metric.is_time() {
            return None;
        }
        let values: Vec<[&[f64]; 2]> = (self.pairs.iter())
            .map(|[base, with]| [base.values.as_slice(), with.values.as_slice()])
            .collect();
        Some(Unpaired::over(&values)?.interval(alpha).into())
    }
}

#[cfg(test)]
mod tests {
    use iotax_experiment::{Arm, Stop, Target};

    use super::*;

    fn sample(values: [f64; 3]) -> Sample {
        Sample {
            blocks: vec![0, 1, 2],
            values: values.to_vec(),
            trials: values.iter().map(|value| value.ln()).collect(),
            least: 0.0,
        }
    }

    fn concluded(mixes_engines: bool) -> (Verdict, Option<Withheld>) {
        let arm = |name: &str| Arm::new(name, Target::parse("mem(size=1M)").unwrap());
        let workload = Workload::preset("randread-4k").unwrap();
        let arms = vec![arm("a"), arm("b")];
        let spec = Spec::compare(workload, arms, Stop::default(), 1).unwrap();
        let [base, with] = [sample([1000.0, 1001.0, 1002.0]), sample([500.0, 501.0, 502.0])];
        let contrast = Contrast {
            metric: Metric::Throughput,
            subject: Subject::Arm("b".to_owned()),
            against: None,
            pairs: vec![[&base, &with]],
            is_gated: false,
            mixes_engines,
        };
        let conclusion = family(&Method::new(&spec), &[contrast]).remove(0);
        (conclusion.comparison.verdict, conclusion.withheld)
    }

    #[test]
    fn what_stood_in_for_io_uring_is_not_compared_with_it() {
        assert_eq!(concluded(false), (Verdict::Slower, None));
        assert_eq!(concluded(true), (Verdict::Undecided, Some(Withheld::OtherEngines)));
    }
}
