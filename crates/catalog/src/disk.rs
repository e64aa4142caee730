//! Disks and volumes.

use serde::{Deserialize, Serialize};

use crate::limit::{Cloud, Limit, Source};
use crate::note::{Fact, Note};
use crate::vm::Conflict;

/// A disk as the catalog knows it, or as it was provisioned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Disk {
    pub cloud: Cloud,
    /// As it was asked for: `P30`, `gp3:size=500G`.
    pub name: String,
    /// `premium-ssd`, `premium-v2`, `gp3`, `pd-ssd` ...
    pub kind: String,
    /// Size, or the largest size of its tier.
    pub size_bytes: Option<u64>,
    /// Documented limits: one for reads and writes, or one for each.
    pub limits: Vec<Limit>,
    /// Host caching it may have, as documented.
    pub host_cache: Option<HostCache>,
    /// Everything else that is documented.
    pub facts: Vec<Fact>,
    /// What sources say beside the figures.
    pub notes: Vec<Note>,
    /// Published figures that the sources contradict.
    pub conflicts: Vec<Conflict>,
    /// Where the row was read.
    pub source: Source,
}

/// Whether a disk can be cached by its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostCache {
    /// None, read only, or read and write.
    Possible,
    /// Not for this disk.
    NotSupported,
}

/// What the host caches of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caching {
    #[default]
    None,
    ReadOnly,
    ReadWrite,
}

impl Caching {
    /// Reads `none`, `readonly` or `readwrite`, in any case.
    pub fn parse(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
            "none" => Some(Self::None),
            "readonly" => Some(Self::ReadOnly),
            "readwrite" => Some(Self::ReadWrite),
            _ => None,
        }
    }
}
