//! The specification of an experiment: a draft while it is put together, then final: what `plan`, `run`
//! and `analyze` work from.

use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use iotax_layers::{Cloud, Error, Form, Layer, Stack};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::cloud::CloudChoice;
use crate::host_commands::HostCommands;
use crate::matrix::Setting;
use crate::rule::{Rule, UndecidedAs};
use crate::side_runs::{SidePhase, SideRuns};
use crate::workload::{Workload, is_default, is_one, one};

/// What is asked for, with nothing left open. It can be read, and nothing changes it any more: whoever
/// needs another one makes one of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Final<T>(T);

/// A resolved experiment; written into its record.
pub type Spec = Final<Draft>;

impl<T> Deref for Final<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Final<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T: Clone> Final<T> {
    /// Another one, which differs by `change`.
    #[must_use]
    pub fn with(&self, change: impl FnOnce(&mut T)) -> Self {
        let mut other = self.clone();
        change(&mut other.0);
        other
    }

    /// The same, if the change can be made.
    pub fn try_with<E>(&self, change: impl FnOnce(&mut T) -> Result<(), E>) -> Result<Self, E> {
        let mut other = self.clone();
        change(&mut other.0)?;
        Ok(other)
    }
}

/// Everything that decides what an experiment does, while it may still change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// The load, the same in every arm: at least one phase. They run one after the other, each with
    /// verdicts of its own.
    #[serde(deserialize_with = "at_least_one")]
    pub phases: Vec<Workload>,
    /// Of a side run: what each phase is there for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub side_phases: Vec<SidePhase>,
    /// Name of the phases together, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub source: Source,
    /// What is compared; the first one is the baseline.
    pub arms: Vec<Arm>,
    /// How the arms relate to each other.
    pub design: Design,
    /// When to stop.
    pub stop: Stop,
    /// Seed of every random choice: block order, offsets, data.
    pub seed: u64,
    /// What the arms are said to be, to set their throughput beside documented limits.
    #[serde(default, skip_serializing_if = "CloudChoice::is_empty")]
    pub cloud: CloudChoice,
    /// What is run beside it.
    #[serde(default, skip_serializing_if = "SideRuns::is_none")]
    pub side_runs: SideRuns,
    /// What must not come out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fail_if: Vec<Rule>,
    /// What a rule that stays undecided counts as; `None`: it has an exit code of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<UndecidedAs>,
    /// If trials are slices: how long each arm is also loaded at a stretch, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_ns: Option<u64>,
    /// How many trials of a block are performed at the same time, on hosts of their own.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub at_once: u32,
    /// Of saved results: jobs that one side of a comparison alone has, which are left out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unmatched_jobs: u32,
    /// How its test files were fitted to the room there is, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted: Option<Fitted>,
}

/// Where an experiment's trials come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Load is driven at the targets.
    #[default]
    Rig,
    /// They were measured before; the target of an arm is the path of its results.
    SavedResults,
}

/// One configuration under comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// Unique within the experiment; any text (a bare target is named by itself), so not a file
    /// name.
    pub name: String,
    /// What the load is driven at.
    pub target: Target,
    /// What drives it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub driver: Driver,
    /// Of an arm with several targets taken apart: which of them it is. See
    /// [`Draft::arms_by_target`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Of a matrix: the level that it has of each factor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Setting>,
    /// The arm that it is compared with, if arms have baselines of their own: see [`Draft::pairs`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Commands that make and undo a setting of the host around its turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_commands: Option<HostCommands>,
}

fn at_least_one<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Workload>, D::Error> {
    let phases = Vec::deserialize(from)?;
    if phases.is_empty() {
        return Err(D::Error::invalid_length(0, &"at least one phase"));
    }
    Ok(phases)
}

impl Draft {
    /// The experiment as it is from now on.
    ///
    /// # Errors
    /// What cannot run.
    pub fn resolve(self) -> Result<Spec, Error> {
        self.validate()?;
        Ok(Final(self))
    }

    /// Likewise, where nothing is driven: of results that were saved, or to make targets for others.
    pub const fn unchecked(self) -> Spec {
        Final(self)
    }

    /// The load, or the first of its phases.
    pub fn workload(&self) -> &Workload {
        &self.phases[0]
    }

    /// Rules that are judged: those that were set, then what the (first) workload requires.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.fail_if.iter().chain(self.workload().requires.iter().map(|requires| &requires.rule))
    }

    /// Whether nothing is run: all arms are results that exist already.
    pub fn is_of_results(&self) -> bool {
        self.source == Source::SavedResults
    }

    /// Whether latencies of all arms count from submission, even at an offered rate: fio, which
    /// drives some of them, knows no time at which an I/O was due, and only what is defined alike
    /// can be compared.
    pub fn counts_from_submission(&self) -> bool {
        self.arms.iter().any(|arm| arm.driver == Driver::Fio)
    }
}

impl Arm {
    /// An arm that the native engines drive.
    pub fn new(name: impl Into<String>, target: Target) -> Self {
        Self {
            name: name.into(),
            target,
            driver: Driver::Native,
            part: None,
            levels: Vec::new(),
            against: None,
            host_commands: None,
        }
    }
}

/// What an arm drives load at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A directory, a file or a block device; which one is found out on the machine.
    Path(PathBuf),
    /// A stack of layers, in this process or of the system.
    Stack(Stack),
    /// Several at the same time, each for the jobs that call theirs by its name.
    Several(Vec<NamedTarget>),
}

impl Target {
    /// Whether it is a stack with layers of the system.
    pub fn is_in_system(&self) -> bool {
        self.each().iter().any(|one| one.stack().is_some_and(|stack| !stack.is_in_process()))
    }

    /// Whether it is a stack that lives in this process alone, or several of them.
    pub fn is_in_process(&self) -> bool {
        self.each().iter().all(|one| one.stack().is_some_and(Stack::is_in_process))
    }

    /// Whether it is a network path.
    pub fn is_network(&self) -> bool {
        self.stack().is_some_and(|stack| stack.form().is_network())
    }

    /// Whether load encrypts its connections itself, once each.
    pub(crate) fn is_encrypted_by_load(&self) -> bool {
        self.stack().is_some_and(|stack| stack.form() == Form::Connections)
    }

    /// The path, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Stack(_) | Self::Several(_) => None,
        }
    }

    /// The stack, if it is one.
    pub fn stack(&self) -> Option<&Stack> {
        match self {
            Self::Stack(stack) => Some(stack),
            Self::Path(_) | Self::Several(_) => None,
        }
    }

    /// Its layers from bottom to top; a path has none.
    pub fn layers(&self) -> &[Layer] {
        self.stack().map_or(&[], |stack| &stack.layers)
    }

    /// The disk of a cloud that it stands on, if it does.
    pub fn cloud(&self) -> Option<&Cloud> {
        self.stack()?.cloud()
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(f, "{}", path.display()),
            Self::Stack(stack) => stack.fmt(f),
            Self::Several(targets) => {
                let texts: Vec<String> = targets.iter().map(ToString::to_string).collect();
                write!(f, "{}", texts.join(", "))
            }
        }
    }
}

/// A target that some jobs of a workload work on, beside others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedTarget {
    /// What the jobs call it: [`Job::target`](crate::Job::target).
    pub name: String,
    /// What it is.
    pub target: Target,
}

impl fmt::Display for NamedTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.target)
    }
}

/// What gives way where test files find no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Yields {
    /// The sizes of its largest files; those of others, and all times, stay.
    Spans,
    /// All of it, as with [`Workload::scale`](crate::Workload::scale), because its jobs have to
    /// keep their proportions.
    Scale {
        /// The length of the measured window is a default, too.
        time: bool,
        /// The length of the discarded start is a default, too.
        ramp: bool,
    },
}

/// How test files were fitted to the room there is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    /// The arm with the least room.
    pub arm: usize,
    /// What it has for test files.
    pub free_bytes: u64,
    /// What they would have taken.
    pub from_bytes: u64,
    /// What they take.
    pub to_bytes: u64,
    /// The factor on all sizes, and on times that were not asked for; without one, only the
    /// largest files are smaller.
    pub scale: Option<f64>,
}

/// What drives a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// iotax's own engines.
    #[default]
    Native,
    /// The program fio.
    Fio,
    /// The program iperf3, over network paths.
    Iperf3,
}

/// How arms relate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// One arm: a plain run.
    Single,
    /// Every arm against the first.
    Compare,
    /// Every arm, a node of a fleet, against the others.
    Fleet,
    /// Subsets of optional layers of one stack.
    Peel {
        /// Optional layers from bottom to top, by the name shown.
        layers: Vec<String>,
        /// `masks[i]` says which layers arm `i` has: bit `k` is `layers[k]`. The first is 0.
        masks: Vec<u32>,
    },
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    /// How much certainty is asked for.
    pub mode: StopMode,
    /// Differences below this fraction count as none (0.05 = 5 %).
    pub margin: f64,
    /// Overall error rate.
    pub alpha: f64,
    /// Intervals hold for all arms at once instead of one by one.
    pub simultaneous: bool,
    /// Blocks at most.
    pub max_blocks: u32,
    /// Whether the user asked for `max_blocks`. If not, there may be more blocks of slices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub max_blocks_asked: bool,
    /// Blocks at least: a fixed number of trials when equal to `max_blocks`.
    pub min_blocks: u32,
    /// Wall time at most; the block under way is finished.
    pub max_time_ns: Option<u64>,
}

/// How much certainty is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopMode {
    /// Stop at any verdict.
    Quick,
    /// A verdict, and its size to within the margin or a third of the effect.
    Default,
    /// Within 1 point or a tenth of the effect.
    Tight,
}
