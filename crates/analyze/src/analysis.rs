//! The result: everything a report shows, and nothing a report would still have to compute.

mod arm;
mod caps;
mod estimate;
mod matrix;
mod outliers;
mod precondition;
mod rule;

use iotax_documented::Documented;
use iotax_record::Experiment;
use iotax_stats::verdict::Verdict;
use iotax_words::Effect;
use serde::{Deserialize, Serialize};

use crate::counters::CounterSeries;
use crate::metrics::Metric;
pub use arm::{ArmSummary, JobSummary, OperationSummary, QuantilePoint, SyncSummary, Work};
pub use caps::{ArmDepths, ArmDrain, Cap, DepthLevel, DepthResponse};
pub use estimate::Estimate;
pub use matrix::{FactorEffect, FactorEffects, FactorInteraction};
pub use outliers::{Outlier, Outliers};
pub use precondition::{ArmPrecondition, Steadiness};
pub use rule::{Judgment, RuleOutcome};

/// Version of the analysis format that this program writes.
pub const FORMAT: u32 = 1;

/// The result of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// Version of this format.
    pub format: u32,
    /// Name of the workload.
    pub workload: String,
    /// Name of its primary job, whose figures stand for the whole.
    pub primary: String,
    /// Name of the baseline arm.
    pub baseline: String,
    /// Differences below this fraction count as none.
    pub margin: f64,
    /// Error rate of each printed interval (0.05: 95 % intervals).
    pub alpha: f64,
    /// One per arm, in the order of the spec.
    pub arms: Vec<ArmSummary>,
    /// What the trials of each arm add up to beside that.
    pub work: Vec<Work>,
    /// One per arm and metric, or per layer and metric in a peel. The first of an arm or layer is
    /// its primary metric.
    pub comparisons: Vec<Comparison>,
    /// Of a matrix: what the levels of its factors cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix: Option<FactorEffects>,
    /// Of many arms: which are slower than such arms are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outliers: Option<Outliers>,
    /// What became of the rules that were set beforehand.
    pub rules: Vec<Judgment>,
    /// What became of what the workload requires, of each arm.
    pub requirements: Vec<Judgment>,
    /// How the arms were preconditioned, if that was asked for.
    pub preconditioned: Vec<ArmPrecondition>,
    /// What the arms did while their burst credits were spent beforehand, if that was asked for.
    pub drained: Vec<ArmDrain>,
    /// How the arms answer to the number of I/Os in flight, if equal throughput made that a question.
    pub depths: Vec<ArmDepths>,
    /// The same arms under loads that show what a cap hides.
    pub below_cap: Vec<(Experiment, Self)>,
    /// Attribution to layers; only in a peel.
    pub attribution: Option<Attribution>,
    /// All trials in the order in which they ran.
    pub trials: Vec<TrialPoint>,
    /// Arms whose throughput is that of a documented limit.
    pub documented: Vec<Documented>,
    /// What makes the figures doubtful, worst first.
    pub warnings: Vec<Warning>,
    /// What could not be concluded, and why.
    pub open_questions: Vec<String>,
    /// Why and when it stopped.
    pub ending: Ending,
}

/// One arm (or layer) against the baseline in one metric. Positive tax = worse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The arm; in a peel absent, see `layer`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub arm: Option<String>,
    /// The layer of a peel, `a x b` for an interaction, or `total`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub layer: Option<String>,
    /// What is compared.
    pub metric: Metric,
    /// Estimate, as a fraction; `None` if nothing can be said, or, with `lo` and `hi` present, if
    /// the cost of a layer depends on its place among the others: they are its range then.
    pub tax: Option<f64>,
    /// Lower end of the interval.
    pub lo: Option<f64>,
    /// Upper end of the interval.
    pub hi: Option<f64>,
    /// Mean of the baseline over the blocks used, in the metric's unit (I/Os per second, or
    /// nanoseconds): the geometric one, so that `base`, `with` and `tax` agree exactly.
    pub base: Option<f64>,
    /// The same of the arm; `None` for a layer, which is a contrast of several arms.
    pub with: Option<f64>,
    /// For times: the difference in nanoseconds with its interval.
    pub difference_ns: Option<Estimate>,
    /// The word.
    pub verdict: Verdict,
    /// For `equivalent`: the interval also excludes zero, in this direction.
    pub sign: Option<Verdict>,
    /// Complete blocks used.
    pub blocks: u32,
    /// Sequentially valid p-value for "no difference".
    pub p: Option<f64>,
    /// Whether the difference holds after Holm's correction over all arms of this metric.
    pub holds_after_holm: bool,
    /// Blocks that a decision would probably need in all, if it is undecided or imprecise.
    pub blocks_needed: Option<u32>,
    /// Regime the blocks are from, where that is known: `sustained` or `burst` after draining,
    /// `after the change` if the effect changed and these are the blocks since.
    pub regime: Option<String>,
    /// The effect changed in the middle of the run: its two parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<EffectChange>,
    /// Some trials completed nothing in their window: the counts, and what they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
    /// For `masked`: what both sides sit on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Cap>,
}

impl Comparison {
    /// What it found, to be said in words; `None` if that is nothing.
    pub fn effect(&self) -> Option<Effect> {
        Effect::new(self.metric.on(), self.tax, self.lo, self.hi)
    }

    /// The same of a part of the run.
    pub fn effect_of(&self, part: Estimate) -> Effect {
        Effect::of(self.metric.on(), part.value, [part.lo, part.hi])
    }
}

/// An effect that was another one after some block than before: a burst that only one arm had, a
/// cache that filled up under one. Each part has the interval that it would have alone; that the
/// place of the change was searched for is not in them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EffectChange {
    /// The last block before the change, counted from 1.
    pub after_block: u32,
    /// Complete blocks in the two parts.
    pub blocks: [u32; 2],
    /// The tax before it.
    pub before: Option<Estimate>,
    /// The tax since.
    pub since: Option<Estimate>,
}

/// Trials that completed nothing in their window, of an arm and its baseline. They have no size,
/// so the verdict rests on signs, and there is no interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stalls {
    /// Stalled trials of the arm.
    pub arm: u32,
    /// Stalled trials of the baseline.
    pub base: u32,
    /// Blocks, with a trial of each.
    pub blocks: u32,
    /// With a verdict: at least so many times slower (faster), if that is beyond the margin.
    pub factor: Option<f64>,
    /// In each block in which only this arm (or only the baseline) stalled it was at least so many
    /// times slower than the other: no inference, just what was seen. `None` if both stalled.
    pub each: Option<f64>,
    /// The verdict is only about who stalls more often: nothing is said of the speed otherwise.
    pub only_more_often: bool,
    /// Without a verdict: so many more blocks like most so far would decide.
    pub more_blocks: Option<u32>,
}

/// What each layer costs, in time per I/O (queue depth / throughput), where serial layers add.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attribution {
    /// Time per I/O of the bare stack, in nanoseconds.
    pub bare_ns: f64,
    /// One per layer, bottom to top.
    pub layers: Vec<LayerCost>,
    /// Pairwise interactions at the bare stack: positive means dearer together.
    pub interactions: Vec<Interaction>,
    /// The full stack against the bare one, in nanoseconds per I/O.
    pub total_ns: Option<Estimate>,
    /// Complete blocks used.
    pub blocks: u32,
}

/// What one layer costs, in nanoseconds per I/O.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LayerCost {
    /// Name of the layer.
    pub layer: String,
    /// Added to the bare stack.
    pub first_in_ns: Option<Estimate>,
    /// Mean over all orders of adding; sums to the total. `None` in a screening design.
    pub shapley_ns: Option<Estimate>,
    /// Taken off the full stack.
    pub last_in_ns: Option<Estimate>,
    /// Difference of p99, full against without it, in nanoseconds.
    pub delta_p99_ns: Option<Estimate>,
}

/// How two layers' costs depend on each other, in nanoseconds per I/O.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interaction {
    /// The two layers.
    pub layers: [String; 2],
    /// The interaction; `None` before three blocks.
    pub cost_ns: Option<Estimate>,
    /// What it probably means; a hypothesis.
    pub hypothesis: String,
}

/// One trial, for charts and tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialPoint {
    /// Position in the order in which all trials ran.
    pub slot: u32,
    /// Block.
    pub block: u32,
    /// Arm.
    pub arm: String,
    /// Start, nanoseconds since the start of the experiment.
    pub started_ns: u64,
    /// Switching time before it, in nanoseconds.
    pub switch_ns: u64,
    /// `completed`, `degraded`, `stalled`, `failed` or `interrupted`.
    pub outcome: String,
    /// Why, if not completed.
    pub why: Option<String>,
    /// Whether some comparison rests on it: usable, in a complete block, not before a change of
    /// the effect, and not after the latest look at the data. In a plain run: usable.
    pub used: bool,
    /// I/Os per second of the primary job.
    pub iops: Option<f64>,
    /// Bytes per second of the primary job.
    pub bytes_per_s: Option<f64>,
    /// 99th percentile of latency of the primary job, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// Mean time of a sync of the primary job, in nanoseconds, if it did any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_mean_ns: Option<f64>,
    /// 99th percentile of it, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_p99_ns: Option<u64>,
    /// I/Os in each second of the primary job.
    pub per_second_ios: Vec<u32>,
    /// Devices, CPUs, pressure and NFS from second to second, for as many trials as charts show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<CounterSeries>,
}

impl TrialPoint {
    /// Whether its figures say something of its arm.
    pub fn is_usable(&self) -> bool {
        match self.outcome.as_str() {
            "completed" | "degraded" => self.iops.is_some(),
            outcome => outcome == "stalled",
        }
    }
}

/// What a self-check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// Trials failed.
    FailedTrials,
    /// Trials in which the primary job completed nothing.
    StalledTrials,
    /// Single I/Os failed.
    IoErrors,
    /// Data did not read back as written.
    VerifyMismatch,
    /// Throughput x latency differs from the number in flight by more than 5 %.
    LittlesLaw,
    /// The load generator or this machine's CPU limits the rate.
    GeneratorBound,
    /// Open loop: I/Os started late, or the offered rate was not reached.
    ScheduleSlip,
    /// A cold cache was asked for but devices delivered less than was read.
    ColdCacheUnproven,
    /// An added layer makes things faster.
    WrongSign,
    /// Reads above the speed of memory.
    ImpossibleSpeed,
    /// A cache above the device answered.
    CacheAnswered,
    /// A layer has a cache that could answer.
    LayerCache,
    /// The hypervisor took CPU time.
    Steal,
    /// Results that were not made by the same job, or not known to be.
    AnotherJob,
    /// Results of runs that were not interleaved.
    NotInterleaved,
    /// Arms on different storage.
    DifferentStorage,
    /// The level of all arms, or the effect of one, changed at some time.
    RegimeShift,
    /// Writes were not at steady state.
    NotSteady,
    /// Block differences depend on each other.
    Dependence,
    /// Trials shorter than what their noise needs, too few I/Os for the tail, and so on.
    Precision,
}

/// A reason for doubt, with what to do about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// Which check.
    pub check: Check,
    /// Which arm; `None`: the whole experiment.
    pub arm: Option<String>,
    /// What was seen, with figures.
    pub message: String,
    /// What to do.
    pub advice: String,
    /// In how many trials.
    pub trials: u32,
}

/// Why and when an experiment stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// In words, e.g. `every arm has a verdict`.
    pub reason: String,
    /// Complete blocks.
    pub blocks: u32,
    /// Trials, failed ones included.
    pub trials: u32,
    /// Wall time in nanoseconds.
    pub wall_ns: u64,
    /// Part of it spent on switching between arms.
    pub switch_ns: u64,
    /// Whether the user interrupted it.
    pub interrupted: bool,
    /// What the record it was read from lacks, for people; empty if it is whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
}
