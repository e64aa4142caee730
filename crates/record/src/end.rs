//! How a record ends.

use serde::{Deserialize, Serialize};

/// How an experiment ended; written last. A record without it was cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Why: of phases that ended for reasons of their own, each reason once.
    pub reasons: Vec<EndReason>,
    /// Wall time of the experiment in nanoseconds.
    pub wall_ns: u64,
    /// Whether the user interrupted it.
    pub interrupted: bool,
    /// Whether it was given up because an arm kept failing.
    #[serde(default)]
    pub gave_up: bool,
    /// Trials that were run; `None` in records that do not say.
    #[serde(default)]
    pub trials: Option<u32>,
    /// What other programs of this machine used meanwhile; `None` where trials ran elsewhere, and in records that
    /// do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_programs: Option<OtherPrograms>,
}

/// What programs beside iotax, those that it started and the kernel's own threads used from the first trial to
/// the end of the last.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OtherPrograms {
    /// Time in between, in nanoseconds.
    pub span_ns: u64,
    /// CPU time of all of them, in nanoseconds, summed over CPUs.
    pub cpu_ns: u64,
    /// What each of them read and wrote is known, which takes root's rights.
    pub io_is_known: bool,
    /// Those with the most, the largest first.
    pub largest: Vec<ProgramUse>,
}

/// Processes of one name, with those that they started and that ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProgramUse {
    /// What the kernel calls them: 15 bytes of the command's name.
    pub name: String,
    /// CPU time in nanoseconds, summed over CPUs.
    pub cpu_ns: u64,
    /// Bytes that storage delivered to them; 0 if that is not known.
    pub read_bytes: u64,
    /// Bytes that they had written to storage; 0 if that is not known.
    pub write_bytes: u64,
}

/// Why an experiment ended. How many blocks were asked for, how precise the answers had to be, and
/// what was compared, is in the experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// All that was asked for was run.
    AllRun,
    /// Each of what is compared has its verdict, or is one of these.
    Resolved { besides: Option<Besides> },
    /// No arm keeps up with the offered rate.
    NoneKeepsUp,
    /// No arm completes anything within its window.
    NoneCompletes,
    /// An arm does not keep up what its short slices show for as long as arms were held.
    NotKeptUp,
    /// Every effect changed, too late for a verdict on the blocks since.
    AllChanged,
    /// No number of blocks that may be run brings a verdict on these (`None`: all); so many would.
    OutOfReach { futile: Option<u32>, needed: Option<u32> },
    /// The last planned look at the data was taken.
    LastLook { blocks: u32 },
    /// No node of a fleet is suspected any more.
    NoNodeStandsOut { rounds: u32 },
    /// Every rule is broken or kept.
    RulesDecided,
    /// No number of blocks that may be run decides those that are left; so many would.
    RulesOutOfReach { needed: Option<u32> },
    /// An arm completed nothing in so many trials in a row.
    ArmSilent { arm: String, trials: u32 },
    /// An arm failed so many times in a row.
    ArmFailed { arm: String, times: u32 },
    /// How each arm answers to its depth is clear.
    DepthsClear,
    /// The time that was given was over.
    TimeUp,
    /// The user stopped it.
    Interrupted,
    /// The span was written, and the workload only reads.
    SpanWritten,
    /// All arms were steady.
    Steady { rounds: u32 },
    /// Not all arms were steady.
    NotSteady { rounds: u32 },
    /// Burst credits were spent, or the time for that was over.
    Drained,
    /// All that a search asked is decided.
    SearchDecided,
    /// A search could make no more probes.
    SearchFailed(String),
    /// Nothing was run: results were read.
    ResultsRead { results: u32 },
    /// In the words of a record of format 2 or before.
    Said(String),
}

/// What has no verdict of the usual kind, and will have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Besides {
    /// What does not keep up with the offered rate.
    Overloaded,
    /// What completes nothing, as its baseline.
    Silent,
    /// What has an effect that changed during the run.
    Changed,
    /// What has a verdict in most slices, where all together would take much longer.
    InMostSlices,
}
