//! The end of a record.

use serde::{Deserialize, Serialize};

/// How an experiment ended; written last. A record without it was interrupted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The reasons, each once, if phases ended for different reasons.
    pub reasons: Vec<EndReason>,
    /// Wall time of the experiment in nanoseconds.
    pub wall_ns: u64,
    /// Whether the user interrupted it.
    pub interrupted: bool,
    /// Whether it was stopped because an arm kept failing.
    #[serde(default)]
    pub gave_up: bool,
    /// Number of trials that were run; `None` in records without it.
    #[serde(default)]
    pub trials: Option<u32>,
    /// Resources that other programs of this machine used meanwhile; `None` if trials ran
    /// elsewhere, and in records without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_programs: Option<OtherPrograms>,
}

/// Resources that other programs used from the first trial to the end of the last. Excludes iotax,
/// programs that it started, and kernel threads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OtherPrograms {
    /// Length of that time, in nanoseconds.
    pub span_ns: u64,
    /// CPU time of all of them, in nanoseconds, summed over CPUs.
    pub cpu_ns: u64,
    /// Whether their I/O is known, which requires root.
    pub io_is_known: bool,
    /// The programs with the highest use, the largest first.
    pub largest: Vec<ProgramUse>,
}

/// Processes with one name, including children that ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProgramUse {
    /// Name in the kernel: 15 bytes of the command name.
    pub name: String,
    /// CPU time in nanoseconds, summed over CPUs.
    pub cpu_ns: u64,
    /// Bytes read from storage; 0 if unknown.
    pub read_bytes: u64,
    /// Bytes written to storage; 0 if unknown.
    pub write_bytes: u64,
}

/// Why an experiment ended. The experiment itself has the number of blocks, the requested precision
/// and the comparisons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// Everything requested was run.
    AllRun,
    /// Each comparison has its verdict, or is one of these.
    Resolved { besides: Option<Besides> },
    /// No arm reaches the offered rate.
    NoneKeepsUp,
    /// No arm completes an I/O within its window.
    NoneCompletes,
    /// An arm does not sustain the throughput of its short slices while it is held.
    NotKeptUp,
    /// Every effect changed, too late for a verdict on the later blocks.
    AllChanged,
    /// No allowed number of blocks leads to a verdict on these (`None`: all); this many would be
    /// needed.
    OutOfReach { futile: Option<u32>, needed: Option<u32> },
    /// The last planned analysis was made.
    LastLook { blocks: u32 },
    /// No node of a fleet is suspicious any more.
    NoNodeStandsOut { rounds: u32 },
    /// Every rule is decided.
    RulesDecided,
    /// No allowed number of blocks decides the remaining rules; this many would be needed.
    RulesOutOfReach { needed: Option<u32> },
    /// An arm completed nothing in this many trials in a row.
    ArmSilent { arm: String, trials: u32 },
    /// An arm failed this many times in a row.
    ArmFailed { arm: String, times: u32 },
    /// The effect of the depth is clear for each arm.
    DepthsClear,
    /// The time limit was reached.
    TimeUp,
    /// The user stopped it.
    Interrupted,
    /// The span was written, and the workload only reads.
    SpanWritten,
    /// All arms were steady.
    Steady { rounds: u32 },
    /// Not all arms were steady.
    NotSteady { rounds: u32 },
    /// Burst credits were spent, or the time for it was over.
    Drained,
    /// All questions of a search are decided.
    SearchDecided,
    /// A search could not make more probes.
    SearchFailed(String),
    /// Nothing was run: results were read from files.
    ResultsRead { results: u32 },
    /// Text from a record of format 2 or earlier.
    Said(String),
}

/// Comparisons without one of the usual verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Besides {
    /// Arms that do not reach the offered rate.
    Overloaded,
    /// Arms that complete nothing, like their baseline.
    Silent,
    /// Arms whose effect changed during the run.
    Changed,
    /// Arms with a verdict in most slices, where all slices together would take much longer.
    InMostSlices,
}
