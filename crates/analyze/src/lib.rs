//! Records to analysis: intervals, verdicts, taxes, warnings. Pure.
#![forbid(unsafe_code)]

mod analysis;
mod analyzer;
mod attribution;
mod blocks;
mod checks;
mod compare;
mod conclude;
mod facts;
mod method;
mod pool;
mod progress;
mod questions;
pub mod stats;
mod summary;
mod words;

pub use analysis::{
    Analysis, ArmSummary, Attribution, Check, Comparison, Ending, Estimate, FORMAT, IndexSummary,
    Interaction, JobSummary, LayerCost, Metric, QuantilePoint, TrialPoint, Warning,
};
pub use analyzer::Analyzer;
pub use progress::{ArmProgress, Progress};
pub use stats::verdict::{Sign, Verdict};
