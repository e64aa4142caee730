//! The specification of an experiment: first a draft, then final. `plan`, `run` and `analyze` use
//! the final one.

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

/// A complete request. It can be read but not changed; to change it, create another one.
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
    /// A copy with `change` applied.
    #[must_use]
    pub fn with(&self, change: impl FnOnce(&mut T)) -> Self {
        let mut other = self.clone();
        change(&mut other.0);
        other
    }

    /// A copy, if the change succeeds.
    pub fn try_with<E>(&self, change: impl FnOnce(&mut T) -> Result<(), E>) -> Result<Self, E> {
        let mut other = self.clone();
        change(&mut other.0)?;
        Ok(other)
    }
}

/// Everything that determines what an experiment does, while it may still change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// The load, the same for every arm: at least one phase. Phases run one after the other, each
    /// with its own verdicts.
    #[serde(deserialize_with = "at_least_one")]
    pub phases: Vec<Workload>,
    /// For a side run: the role of each phase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub side_phases: Vec<SidePhase>,
    /// Name of the phases together, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub source: Source,
    /// The arms to compare; the first one is the baseline.
    pub arms: Vec<Arm>,
    /// How the arms relate to each other.
    pub design: Design,
    /// When to stop.
    pub stop: Stop,
    /// Seed for all random choices: block order, offsets, data.
    pub seed: u64,
    /// What the arms are, to show their throughput next to documented limits.
    #[serde(default, skip_serializing_if = "CloudChoice::is_empty")]
    pub cloud: CloudChoice,
    /// Runs beside it.
    #[serde(default, skip_serializing_if = "SideRuns::is_none")]
    pub side_runs: SideRuns,
    /// Conditions that must not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fail_if: Vec<Rule>,
    /// How to treat a rule that stays undecided; `None`: it has its own exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<UndecidedAs>,
    /// If trials are slices: how long each arm is also loaded without a break, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_ns: Option<u64>,
    /// Number of trials of a block that run at the same time, on separate hosts.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub at_once: u32,
    /// For saved results: number of jobs that only one side has, and that are left out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unmatched_jobs: u32,
    /// How its test files were fitted to the available space, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted: Option<Fitted>,
}

/// Where an experiment's trials come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Load is run on the targets.
    #[default]
    Rig,
    /// They were measured before; the target of an arm is the path of its results.
    SavedResults,
}

/// One of the compared configurations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// Unique within the experiment; any text (a bare target is named by itself), so not a file
    /// name.
    pub name: String,
    /// Its target.
    pub target: Target,
    /// Its load generator.
    #[serde(default, skip_serializing_if = "is_default")]
    pub driver: Driver,
    /// For one target of an arm with several: its name. See [`Draft::arms_by_target`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// In a matrix: its level for each factor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Setting>,
    /// The arm it is compared with, if arms have separate baselines: see [`Draft::pairs`].
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
    /// The final experiment.
    ///
    /// # Errors
    /// An experiment that cannot run.
    pub fn resolve(self) -> Result<Spec, Error> {
        self.validate()?;
        Ok(Final(self))
    }

    /// The same without checks, if no load is run: for saved results, or to create targets for
    /// others.
    pub const fn unchecked(self) -> Spec {
        Final(self)
    }

    /// The load, or its first phase.
    pub fn workload(&self) -> &Workload {
        &self.phases[0]
    }

    /// The rules to judge: those that were set, then the requirement of the (first) workload.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.fail_if.iter().chain(self.workload().requires.iter().map(|requires| &requires.rule))
    }

    /// Whether nothing is run, because all arms are existing results.
    pub fn is_of_results(&self) -> bool {
        self.source == Source::SavedResults
    }

    /// Whether latencies of all arms count from submission, even at an offered rate. fio, if it
    /// drives some of them, does not know when an I/O was due, and only metrics with the same
    /// definition can be compared.
    pub fn counts_from_submission(&self) -> bool {
        self.arms.iter().any(|arm| arm.driver == Driver::Fio)
    }
}

impl Arm {
    /// An arm with the native engines.
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

/// The target of an arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A directory, a file or a block device; the kind is determined on the machine.
    Path(PathBuf),
    /// A stack of layers, in this process or in the system.
    Stack(Stack),
    /// Several at the same time, each for the jobs that use its name.
    Several(Vec<NamedTarget>),
}

impl Target {
    /// Whether it is a stack with layers of the system.
    pub fn is_in_system(&self) -> bool {
        self.each().iter().any(|one| one.stack().is_some_and(|stack| !stack.is_in_process()))
    }

    /// Whether it is an in-process stack, or several of them.
    pub fn is_in_process(&self) -> bool {
        self.each().iter().all(|one| one.stack().is_some_and(Stack::is_in_process))
    }

    /// Whether it is a network path.
    pub fn is_network(&self) -> bool {
        self.stack().is_some_and(|stack| stack.form().is_network())
    }

    /// Whether the load generator itself encrypts its connections.
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

    /// The cloud disk at its bottom, if it has one.
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

/// One of several targets, used by some jobs of a workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedTarget {
    /// Its name in the jobs: [`Job::target`](crate::Job::target).
    pub name: String,
    /// What it is.
    pub target: Target,
}

impl fmt::Display for NamedTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.target)
    }
}

/// What shrinks if test files do not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Yields {
    /// The sizes of its largest files; other sizes and all times stay.
    Spans,
    /// Everything, as with [`Workload::scale`](crate::Workload::scale), because its jobs must keep
    /// their proportions.
    Scale {
        /// Whether the length of the measured window is also a default.
        time: bool,
        /// Whether the length of the ramp is also a default.
        ramp: bool,
    },
}

/// How test files were fitted to the available space.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    /// The arm with the least space.
    pub arm: usize,
    /// Its space for test files.
    pub free_bytes: u64,
    /// Their original size.
    pub from_bytes: u64,
    /// Their final size.
    pub to_bytes: u64,
    /// The factor for all sizes, and for times that are defaults; without one, only the largest
    /// files shrink.
    pub scale: Option<f64>,
}

/// Load generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// iotax's own engines.
    #[default]
    Native,
    /// The program fio.
    Fio,
    /// The program iperf3, for network paths.
    Iperf3,
}

/// How arms are related.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// One arm: a plain run.
    Single,
    /// Every arm compared with the first.
    Compare,
    /// Every arm, a node of a fleet, compared with the others.
    Fleet,
    /// Subsets of optional layers of one stack.
    Peel {
        /// Names of the optional layers, from bottom to top.
        layers: Vec<String>,
        /// `masks[i]` has the layers of arm `i`: bit `k` is `layers[k]`. The first is 0.
        masks: Vec<u32>,
    },
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    /// How certain the result must be.
    pub mode: StopMode,
    /// Differences below this fraction count as equal (0.05 = 5 %).
    pub margin: f64,
    /// Overall error rate.
    pub alpha: f64,
    /// Whether intervals hold for all arms together instead of one by one.
    pub simultaneous: bool,
    /// Maximum number of blocks.
    pub max_blocks: u32,
    /// Whether the user set `max_blocks`. If not, there may be more blocks of slices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub max_blocks_asked: bool,
    /// Minimum number of blocks: a fixed number of trials if equal to `max_blocks`.
    pub min_blocks: u32,
    /// Maximum wall time; the current block is completed.
    pub max_time_ns: Option<u64>,
}

/// How certain the result must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopMode {
    /// Stop at any verdict.
    Quick,
    /// Stop at a verdict once the effect is known to within the margin or a third of its size.
    Default,
    /// Stop at a verdict once the effect is known to within 1 point or a tenth of its size.
    Tight,
}
