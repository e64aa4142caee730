//! Disks and volumes.

use serde::{Deserialize, Serialize};

use crate::limit::{Cloud, Limit, Source};
use crate::note::{Fact, Note};
use crate::vm::Conflict;

/// A disk as in the catalog, or as provisioned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Disk {
    pub cloud: Cloud,
    /// As requested: `P30`, `gp3:size=500G`.
    pub name: String,
    /// `premium-ssd`, `premium-v2`, `gp3`, `pd-ssd` ...
    pub kind: String,
    /// Size, or the largest size of its tier.
    pub size_bytes: Option<u64>,
    /// Documented limits: one for reads and writes together, or one for each.
    pub limits: Vec<Limit>,
    /// Documented support for host caching.
    pub host_cache: Option<HostCache>,
    /// Other documented facts.
    pub facts: Vec<Fact>,
    /// Notes from the sources.
    pub notes: Vec<Note>,
    /// Published figures that the sources contradict.
    pub conflicts: Vec<Conflict>,
    /// Source of the row.
    pub source: Source,
}

/// Whether a disk can be cached by its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostCache {
    /// None, read-only, or read and write.
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
