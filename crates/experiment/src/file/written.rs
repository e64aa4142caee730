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
    description = "What to measure, and how surely: read by `iotax compare FILE`."
)]
pub(super) struct SpecFile {
    /// The I/O to do: the name of a built-in workload, `fio` with a job file, or a table that
    /// describes one.
    pub workload: WorkloadEntry,
    /// What to compare, by name: a path, a device or a stack, or a table of several that are in use at
    /// the same time. Paths are relative to the file. The order is kept; the first is the baseline
    /// unless `baseline` names another.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, ArmEntry>")]
    pub arms: IndexMap<String, ArmEntry>,
    /// Makes an arm of every combination of these levels: they stand in the places of `{name}` in the
    /// one target of `arms`, or are the parameter of that name of a layer in it.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, Vec<Scalar>>")]
    pub matrix: IndexMap<String, Vec<Scalar>>,
    /// With `matrix`: the combinations to leave out, as in `["sec=krb5,nconnect=1"]`.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// What drives an arm, by its name; iotax's own engines if left out.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, Driver>")]
    pub engines: IndexMap<String, Driver>,
    /// Commands of the shell that make a setting of the host, by the arm that it belongs to: each is run
    /// when its arm's turn begins. They run in the file's directory.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    pub before: IndexMap<String, String>,
    /// Commands that undo these settings, by arm: each is run when its arm's turn ends, and by
    /// `iotax undo` if the run was killed. `none` if nothing needs to be undone.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    pub after: IndexMap<String, String>,
    /// Instead of `arms`: the stack to take layers off.
    pub peel: Option<String>,
    /// With `peel`: measure every subset of up to 4 layers, where by default from 4 layers on only
    /// some are.
    #[serde(default)]
    pub all_subsets: bool,
    /// Name of the arm that the others are compared with.
    pub baseline: Option<String>,
    /// How much certainty is asked for; `default` if left out.
    pub mode: Option<StopMode>,
    /// Differences below this share count as none; 5% if left out.
    #[schemars(schema_with = "super::schema::share")]
    pub margin: Option<Scalar>,
    /// Overall error rate; 5% if left out.
    #[schemars(schema_with = "super::schema::share")]
    pub alpha: Option<Scalar>,
    /// Intervals hold for all arms at once instead of one by one.
    #[serde(default)]
    pub simultaneous: bool,
    /// Blocks at most; 40 if left out.
    pub max_blocks: Option<u32>,
    /// Blocks at least; 3 if left out.
    pub min_blocks: Option<u32>,
    /// Wall time at most.
    #[schemars(schema_with = "super::schema::duration")]
    pub max_time: Option<Scalar>,
    /// Seed of every random choice; 1 if left out.
    pub seed: Option<u64>,
    /// Length of the measured window of each trial.
    #[schemars(schema_with = "super::schema::duration")]
    pub time: Option<Scalar>,
    /// Length of the discarded start of each trial.
    #[schemars(schema_with = "super::schema::duration")]
    pub ramp: Option<Scalar>,
    /// Factor on the workload's times and sizes; `time` and `ramp` above are not scaled.
    pub scale: Option<f64>,
    /// Changes to the workload's jobs: `depth = 8` for all, `"mmap_read.threads" = 4` for one.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, SetEntry>")]
    pub set: IndexMap<String, SetEntry>,
    /// What the arms are: what was measured is set beside documented limits.
    pub documented: Option<DocumentedTable>,
    /// Write the span of each arm's test files twice, then the workload until it is steady, before
    /// anything is measured.
    #[serde(default)]
    pub precondition: bool,
    /// Load each arm until its burst credits are spent: `true`, or for how long at most; 2 minutes
    /// if no time is given.
    #[schemars(schema_with = "super::schema::drain")]
    pub drain: Option<Scalar>,
    /// Also load each arm this long at a stretch, where trials are short slices.
    #[schemars(schema_with = "super::schema::duration")]
    pub hold: Option<Scalar>,
    /// Run equal arms at other depths to find a cap above them; `true` if left out.
    pub depth_check: Option<bool>,
    /// Where arms sit on the same cap, run loads that show what it hides.
    #[serde(default)]
    pub below_cap: bool,
    /// What must not come out, as in `["slower by 5%", "sync.p99 > 10ms"]`: exit code 1 if it does, 6
    /// if that stays undecided.
    #[serde(default)]
    pub fail_if: Vec<String>,
    /// Count undecided rules as kept (`"pass"`, exit code 0) or as broken (`"fail"`, exit code 1).
    pub undecided: Option<UndecidedAs>,
}

/// One entry of `[arms]`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a target, or a table of targets by the names that jobs use"
)]
pub(super) enum ArmEntry {
    /// `base = "/mnt/a"`.
    One(String),
    /// `both = { e = "/mnt/e", f = "/mnt/f" }`: the jobs name theirs.
    Several(
        #[schemars(with = "std::collections::BTreeMap<String, String>")] IndexMap<String, String>,
    ),
}

/// One entry of `[set]`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a value (number, text or true/false), or a table with keys of a job"
)]
pub(super) enum SetEntry {
    /// `depth = 8`.
    Value(Scalar),
    /// `mmap_read.threads = 4` without quotes around the key is a table in TOML.
    Job(#[schemars(with = "std::collections::BTreeMap<String, Scalar>")] IndexMap<String, Scalar>),
}

/// A number, text or switch, read by the unit of the key it is given to.
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

/// `[documented]`: what arms are, in the words of `iotax catalog`. What was measured is set beside
/// its limits.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct DocumentedTable {
    /// VM size it runs on.
    pub vm: Option<String>,
    /// Kind of disk: one for all arms, or a table with one for each.
    pub disk: Option<DiskEntry>,
    /// Host caching of disks that do not say it; `none` if left out.
    pub caching: Option<CachingWord>,
    /// Disk controller, for VM sizes whose limits depend on it.
    pub variant: Option<VariantWord>,
}

/// `disk = "P30"`, or `disk.base = "P30"`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a kind of disk such as \"P30\", or a table with one for each arm"
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
