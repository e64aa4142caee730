//! Reasons to doubt the figures.

use iotax_experiment::Subject;
use iotax_record::{BusyOne, PathEnd};
use serde::Serialize;

use crate::analysis::{Against, EffectChange, PlaceEffect, Steadiness};
use crate::metrics::Metric;

/// What a self-check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    FailedTrials,
    /// Trials in which the load generator itself did not run for a while.
    Paused,
    /// Replays that could not keep up with their recording.
    ReplayLate,
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
    /// One thread, or one CPU with interrupts, limits a network flow, while the machine has CPU
    /// left.
    OneCore,
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
    /// Targets of one trial on the same storage.
    SharedStorage,
    /// A file server granted something else than was asked for.
    NotGranted,
    /// The level of all arms, or the effect of one, changed at some time.
    RegimeShift,
    /// It made a difference which trial came first in a block.
    PlaceEffect,
    /// Slices do not show what longer trials do.
    ShortSlices,
    /// Writes were not at steady state.
    NotSteady,
    /// Block differences depend on each other.
    Dependence,
    /// Trials shorter than what their noise needs, too few I/Os for the tail, and so on.
    Precision,
}

/// What a doubt changes for the reader.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// The figures themselves are in doubt: shown before any figure.
    Severe,
    /// The figures are less precise, or mean something slightly different.
    #[default]
    Minor,
    /// Part of what was measured, and not a fault: shown as a line without alarm.
    Context,
}

impl Check {
    pub const fn weight(self) -> Weight {
        match self {
            Self::DifferentStorage => Weight::Context,
            Self::LayerCache
            | Self::Steal
            | Self::NotInterleaved
            | Self::SharedStorage
            | Self::NotGranted
            | Self::RegimeShift
            | Self::Dependence
            | Self::Precision => Weight::Minor,
            _ => Weight::Severe,
        }
    }
}

/// A reason to doubt the figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt {
    pub kind: DoubtKind,
    /// `None`: the whole experiment.
    pub of: Option<Subject>,
    /// In how many trials it was seen, or how many are behind it.
    pub trials: u32,
    /// Of how many trials that were looked at, where it is about each alone.
    pub of_trials: Option<u32>,
}

/// What was seen, with figures: of several trials of an arm the worst.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DoubtKind {
    /// So many blocks did not read back as written.
    Mismatch { blocks: u64 },
    /// With the first error, as the load generator told it.
    IoErrors { errors: u64, short: u64, ios: u64, first: Option<String> },
    /// With why the first one did.
    Failed { first: Option<String> },
    /// The load generator itself did not run, for this long at most.
    Paused { longest_ns: u64 },
    /// How late I/Os started, and the time per I/O in the recording.
    ReplayLate { mean_ns: f64, p99_ns: u64, recorded_ns: u64 },
    /// Nothing completed: fewer than this many per second.
    StalledTrials { below_per_s: f64 },
    /// What is in flight by throughput and latency, and what it must be.
    LittlesLaw { job: String, by_latency: f64, against: InFlight },
    /// More than this many CPUs can copy at this rate each.
    ImpossibleSpeed { job: String, bytes_per_s: f64, cpus: u32, copy_bytes_per_s: f64 },
    /// Layers that only add work make it faster.
    WrongSign { metric: Metric, tax: Option<f64> },
    /// Direct I/O was asked for, and goes through the page cache.
    NotBypassed,
    /// Devices moved less than was asked of them.
    CacheAnswered { way: CacheWay, asked_bytes: f64, moved_bytes: f64 },
    /// What passes for a disk is this file system, in memory.
    InMemory { file_system: String },
    /// As the site of the arm tells it.
    LayerCache { cache: String },
    /// What the proof of a cold cache lacks.
    ColdCache { found: ColdCache },
    /// Of an arm and the first one.
    DifferentStorage,
    /// Of two targets of one trial.
    SharedStorage { targets: [String; 2] },
    /// By a file server.
    NotGranted { options: Vec<GrantedOtherwise> },
    /// A share of what was offered.
    RateNotReached { job: String, achieved: f64 },
    /// The latest start, beside the tail that it is held against.
    Late { job: String, slip_ns: u64, p99_ns: u64 },
    /// What the load generator takes of the time for an I/O.
    GeneratorShare { job: String, own_ns: f64, per_io_ns: f64 },
    /// Of the CPUs that this process may use.
    CpusBusy { busy: f64, cpus: f64 },
    /// A thread, or a CPU with interrupts.
    OneCore(OneCore),
    /// It also says whether the blocks since then have a verdict.
    EffectChanged { metric: Metric, change: EffectChange, is_decided: bool },
    /// The level of all arms, after this block, or trial of a plain run, counted from 1.
    LevelChanged { metric: Metric, after: u32, ratio: f64 },
    /// Seen by the depth check.
    LevelSince { arms: Vec<LevelShift> },
    /// `ratio`: the figure of an arm's long slices over that of its short ones.
    ShortSlices { metric: Metric, ratio: f64, short_ns: u64, long_ns: u64, outcome: SlicesOutcome },
    /// Preconditioning ended before that.
    NotSteady { rounds: u32, window: Option<Steadiness> },
    /// Over this many blocks, or trials of a plain run.
    Trend { metric: Metric, ratio: f64, over: u32, is_preconditioned: bool },
    /// Which trial came first in a block.
    OrderMatters(OrderMatters),
    /// Of successive blocks, and how much independent ones would have at most.
    Dependence { metric: Metric, autocorrelation: f64, bound: f64 },
    /// Of all CPU time, by the hypervisor.
    Steal { share: f64 },
    /// Of all CPU time.
    OtherPrograms { share: f64 },
    /// The slowest second as a share of the mean one.
    StalledSecond { least: f64 },
    /// A trial of `time_ns`, whole seconds, would have enough.
    TailSamples { metric: Metric, has: u64, needed: u64, time_ns: u64 },
    /// I/Os in flight.
    DepthNotKept { job: String, asked: u64, kept: f64 },
    /// That keeps comparisons undecided.
    Noise(Noise),
    /// Blocks that agree better than disks do.
    Narrow { of: Vec<Subject>, spread: f64 },
    /// As the reader of the results told it.
    UnlikeResults { said: String },
    /// One stood in for another, which a sandbox forbids.
    OtherEngines,
    /// Nobody dealt out the order of the runs.
    NotInterleaved,
}

/// One thread, or one CPU with interrupts, that limits a flow.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OneCore {
    /// `None`: both ends are on one machine.
    pub end: Option<PathEnd>,
    pub one: BusyOne,
    pub share: f64,
    /// Share of that with interrupts.
    pub interrupts: f64,
    /// Share of all CPU time that was left.
    pub left: f64,
}

/// A difference that depends on which trial came first in a block.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OrderMatters {
    pub metric: Metric,
    pub place: PlaceEffect,
    #[serde(skip)]
    pub base: Option<Against>,
}

/// Noise that keeps comparisons undecided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Noise {
    pub of: Vec<Subject>,
    /// The least and the most.
    pub spread: [f64; 2],
    /// `None`: no number of blocks would decide.
    pub outlook: Option<Outlook>,
    /// Of a trial, where longer ones are what would help.
    pub best_time_s: Option<f64>,
    /// What most of it is from, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<NoiseSource>,
}

/// What most of the noise is from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoiseSource {
    /// Other programs of this machine: their share of all CPU time, and those that use most.
    Programs { cpu_share: f64, programs: Vec<Program> },
    /// The hypervisor, which took this share of all CPU time.
    Steal { share: f64 },
    /// So few trials at less than half of the usual speed carry this share of the noise.
    Stalls { trials: u32, of: u32, share: f64 },
    /// The storage itself: how much a trial differs from the next. `is_alone`: no other program of
    /// this machine uses storage much; else it is not known what they read and write.
    Storage { variation: f64, is_alone: bool },
}

/// Another program, and what it uses most.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Program {
    pub name: String,
    pub load: ProgramLoad,
}

/// What a program does to a machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramLoad {
    /// Of all CPU time.
    Cpu {
        share: f64,
    },
    Reads {
        bytes_per_s: f64,
    },
    Writes {
        bytes_per_s: f64,
    },
}

/// What the number in flight by latency is held against.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InFlight {
    /// Threads times depth.
    Allowed(f64),
    Counted(f64),
}

/// How a cache answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheWay {
    DirectRead,
    DirectWrite,
    /// Written as fast as it went, and never synced.
    NeverSynced,
}

/// Why a cold cache is not proved.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ColdCache {
    NoDevice { file_system: Option<String> },
    Unknown,
    Short { read_bytes: f64, delivered_bytes: f64 },
    Excess { read_bytes: f64, delivered_bytes: f64 },
}

/// An option for which a file server granted another value than requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct GrantedOtherwise {
    pub option: GrantedOption,
    pub asked: u64,
    pub granted: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantedOption {
    ReadSize,
    WriteSize,
    Connections,
}

/// An arm whose level was another one in the depth check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelShift {
    pub arm: String,
    /// I/Os per second in the comparison, and in the depth check; medians.
    pub iops: [f64; 2],
}

/// Blocks that a verdict takes are within reach up to this many times those that were run.
pub const REACH: u32 = 10;

/// Whether a verdict that needs `needed` blocks, or trials, in all is within reach after `spent` of
/// them.
pub const fn is_within_reach(needed: u32, spent: u32) -> bool {
    needed <= spent.saturating_mul(REACH)
}

/// What a verdict would take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outlook {
    /// The fewest and the most of several.
    Blocks([u32; 2]),
    /// More than [`REACH`] times the blocks that were run.
    OutOfReach,
    Withheld(Withheld),
}

/// What became of a comparison whose short slices show something else than longer ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SlicesOutcome {
    /// It rests on the trials of the usual length that followed.
    GivenUp,
    /// Its verdict is taken back: trials of the usual length would show the same as slices.
    Withheld,
    /// The run ended before there were other trials.
    Ended,
    /// The run ended before it was sure that they differ.
    Unsure,
}

/// Why the interval's own verdict was taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Withheld {
    /// The family of comparisons does not support it.
    AfterHolm,
    /// Only independent blocks bear it.
    IfDependent,
    /// The place of the trials makes a difference, too, which so few blocks do not tell apart.
    OrderMatters,
    /// It may be that of the engines: one stood in for another.
    OtherEngines,
    /// It is that of short slices, and an arm does not keep up what these show.
    NotKept,
    /// A replay that starts its I/Os late hides what the storage costs.
    ReplayLate,
}

impl DoubtKind {
    /// Which self-check finds it.
    pub const fn check(&self) -> Check {
        match self {
            Self::Mismatch { .. } => Check::VerifyMismatch,
            Self::IoErrors { .. } => Check::IoErrors,
            Self::Failed { .. } => Check::FailedTrials,
            Self::Paused { .. } => Check::Paused,
            Self::ReplayLate { .. } => Check::ReplayLate,
            Self::StalledTrials { .. } => Check::StalledTrials,
            Self::LittlesLaw { .. } => Check::LittlesLaw,
            Self::ImpossibleSpeed { .. } => Check::ImpossibleSpeed,
            Self::WrongSign { .. } => Check::WrongSign,
            Self::NotBypassed | Self::CacheAnswered { .. } | Self::InMemory { .. } => {
                Check::CacheAnswered
            }
            Self::LayerCache { .. } => Check::LayerCache,
            Self::ColdCache { .. } => Check::ColdCacheUnproven,
            Self::DifferentStorage => Check::DifferentStorage,
            Self::SharedStorage { .. } => Check::SharedStorage,
            Self::NotGranted { .. } => Check::NotGranted,
            Self::RateNotReached { .. } | Self::Late { .. } => Check::ScheduleSlip,
            Self::GeneratorShare { .. } | Self::CpusBusy { .. } => Check::GeneratorBound,
            Self::OneCore(_) => Check::OneCore,
            Self::EffectChanged { .. } | Self::LevelChanged { .. } | Self::LevelSince { .. } => {
                Check::RegimeShift
            }
            Self::ShortSlices { .. } => Check::ShortSlices,
            Self::NotSteady { .. } | Self::Trend { .. } => Check::NotSteady,
            Self::OrderMatters(_) => Check::PlaceEffect,
            Self::Dependence { .. } => Check::Dependence,
            Self::Steal { .. } => Check::Steal,
            Self::OtherPrograms { .. }
            | Self::StalledSecond { .. }
            | Self::TailSamples { .. }
            | Self::DepthNotKept { .. }
            | Self::Noise(_)
            | Self::Narrow { .. } => Check::Precision,
            Self::UnlikeResults { .. } | Self::OtherEngines => Check::AnotherJob,
            Self::NotInterleaved => Check::NotInterleaved,
        }
    }
}

impl Doubt {
    /// Of the whole experiment.
    pub const fn of_all(kind: DoubtKind, trials: u32) -> Self {
        Self { kind, of: None, trials, of_trials: None }
    }

    pub const fn about(subject: Subject, kind: DoubtKind, trials: u32) -> Self {
        Self { kind, of: Some(subject), trials, of_trials: None }
    }

    /// Of several comparisons together.
    pub(crate) fn about_each(of: &[Subject], kind: DoubtKind, trials: u32) -> Self {
        let of = if let [only] = of { Some(only.clone()) } else { None };
        Self { kind, of, trials, of_trials: None }
    }

    pub const fn check(&self) -> Check {
        self.kind.check()
    }

    pub const fn is_severe(&self) -> bool {
        matches!(self.check().weight(), Weight::Severe)
    }
}
