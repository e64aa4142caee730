//! The table `[documented]`, as written.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

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
    expecting = "expected a kind of disk such as \"P30\", or a table of one for each arm"
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
