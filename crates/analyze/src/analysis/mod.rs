//! The result: everything a report shows, and nothing a report would still have to compute.

mod arm;
mod comparison;
mod doubt;
mod matrix;
mod outliers;
mod question;
mod rule;
mod side_runs;

use iotax_experiment::documented::Documented;
use iotax_record::{EndReason, ExperimentHead};
use iotax_stats::rci::Interval;
use iotax_stats::verdict::Verdict;
use serde::Serialize;

use crate::counters::CounterSeries;
pub use crate::facts::TrialOutcome;
use crate::spread::LatencySpread;
pub use arm::*;
pub use comparison::*;
pub use doubt::*;
pub use matrix::*;
pub use outliers::*;
pub use question::*;
pub use rule::*;
pub use side_runs::*;

/// Version of the analysis format that this program writes.
pub const FORMAT: u32 = 1;

/// The result of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    pub format: u32,
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
    pub matrix: Option<FactorEffects>,
    /// Of many arms: which are slower than such arms are.
    pub outliers: Option<Outliers>,
    /// Of a fleet: what the look at its nodes cost.
    pub fleet: Option<FleetCost>,
    /// What became of the rules that were set beforehand.
    pub rules: Vec<Judgment>,
    /// What became of what the workload requires, of each arm.
    pub requirements: Vec<Judgment>,
    /// How the arms were preconditioned, if that was asked for.
    pub preconditioned: Vec<ArmPrecondition>,
    /// What the arms did while their burst credits were spent beforehand, if that was asked for.
    pub drained: Vec<ArmDrain>,
    /// How the arms answer to the number of I/Os in flight, if equal throughput made that a
    /// question.
    pub depths: Vec<ArmDepths>,
    /// The same arms under loads that show what a cap hides.
    pub below_cap: Vec<(ExperimentHead, Self)>,
    /// Attribution to layers; only in a peel.
    pub attribution: Option<Attribution>,
    /// All trials in the order in which they ran.
    pub trials: Vec<TrialPoint>,
    /// Arms whose throughput is that of a documented limit.
    pub documented: Vec<Documented>,
    /// What makes the figures doubtful, worst first. Reports print it in words.
    pub warnings: Vec<Doubt>,
    /// What could not be concluded, and why.
    pub open_questions: Vec<OpenQuestion>,
    /// Why and when it stopped.
    pub ending: Ending,
}

/// What each layer costs, in time per I/O (queue depth / throughput), where serial layers add.
#[derive(Debug, Clone, PartialEq, Serialize)]
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

impl Attribution {
    /// Time per I/O of the full stack, in nanoseconds, with the interval of the layers' cost.
    pub fn full_ns(&self) -> Option<Estimate> {
        let Estimate { value, lo, hi } = self.total_ns?;
        let [value, lo, hi] = [value, lo, hi].map(|cost| self.bare_ns + cost);
        Some(Estimate { value, lo, hi })
    }
}

/// What one layer costs, in nanoseconds per I/O.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Interaction {
    /// The two layers.
    pub layers: [String; 2],
    /// The interaction; `None` before three blocks.
    pub cost_ns: Option<Estimate>,
    /// Whether they cost more or less together than apart.
    #[serde(skip)]
    pub verdict: Option<Verdict>,
}

/// A value with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Point estimate.
    pub value: f64,
    pub lo: f64,
    pub hi: f64,
}

impl From<Interval> for Estimate {
    fn from(interval: Interval) -> Self {
        Self { value: interval.mean, lo: interval.lo, hi: interval.hi }
    }
}

/// One point of a latency percentile curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QuantilePoint {
    /// Quantile in 0..1.
    pub q: f64,
    /// Latency in nanoseconds.
    pub latency_ns: u64,
}

/// The latency at a quantile, if the curve has it.
pub fn latency_at(curve: &[QuantilePoint], q: f64) -> Option<u64> {
    curve.iter().find(|point| (point.q - q).abs() < 1e-9).map(|point| point.latency_ns)
}

/// One trial, for charts and tables.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrialPoint {
    /// Position in the order in which all trials ran.
    pub slot: u32,
    pub block: u32,
    pub arm: String,
    /// Start, nanoseconds since the start of the experiment.
    pub started_ns: u64,
    /// Switching time before it, in nanoseconds.
    pub switch_ns: u64,
    pub outcome: TrialOutcome,
    /// Why, in the words of what was recorded, if not completed.
    #[serde(skip)]
    pub why: Option<String>,
    /// How long the load generator itself was held up.
    #[serde(skip)]
    pub paused_ns: Option<u64>,
    /// Whether some comparison rests on it: usable, in a complete block, not before a change of
    /// the effect, and not after the latest look at the data. In a plain run: usable.
    pub used: bool,
    /// I/Os per second of the primary job.
    pub iops: Option<f64>,
    /// Bytes per second of the primary job.
    pub bytes_per_s: Option<f64>,
    /// Median time of the operations that the primary job is about, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// 99th percentile of latency of the primary job, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// Mean time of a sync of the primary job, in nanoseconds, if it did any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_mean_ns: Option<f64>,
    /// 99th percentile of it, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_p99_ns: Option<u64>,
    /// How its latencies are spread: of syncs where they are what the primary job is about, else of
    /// I/Os. For as many trials as charts show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<LatencySpread>,
    /// Of a trial on several targets: each that some job works on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetPoint>,
    /// I/Os in each second of the primary job.
    pub per_second_ios: Vec<u32>,
    /// Devices, CPUs, pressure and NFS from second to second, for as many trials as charts show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<CounterSeries>,
}

/// What the jobs on one of several targets did in a trial.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetPoint {
    /// What jobs call it.
    pub name: String,
    /// What they did there together.
    pub rates: Rates,
    /// 99th percentile of latency, in nanoseconds, where one job works on it.
    pub p99_ns: Option<u64>,
}

impl TrialPoint {
    /// Whether its figures say something of its arm.
    pub fn is_usable(&self) -> bool {
        match self.outcome {
            TrialOutcome::Completed | TrialOutcome::Degraded => self.iops.is_some(),
            TrialOutcome::Stalled => true,
            TrialOutcome::Paused | TrialOutcome::Failed | TrialOutcome::Interrupted => false,
        }
    }
}

/// Why and when an experiment stopped.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ending {
    /// Why; empty: the record was cut off.
    #[serde(skip)]
    pub reasons: Vec<EndReason>,
    /// Complete blocks.
    pub blocks: u32,
    /// Trials, failed ones included.
    pub trials: u32,
    /// Wall time in nanoseconds.
    pub wall_ns: u64,
    /// Part of it spent on switching between arms.
    pub switch_ns: u64,
    /// If trials are slices: the longest time for which an arm was loaded without a pause, in
    /// nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_load_ns: Option<u64>,
    /// Whether the user interrupted it.
    pub interrupted: bool,
    /// What the record it was read from lacks, for people; empty if it is whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
}
