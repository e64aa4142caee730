//! Arms that are results of other tools: independent samples instead of blocks.

use iotax_spec::Workload;
use iotax_stats::holm;
use iotax_stats::rci::Interval;
use iotax_stats::sequential::{Decision, StopReason};
use iotax_stats::unpaired::Unpaired;
use iotax_stats::verdict::{Sign, Verdict};

use crate::analysis::{Comparison, Estimate};
use crate::compare;
use crate::conclude::{Conclusion, NOT_AFTER_HOLM, word};
use crate::facts::TrialFacts;
use crate::method::Method;
use crate::metrics::Metric;

/// What is compared: throughput, and what all results know besides. Latencies only where the job
/// was held to a rate: elsewhere a slower arm got less load, and its tail is that of another load.
pub(crate) fn metrics(trials: &[TrialFacts], workload: &Workload) -> Vec<Metric> {
    let usable = || trials.iter().filter(|trial| trial.usable);
    let is_known = |metric: &Metric| {
        usable().next().is_some() && usable().all(|trial| metric.of(trial).is_some())
    };
    let is_rate = is_held_to_a_rate(workload);
    let syncs = [Metric::SYNC_P99, Metric::SYNC_LATENCY].into_iter();
    let syncs = syncs.filter(|metric| is_rate || metric.quantile().is_none()).filter(is_known);
    let others: &[Metric] = if is_rate {
        &[Metric::LATENCY, Metric::P99, Metric::CPU_PER_IO]
    } else {
        &[Metric::CPU_PER_IO]
    };
    let others = others.iter().copied().filter(is_known);
    let rest = std::iter::once(Metric::THROUGHPUT).chain(others);
    if workload.waits_for_syncs() { syncs.chain(rest).collect() } else { rest.collect() }
}

/// Whether the primary job had a rate to keep, as far as its options tell.
pub(crate) fn is_held_to_a_rate(workload: &Workload) -> bool {
    workload.primary_job().is_some_and(|job| {
        let is_rate = |name: &str| matches!(name, "rate" | "rate_iops");
        let is_set = |value: Option<&str>| value.is_some_and(|value| value != "0");
        job.fio.iter().any(|option| is_rate(&option.name) && is_set(option.value.as_deref()))
    })
}

/// The values of one arm, and the blocks of the trials they are from.
struct Sample {
    blocks: Vec<u32>,
    values: Vec<f64>,
}

impl Sample {
    fn of(trials: &[TrialFacts], arm: usize, metric: Metric) -> Self {
        let usable = trials.iter().filter(|trial| trial.usable && trial.arm == Some(arm));
        let (blocks, values) =
            usable.filter_map(|trial| Some((trial.block, metric.of(trial)?))).unzip();
        Self { blocks, values }
    }

    fn logs(&self) -> Vec<f64> {
        self.values.iter().map(|value| value.ln()).collect()
    }

    /// Geometric mean; `None` without values.
    fn typical(&self) -> Option<f64> {
        let logs = self.logs();
        (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    }
}

/// Each arm but the first against it, in one metric.
pub(crate) fn conclude(
    method: &Method,
    trials: &[TrialFacts],
    names: &[String],
    metric: Metric,
) -> Vec<Conclusion> {
    let base = Sample::of(trials, 0, metric);
    let others: Vec<Sample> = (1..names.len()).map(|arm| Sample::of(trials, arm, metric)).collect();
    let tests: Vec<Option<Unpaired>> =
        others.iter().map(|with| Unpaired::of(&base.logs(), &with.logs())).collect();
    let p: Vec<f64> = tests.iter().map(|test| test.map_or(1.0, |test| test.p_value())).collect();
    let adjusted = holm::adjusted(&p);
    others
        .iter()
        .zip(tests)
        .zip(adjusted)
        .enumerate()
        .map(|(i, ((with, test), adjusted))| {
            let is_gated = [0, i + 1].into_iter().any(|arm| {
                let of_arm = trials.iter().filter(|t| t.usable && t.arm == Some(arm));
                !compare::has_tail(metric, of_arm)
            });
            let pair = Pair { metric, base: &base, with, test: test.filter(|_| !is_gated) };
            pair.conclusion(method, &names[i + 1], others.len(), adjusted, is_gated)
        })
        .collect()
}

/// Two samples and, if both have enough results, the test between them.
struct Pair<'a> {
    metric: Metric,
    base: &'a Sample,
    with: &'a Sample,
    test: Option<Unpaired>,
}

impl Pair<'_> {
    fn conclusion(
        &self,
        method: &Method,
        arm: &str,
        comparisons: usize,
        adjusted_p: f64,
        is_gated: bool,
    ) -> Conclusion {
        let goal = method.sequential(self.metric).goal();
        let simultaneous = if method.simultaneous { comparisons.max(1) } else { 1 };
        let alpha = method.alpha / simultaneous as f64;
        let log_ratio = self.test.map(|test| test.interval(alpha));
        let cost = log_ratio.map(|interval| goal.cost(interval));
        let holds = self.test.is_some() && adjusted_p <= method.alpha;
        let own = cost.map_or(Verdict::Undecided, |cost| Verdict::of(&cost, method.margin));
        let withheld =
            (own.is_signed() && !method.simultaneous && !holds).then_some(NOT_AFTER_HOLM);
        let verdict = match withheld {
            Some(_) => Verdict::Undecided,
            None if is_gated => Verdict::InsufficientTailSamples,
            None => own,
        };
        let sign = cost.as_ref().and_then(Sign::of);
        let (base, with) = (self.base.typical(), self.with.typical());
        let point = base.zip(with).map(|(base, with)| Interval::around((with / base).ln(), 0.0));
        let point = point.filter(|_| !is_gated).map(|point| goal.cost(point).mean);
        let blocks = self.base.values.len().min(self.with.values.len());
        let comparison = Comparison {
            arm: Some(arm.to_owned()),
            layer: None,
            metric: self.metric,
            tax: cost.map(|cost| cost.mean).or(point),
            lo: cost.map(|cost| cost.lo),
            hi: cost.map(|cost| cost.hi),
            base,
            with,
            difference_ns: self.difference_ns(alpha),
            verdict,
            sign: sign.filter(|_| verdict == Verdict::Equivalent).map(word),
            blocks: u32::try_from(blocks).unwrap_or(u32::MAX),
            p: self.test.map(|test| test.p_value()),
            holds_after_holm: holds && verdict.is_decided(),
            blocks_needed: None,
            regime: None,
            change: None,
            stalls: None,
            cap: None,
        };
        let decision = Decision {
            blocks,
            verdict,
            sign,
            log_ratio,
            cost,
            dependence: None,
            stop: Some(StopReason::LastLook),
            projection: None,
        };
        let mut blocks: Vec<u32> = [&self.base.blocks[..], &self.with.blocks[..]].concat();
        blocks.sort_unstable();
        blocks.dedup();
        Conclusion {
            comparison,
            decision,
            blocks,
            spread: None,
            bounds: None,
            withheld,
            is_interaction: false,
        }
    }

    fn difference_ns(&self, alpha: f64) -> Option<Estimate> {
        self.test.filter(|_| self.metric.is_time())?;
        let difference = Unpaired::of(&self.base.values, &self.with.values)?;
        Some(difference.interval(alpha).into())
    }
}
