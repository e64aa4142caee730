//! The experiment file as written.

use std::fmt;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::workload::WorkloadEntry;
use crate::rule::UndecidedAs;
use crate::spec::{Driver, StopMode};

/// An experiment file as written; see [`Spec`](crate::Spec) for what it means.
#[expect(clippy::struct_excessive_bools, reason = "independent keys of a file")]
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(
    title = "iotax experiment file",
    description = "What to measure and how certain the result must be; for `iotax compare FILE`."
)]
pub(super) struct SpecFile {
    /// The workload to run: the name of a built-in workload, `fio` with a job file, `recording` with
    /// a recorded application, or a table that describes one.
    pub workload: WorkloadEntry,
    /// The arms to compare, by name: each is a path, a device, a stack, or a table of several
    /// targets that are used at the same time. Paths are relative to this file. Arms keep their
    /// order; the first one is the baseline unless `baseline` names another.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, ArmEntry>")]
    pub arms: IndexMap<String, ArmEntry>,
    /// Creates an arm for every combination of these levels. A level replaces `{name}` in the
    /// single target of `arms`, or sets the layer parameter of that name.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, Vec<Scalar>>")]
    pub matrix: IndexMap<String, Vec<Scalar>>,
    /// With `matrix`: combinations to leave out, such as `["sec=krb5,nconnect=1"]`.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Load generator for an arm, by its name; by default iotax's own engines.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, Driver>")]
    pub engines: IndexMap<String, Driver>,
    /// Shell commands that change a host setting, by arm. A command runs in the directory of this
    /// file when the arm's turn starts.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    pub before: IndexMap<String, String>,
    /// Commands that undo the settings from `before`, by arm. A command runs when the arm's turn
    /// ends, or in `iotax undo` if the run was killed. Use `none` if there is nothing to undo.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    pub after: IndexMap<String, String>,
    /// Instead of `arms`: the stack whose layers are removed to measure the cost of each.
    pub peel: Option<String>,
    /// With `peel`: measure every subset of up to 4 layers. By default, stacks of 4 layers or more
    /// are measured with only some of their subsets.
    #[serde(default)]
    pub all_subsets: bool,
    /// Name of the arm that the others are compared with.
    pub baseline: Option<String>,
    /// How certain the result must be; by default `default`.
    pub mode: Option<StopMode>,
    /// Differences below this share count as equal; by default 5%.
    #[schemars(schema_with = "super::schema::share")]
    pub margin: Option<Scalar>,
    /// Overall error rate; by default 5%.
    #[schemars(schema_with = "super::schema::share")]
    pub alpha: Option<Scalar>,
    /// Make the intervals valid for all arms together instead of individually.
    #[serde(default)]
    pub simultaneous: bool,
    /// Maximum number of blocks; by default 40.
    pub max_blocks: Option<u32>,
    /// Minimum number of blocks; by default 3.
    pub min_blocks: Option<u32>,
    /// Maximum wall time.
    #[schemars(schema_with = "super::schema::duration")]
    pub max_time: Option<Scalar>,
    /// Seed for all random choices; by default 1.
    pub seed: Option<u64>,
    /// Length of the measured window of each trial.
    #[schemars(schema_with = "super::schema::duration")]
    pub time: Option<Scalar>,
    /// Length of the ramp at the start of each trial, which is discarded.
    #[schemars(schema_with = "super::schema::duration")]
    pub ramp: Option<Scalar>,
    /// Factor by which the workload's times and sizes are scaled; it does not apply to `time` and
    /// `ramp`.
    pub scale: Option<f64>,
    /// Changes to the workload's jobs: `depth = 8` for all, `"mmap_read.threads" = 4` for one.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, SetEntry>")]
    pub set: IndexMap<String, SetEntry>,
    /// The VM size and disks that the arms run on. Reports show their documented limits next to the
    /// results.
    pub documented: Option<DocumentedTable>,
    /// Before measuring, write the span of each arm's test files twice, then run the workload until
    /// it is steady.
    #[serde(default)]
    pub precondition: bool,
    /// Before measuring, load each arm until its burst credits are used up: `true`, or the maximum
    /// time; by default 2 minutes.
    #[schemars(schema_with = "super::schema::drain")]
    pub drain: Option<Scalar>,
    /// If trials are short slices, also load each arm for this long without a break.
    #[schemars(schema_with = "super::schema::duration")]
    pub hold: Option<Scalar>,
    /// Run arms that show no difference at other queue depths to detect a shared cap; by default
    /// `true`.
    pub depth_check: Option<bool>,
    /// If arms share a cap, run additional load that shows the difference that the cap hides.
    #[serde(default)]
    pub below_cap: bool,
    /// Conditions that make the command fail, such as `["slower by 5%", "sync.p99 > 10ms"]`. The
    /// exit code is 1 if one of them is true, and 6 if one remains undecided.
    #[serde(default)]
    pub fail_if: Vec<String>,
    /// Treat undecided rules as met (`"pass"`, exit code 0) or as violated (`"fail"`, exit code 1).
    pub undecided: Option<UndecidedAs>,
}

/// One entry of `[arms]`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a target, or a table that assigns a target to each name used by the jobs"
)]
pub(super) enum ArmEntry {
    /// `base = "/mnt/a"`.
    One(String),
    /// `both = { e = "/mnt/e", f = "/mnt/f" }`: jobs name the target that they use.
    Several(
        #[schemars(with = "std::collections::BTreeMap<String, String>")] IndexMap<String, String>,
    ),
}

/// One entry of `[set]`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a value (number, text or true/false), or a table of job keys"
)]
pub(super) enum SetEntry {
    /// `depth = 8`.
    Value(Scalar),
    /// `mmap_read.threads = 4` without quotes around the key is a table in TOML.
    Job(#[schemars(with = "std::collections::BTreeMap<String, Scalar>")] IndexMap<String, Scalar>),
}

/// A number, text or switch, interpreted in the unit of its key.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, text or true/false")]
pub(super) enum Scalar {
    /// `4096`.
    Integer(i64),
    /// `0.05`.
    Float(f64),
    /// `true`.
    Switch(bool),
    /// `"4k"`.
    Text(String),
}

impl fmt::Display for Scalar {
    /// The text that a unit's parser reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => number.fmt(f),
            Self::Float(number) => number.fmt(f),
            Self::Switch(on) => on.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// `[documented]`: the VM size and disks that the arms run on, named as in `iotax catalog`. Reports
/// show their documented limits next to the results.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct DocumentedTable {
    /// VM size that the arms run on.
    pub vm: Option<String>,
    /// Kind of disk: one for all arms, or a table with one for each arm.
    pub disk: Option<DiskEntry>,
    /// Host caching for disks that do not specify it; by default `none`.
    pub caching: Option<CachingWord>,
    /// Disk controller, for VM sizes whose limits depend on it.
    pub variant: Option<VariantWord>,
}

/// `disk = "P30"`, or `disk.base = "P30"`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a disk type such as \"P30\", or a table with a disk type for each arm"
)]
pub(super) enum DiskEntry {
    /// For all arms.
    All(String),
    /// By arm.
    Each(#[schemars(with = "std::collections::BTreeMap<String, String>")] IndexMap<String, String>),
}

/// What the host caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum CachingWord {
    /// Nothing.
    None,
    /// Reads.
    ReadOnly,
    /// Reads and writes.
    ReadWrite,
}

/// How disks are attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum VariantWord {
    /// SCSI.
    Scsi,
    /// `NVMe`.
    Nvme,
}
