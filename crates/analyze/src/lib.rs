//! Records to analysis: intervals, verdicts, taxes, warnings. Pure.
#![forbid(unsafe_code)]

mod analysis;
pub mod stats;

pub use analysis::{
    Analysis, ArmSummary, Attribution, Check, Comparison, Ending, Estimate, FORMAT, IndexSummary,
    Interaction, JobSummary, LayerCost, Metric, QuantilePoint, TrialPoint, Warning,
};
pub use stats::verdict::{Sign, Verdict};
