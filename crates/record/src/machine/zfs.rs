//! ZFS: properties of a dataset and its pool.

use serde::{Deserialize, Serialize};

/// Properties of a mounted dataset from `zfs get` and `zpool`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ZfsSeen {
    /// `recordsize`.
    pub record_bytes: Option<u64>,
    /// `primarycache`: `all`, `metadata`, `none`.
    pub primary_cache: Option<String>,
    /// `sync`: `standard`, `always`, `disabled`.
    pub sync: Option<String>,
    /// `compression`.
    pub compression: Option<String>,
    /// `special_small_blocks`; 0 keeps all data off the special vdevs.
    pub special_small_bytes: Option<u64>,
    /// The pool's `ashift`: log2 of its smallest I/O; 0 if each vdev has its own.
    pub ashift: Option<u64>,
    /// The pool's vdevs, as `zpool status` lists them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vdevs: Vec<ZfsVdev>,
}

/// A vdev of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ZfsVdev {
    /// `data`, `logs`, `special`, `dedup`, `cache`, `spares`.
    pub role: String,
    /// `disk`, `mirror`, `raidz1`, `raidz2`, `raidz3`, `draid1`.
    pub kind: String,
    /// Number of devices.
    pub devices: u64,
    /// Whether its devices are rotational; `None` if unknown.
    pub rotates: Option<bool>,
}

impl ZfsSeen {
    pub fn with_role<'a>(&'a self, role: &'a str) -> impl Iterator<Item = &'a ZfsVdev> {
        self.vdevs.iter().filter(move |vdev| vdev.role == role)
    }
}
