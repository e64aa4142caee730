//! From per-block values to comparisons with verdicts: the one place where they are formed.

use crate::analysis::{Comparison, Metric};
use crate::method::Method;
use crate::stats::holm;
use crate::stats::rci::Summary;
use crate::stats::sequential::{Decision, StopReason};
use crate::stats::verdict::{Sign, Verdict};

/// What a row is about.
#[derive(Debug, Clone)]
pub(crate) enum Subject {
    /// An arm, by name.
    Arm(String),
    /// A layer, an interaction or the total, by label.
    Layer(String),
}

/// The data of one comparison: one value per complete block, in block order.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub subject: Subject,
    pub metric: Metric,
    pub blocks: Vec<u32>,
    /// `ln(with / without)`, or a contrast of logarithms that means the same.
    pub log_ratios: Vec<f64>,
    /// Logarithms of the baseline's figures; empty where there is no single one.
    pub log_base: Vec<f64>,
    /// With minus without, for times; empty for throughput.
    pub differences_ns: Vec<f64>,
    /// A word that overrules the interval.
    pub gate: Option<Verdict>,
    /// Whether base and arm are real arms, whose own figures can be shown.
    pub is_pair: bool,
}

/// A comparison with what it rests on.
#[derive(Debug, Clone)]
pub(crate) struct Conclusion {
    pub comparison: Comparison,
    pub decision: Decision,
    /// Blocks behind it.
    pub blocks: Vec<u32>,
    /// Standard deviation of the log ratios from block to block.
    pub spread: Option<f64>,
    /// Why the interval's own verdict was taken back, in words.
    pub withheld: Option<&'static str>,
    /// About two layers together: shown, but it does not decide when a run stops.
    pub is_interaction: bool,
}

impl Conclusion {
    /// Name of the arm or label of the layer.
    pub fn subject(&self) -> &str {
        let Comparison { arm, layer, .. } = &self.comparison;
        arm.as_deref().or(layer.as_deref()).unwrap_or_default()
    }
}

/// A difference that the family of comparisons does not support.
pub(crate) const NOT_AFTER_HOLM: &str =
    "it holds alone, but not after Holm's correction for all comparisons";
/// Verdict at a look that the blocks dropped after a change of regime have used already.
const LOOK_SPENT: &str = "too few blocks are left after the shift of regime";

impl Row {
    pub fn new(subject: Subject, metric: Metric) -> Self {
        Self {
            subject,
            metric,
            blocks: Vec::new(),
            log_ratios: Vec::new(),
            log_base: Vec::new(),
            differences_ns: Vec::new(),
            gate: None,
            is_pair: true,
        }
    }

    /// Adds a block with the baseline's and the arm's positive figures.
    pub fn push(&mut self, block: u32, base: f64, with: f64) {
        self.blocks.push(block);
        self.log_ratios.push((with / base).ln());
        self.log_base.push(base.ln());
        if self.metric.is_time() {
            self.differences_ns.push(with - base);
        }
    }

    /// Adds a block of a contrast, unless it is not a number there.
    pub fn push_contrast(&mut self, block: u32, log_ratio: f64, difference_ns: f64) {
        if !log_ratio.is_finite() {
            return;
        }
        self.blocks.push(block);
        self.log_ratios.push(log_ratio);
        if self.metric.is_time() {
            self.differences_ns.push(difference_ns);
        }
    }
}

/// Concludes on the rows of one family (one metric, all arms or all layers): Holm's procedure
/// runs over them. `dropped`: blocks left out after a change of regime.
pub(crate) fn conclude(method: &Method, rows: Vec<Row>, dropped: usize) -> Vec<Conclusion> {
    let Some(metric) = rows.first().map(|row| row.metric) else { return Vec::new() };
    let sequential = method.sequential(metric);
    let series: Vec<&[f64]> = rows.iter().map(|row| row.log_ratios.as_slice()).collect();
    let p: Vec<f64> = series.iter().map(|d| sequential.sequential_p(d)).collect();
    let adjusted = holm::adjusted(&p);
    let decisions = if method.simultaneous {
        // Each interval already pays for all of them.
        series.iter().map(|d| sequential.conclude(d)).collect()
    } else {
        sequential.conclude_family(&series)
    };
    let spent = spent_look(method, dropped);
    rows.into_iter()
        .zip(decisions)
        .zip(p.into_iter().zip(adjusted))
        .map(|((row, mut decision), (p, adjusted))| {
            let own = decision.cost.map(|cost| Verdict::of(&cost, method.margin));
            let by_family = decision.verdict == Verdict::Undecided
                && own.is_some_and(|own| own != Verdict::Undecided);
            let by_regime = withhold_if_spent(&mut decision, spent);
            let p = (decision.blocks > 0).then_some(p);
            let withheld = by_regime.then_some(LOOK_SPENT).or(by_family.then_some(NOT_AFTER_HOLM));
            let holds = adjusted <= method.alpha;
            Conclusion { withheld, ..row.conclusion(method, decision, p, holds, dropped) }
        })
        .collect()
}

/// The largest look that the dropped blocks may have used up; it must not be used again.
///
/// A shift becomes visible right after the blocks that it makes worthless, so the looks within
/// those are the ones taken before.
fn spent_look(method: &Method, dropped: usize) -> usize {
    method.design().look_at_or_before(dropped).unwrap_or(0)
}

fn withhold_if_spent(decision: &mut Decision, spent: usize) -> bool {
    let is_spent = decision.blocks <= spent && decision.verdict.is_decided();
    if is_spent {
        decision.verdict = Verdict::Undecided;
        decision.stop = decision.stop.filter(|stop| *stop == StopReason::LastLook);
    }
    is_spent
}

impl Row {
    fn conclusion(
        self,
        method: &Method,
        decision: Decision,
        p: Option<f64>,
        holds_after_holm: bool,
        dropped: usize,
    ) -> Conclusion {
        // Before the first look there is no interval, but there are figures to show.
        let shown = if decision.blocks == 0 { self.blocks.len() } else { decision.blocks };
        let base = mean(&self.log_base[..shown.min(self.log_base.len())]).map(f64::exp);
        let ratio = mean(&self.log_ratios[..shown]).map(f64::exp);
        let cost = decision.cost.filter(|_| self.gate.is_none());
        let difference_ns = method.estimate(&self.differences_ns).filter(|_| self.gate.is_none());
        let (arm, layer) = match self.subject {
            Subject::Arm(name) => (Some(name), None),
            Subject::Layer(label) => (None, Some(label)),
        };
        let comparison = Comparison {
            arm,
            layer,
            metric: self.metric,
            tax: cost.map(|c| c.mean),
            lo: cost.map(|c| c.lo),
            hi: cost.map(|c| c.hi),
            base,
            with: base.zip(ratio).filter(|_| self.is_pair).map(|(base, ratio)| base * ratio),
            difference_ns,
            verdict: self.gate.unwrap_or(decision.verdict),
            sign: decision.sign.filter(|_| decision.verdict == Verdict::Equivalent).map(word),
            blocks: u32::try_from(decision.blocks).unwrap_or(u32::MAX),
            p,
            holds_after_holm: holds_after_holm && cost.is_some(),
            blocks_needed: decision
                .projection
                .filter(|_| self.gate.is_none())
                .and_then(|projection| u32::try_from(projection.total_blocks).ok()),
            regime: (dropped > 0).then(|| "sustained".to_owned()),
            cap: None,
        };
        let spread = Summary::of(&self.log_ratios[..decision.blocks]).map(|summary| summary.sd);
        let blocks = self.blocks[..shown].to_vec();
        Conclusion { comparison, decision, blocks, spread, withheld: None, is_interaction: false }
    }
}

pub(crate) fn word(sign: Sign) -> Verdict {
    match sign {
        Sign::Slower => Verdict::Slower,
        Sign::Faster => Verdict::Faster,
    }
}

/// `None` if there are no values, or none that average to a number.
fn mean(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    mean.is_finite().then_some(mean)
}
