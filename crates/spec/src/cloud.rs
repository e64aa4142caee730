//! The VM size and disks that targets are said to be, in the words of the catalogue of limits.

use serde::{Deserialize, Serialize};

/// What limits are documented for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CloudChoice {
    /// Name of the VM size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vm: Option<String>,
    /// `scsi` or `nvme`, for sizes whose limits differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Host caching of disks that do not say it: `none`, `readonly`, `readwrite`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caching: Option<String>,
    /// Kinds of disk, one for all targets or one for each: `P10`, `gp3:size=500G,iops=6000`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<String>,
    /// What the VM uses the disks under the targets as, in their order; empty: all as data disks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<DiskRole>,
}

/// What a VM uses a disk as, which decides what limits of the VM hold for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiskRole {
    /// As a data disk, or nobody knows.
    #[default]
    Data,
    /// As the disk of its operating system.
    Os,
    /// As the disk of its operating system, which is kept on the host.
    EphemeralOs,
    /// As a temporary disk, which is one of the host.
    Temporary,
}

impl CloudChoice {
    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The kind of disk of the target at this place.
    pub fn disk(&self, at: usize) -> Option<&str> {
        self.disks.get(if self.disks.len() == 1 { 0 } else { at }).map(String::as_str)
    }
}
