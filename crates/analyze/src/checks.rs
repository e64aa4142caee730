//! Self-checks: reasons to doubt the figures, each with what to do about it.
//!
//! One file per check. To add one: its file, its `mod` line, and its line in [`CHECKS`].

use iotax_record::Experiment;

use crate::analysis::Warning;
use crate::blocks::Blocks;
use crate::conclude::Conclusion;
use crate::facts::TrialFacts;
use crate::method::Method;

/// Everything a check may look at.
pub(crate) struct Evidence<'a> {
    pub experiment: &'a Experiment,
    pub names: &'a [String],
    /// All trials, in the order in which they ran.
    pub trials: &'a [&'a TrialFacts],
    pub blocks: &'a Blocks<'a>,
    pub conclusions: &'a [Conclusion],
    pub method: &'a Method,
}

pub(crate) fn run(_evidence: &Evidence<'_>) -> Vec<Warning> {
    Vec::new()
}
