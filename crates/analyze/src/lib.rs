//! Records to analysis: intervals, verdicts, taxes, warnings. Pure.
#![forbid(unsafe_code)]

mod analysis;
mod analyzer;
mod attribution;
mod blocks;
pub mod caps;
mod change;
mod checks;
mod compare;
mod conclude;
mod described;
mod diagnosis;

pub mod doctor;
pub mod documented;
mod drain;
mod facts;
mod masked;
mod method;
mod phases;
mod pool;
mod precondition;
mod progress;
mod questions;
mod results;
mod stalled;
mod statistics;
pub mod stats;
mod summary;
mod words;

pub use analysis::{
    Analysis, ArmDepths, ArmDrain, ArmPrecondition, ArmSummary, Attribution, Cap, Check,
    Comparison, DepthLevel, DepthResponse, EffectChange, Ending, Estimate, FORMAT, IndexSummary,
    Interaction, JobSummary, LayerCost, Metric, OperationSummary, QuantilePoint, Stalls,
    Steadiness, TrialPoint, Warning,
};
pub use analyzer::Analyzer;
pub use diagnosis::{Confidence, Diagnosis, Suspect};
pub use drain::drain_spec;
pub use masked::{below_the_cap, depth_check, longest_below_the_cap, longest_depth_check};
pub use phases::{Phases, Sustained};
pub use precondition::{PASSES, precondition_spec};
pub use progress::{ArmProgress, Progress};
pub use statistics::{
    CpuFigures, DeviceFigures, DeviceSummary, DirectionFigures, Interval, IntervalDevice,
    MemoryFigures, NfsFigures, NfsSummary, PressureFigures, Quantity, StallFigures, StatisticsLine,
    StatisticsSeries, StatisticsSummary, intervals,
};
pub use stats::verdict::{Sign, Verdict};
