//! Comparisons with trials that completed nothing: what `iotax_stats::stalls` says, as a verdict.

use iotax_experiment::Spec;
use iotax_stats::sample::{count, mean};
use iotax_stats::sequential::StopReason;
use iotax_stats::stalls::{self, StallTest};
use iotax_stats::verdict::{Sign, Verdict};

use crate::analysis::Stalls;
use crate::facts::TrialFacts;
use crate::method::Method;
use crate::metrics::Metric;
use crate::stretch;

/// Blocks without any information, or trials of an arm in a row that completed nothing, after which
/// no more are made where more can tell nothing.
pub(crate) const GIVE_UP_AFTER: u32 = 3;

/// The blocks of a comparison of which some stalled, by what the primary job completed.
#[derive(Debug, Clone)]
pub(crate) struct StalledBlocks {
    pub blocks: Vec<u32>,
    /// The arm's trial and the baseline's.
    trials: Vec<(stalls::Rate, stalls::Rate)>,
    /// Throughput that no stalled trial reached.
    limit: f64,
}

pub(crate) struct Judged {
    pub verdict: Verdict,
    pub stalls: Stalls,
    pub stop: Option<StopReason>,
    /// Upper bound of a sequentially valid p-value.
    pub p: f64,
    /// Geometric mean of the baseline's trials that completed something.
    pub base: Option<f64>,
}

impl StalledBlocks {
    /// `None` if no trial stalled. `pairs`: baseline and arm of each block.
    pub(crate) fn of(pairs: &[(u32, [&TrialFacts; 2])]) -> Option<Self> {
        let below = pairs.iter().flat_map(|(_, pair)| pair.iter()).filter_map(|t| t.stalled_below);
        // The shortest window of all bounds them all.
        let limit = below.reduce(f64::max)?;
        let throughput = |trial: &TrialFacts| Metric::Throughput.of(trial);
        let (blocks, trials) = pairs
            .iter()
            .map(|(block, [base, arm])| (*block, (throughput(arm), throughput(base))))
            .unzip();
        Some(Self { blocks, trials, limit })
    }

    /// Judges them as one of `family` comparisons, which share the error rate evenly.
    pub(crate) fn judge(&self, method: &Method, family: usize) -> Judged {
        let alpha = method.alpha / family.max(1) as f64;
        let test = StallTest::of(&self.trials, self.limit, alpha);
        let verdict = match test.sign {
            Some(Sign::Slower) => Verdict::Slower,
            Some(Sign::Faster) => Verdict::Faster,
            None if test.has_no_information() => Verdict::NoInformation,
            None => Verdict::Undecided,
        };
        let stop = match verdict {
            Verdict::NoInformation => {
                (test.blocks >= GIVE_UP_AFTER as usize).then_some(StopReason::Futile)
            }
            Verdict::Undecided => {
                (test.blocks >= stalls::MAX_BLOCKS).then_some(StopReason::LastLook)
            }
            _ => Some(StopReason::GoalReached),
        };
        let logs: Vec<f64> =
            self.trials.iter().filter_map(|(_, base)| Some((*base)?.ln())).collect();
        Judged {
            verdict,
            stalls: self.counted(&test, method.margin),
            stop,
            p: if test.sign.is_some() { alpha } else { 1.0 },
            base: (!logs.is_empty()).then(|| mean(&logs).exp()),
        }
    }

    fn counted(&self, test: &StallTest, margin: f64) -> Stalls {
        let is_worth_it = |factor: &f64| test.sign.is_some() && *factor > 1.0 + margin;
        Stalls {
            arm: count(test.arm_stalls),
            base: count(test.base_stalls),
            blocks: count(test.blocks),
            factor: Some(test.factor).filter(is_worth_it),
            each: self.each(test),
            only_more_often: test.sign.is_some() && !test.by_sign,
            more_blocks: test.more_blocks.filter(|_| test.sign.is_none()).map(count),
        }
    }

    /// The least ratio in the blocks in which one side stalled and the other did not, if it was
    /// always the same side.
    fn each(&self, test: &StallTest) -> Option<f64> {
        let is_one_sided = test.arm_stalls == 0 || test.base_stalls == 0;
        let ratios = self.trials.iter().filter_map(|trial| match trial {
            (None, Some(x)) | (Some(x), None) => Some(x / self.limit),
            _ => None,
        });
        ratios.reduce(f64::min).filter(|least| is_one_sided && *least > 1.0)
    }
}

/// Share of the slices of a comparison that may complete nothing before their signs are all that
/// counts.
const FEW: f64 = 0.1;

/// Whether so few slices of a comparison completed nothing that there are rates to speak of; false
/// where none did.
pub(crate) fn are_few(pairs: &[(u32, [&TrialFacts; 2])]) -> bool {
    let slices = || pairs.iter().flat_map(|(_, pair)| pair).filter(|trial| trial.is_slice);
    let stalled = slices().filter(|slice| slice.stalled_below.is_some()).count();
    stalled > 0 && stalled as f64 <= FEW * slices().count() as f64
}

/// The blocks of a comparison of slices, those in which one stalled joined to the next in which
/// none did: a stall counts with what it took from the arm that it hit, and not as an infinite
/// ratio.
pub(crate) fn joined(pairs: &[(u32, [&TrialFacts; 2])]) -> Vec<(u32, [TrialFacts; 2])> {
    let mut open: [Vec<&TrialFacts>; 2] = Default::default();
    let mut all = Vec::new();
    for (block, pair) in pairs {
        for (open, trial) in open.iter_mut().zip(pair) {
            open.push(trial);
        }
        if pair.iter().all(|trial| trial.stalled_below.is_none()) {
            let [base, arm] = open.each_ref().map(|slices| stretch::join(slices));
            all.extend(base.zip(arm).map(|(base, arm)| (*block, [base, arm])));
            open.iter_mut().for_each(Vec::clear);
        }
    }
    all
}

/// The first arm whose latest trials all completed nothing, so many in a row.
pub(crate) fn given_up(trials: &[TrialFacts], spec: &Spec) -> Option<usize> {
    let workload = spec.workload();
    // Slices in a row count once they are as long together as that many usual trials.
    let times = workload.slices.map_or(1, |slices| slices.usual.time_ns / workload.time_ns.max(1));
    let enough = u64::from(GIVE_UP_AFTER).saturating_mul(times.max(1));
    (0..spec.arms.len()).find(|arm| {
        let mut own: Vec<&TrialFacts> =
            trials.iter().filter(|t| t.usable && t.arm == Some(*arm)).collect();
        own.sort_by_key(|trial| (trial.block, trial.slot));
        let in_a_row = own.iter().rev().take_while(|trial| trial.stalled_below.is_some()).count();
        in_a_row as u64 >= enough
    })
}
