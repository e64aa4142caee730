//! What was not concluded.

use iotax_experiment::Subject;
use serde::Serialize;

use super::{Outlook, Withheld};
use crate::metrics::Metric;

/// What could not be concluded, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OpenQuestion {
    /// The record has no end.
    NoEnd,
    /// The record has other trials than were run.
    Cut { held: u32, run: u32 },
    /// Comparisons that ended without a verdict.
    NoAnswer { metric: Metric, of: Vec<Subject>, why: NoAnswer },
    /// A verdict whose size is known less precisely than asked for, and the blocks that would do;
    /// `None`: more than is worth telling.
    Imprecise { metric: Metric, of: Subject, range: [f64; 2], blocks: Option<u32> },
    /// What these layers cost, in a design that cannot say on which others it depends.
    DependsOnOthers { layers: Vec<String> },
    /// A peel whose arms allow no contrasts.
    NoDesign,
    /// Those after the last look are in no conclusion.
    TooManyBlocks { blocks: u32, last_look: u32 },
    /// Whether a cap explains equal throughput: no other depth was tried.
    CapNotTested { of: Vec<Subject> },
    /// The same: CPUs or threads were busy on some arms.
    CapBehindCpu { of: Vec<Subject>, busy: Vec<String> },
    /// The same: some arms serve one I/O at a time.
    CapOneAtATime { of: Vec<Subject>, arms: Vec<String> },
    /// The same: the depths contradict each other, or are too noisy.
    CapUnclear { of: Vec<Subject> },
    /// What these cost: a cap hides it.
    Masked { of: Vec<Subject> },
    /// Saved results: their caps can no longer be measured.
    MaskedResults { of: Vec<Subject> },
    /// Whether these ran on burst credits: none ended while they were drained.
    NeverFell { arms: Vec<String>, seconds: f64 },
    /// These ran on credits that came back.
    BurstAgain { arms: Vec<String> },
    /// What faster CPUs would pay, where layers compute.
    CpuByDesign { arms: Vec<String> },
    /// CPU time is that of all programs.
    CpuOfMachine,
    /// Latencies at a rate count from submission.
    FromSubmission,
    /// In a closed loop arms get different loads, so their tails are not compared.
    TailsDescribed,
    /// Of saved results: latencies at a rate as other tools count them, or of unlike loads.
    TailsOfResults { is_at_a_rate: bool },
    /// No trial stalled. Stalls may still happen, at a rate that this many trials leave open.
    NoStall { trials: u32 },
    /// Of saved results that do not have them.
    NoPercentiles { arms: Vec<String> },
    /// What saved results do not tell.
    NotChecked { are_ours: bool },
}

/// Why a comparison has no verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NoAnswer {
    /// The offered rate was not reached.
    Overloaded,
    /// Successive blocks depend on each other.
    NotIndependent,
    /// A quantile needs this many I/Os in a trial.
    TailSamples { needed: u64 },
    /// Neither side completed anything.
    Silent { blocks: u32 },
    /// Trials that gave nothing could turn it around.
    Lost,
    /// Some trials completed nothing, so only the sign of each difference counts. `more` blocks
    /// like these would decide.
    OnlySigns { more: Option<u32> },
    /// The effect was another one in the end, or in the depth check that followed.
    Changed { in_depth_check: bool },
    /// After this many complete blocks.
    BeforeFirstLook { complete: u32 },
    /// After this many blocks.
    Noise { blocks: u32, outlook: Option<Outlook> },
    /// Saved results of the baseline and of the arm.
    FewResults { base: String, results: [u32; 2] },
    /// The same, of which this much is known.
    WideResults { results: [u32; 2], range: [f64; 2], withheld: Option<Withheld> },
}
