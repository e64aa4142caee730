//! Device mapper tables, as `dmsetup table` prints them without keys.

use serde::{Deserialize, Serialize};

/// A device mapper device: `/sys/block/dm-N/dm/`, and its table if readable.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Mapping {
    /// `dm/name`.
    pub name: String,
    /// Its creator: the first word of `dm/uuid`, such as `CRYPT`, `LVM`, `mpath`.
    pub maker: Option<String>,
    /// The table's lines; `None` if it could not be read.
    pub targets: Option<Vec<MappedTarget>>,
}

impl Mapping {
    /// The encryption targets of the table.
    pub fn crypts(&self) -> impl Iterator<Item = &Crypt> {
        self.targets.iter().flatten().filter_map(|target| target.crypt.as_ref())
    }

    /// Whether it encrypts: according to its table, or to its creator if the table cannot be read.
    pub fn is_crypt(&self) -> bool {
        match &self.targets {
            Some(targets) => targets.iter().any(|target| target.crypt.is_some()),
            None => self.maker.as_deref() == Some("CRYPT"),
        }
    }
}

/// One line of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MappedTarget {
    /// Kind: `linear`, `striped`, `crypt`, `integrity`, `thin`, `snapshot`, `multipath`.
    pub kind: String,
    /// Version of the kernel's target: `1.24.0`.
    pub version: Option<String>,
    /// Parameters of kinds other than `crypt`, as in the table.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub parameters: String,
    /// For `crypt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crypt: Option<Crypt>,
}

/// A dm-crypt target. The key is never read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Crypt {
    /// Cipher: `aes-xts-plain64`, `capi:authenc(hmac(sha256),xts(aes))-random`.
    pub cipher: String,
    /// Flags in the table's order: `allow_discards`, `no_read_workqueue`.
    pub flags: Vec<String>,
    /// Encryption sector; 512 if the table does not give one.
    pub sector_bytes: u32,
    /// Authentication: the value of `integrity:`, such as `28:aead`.
    pub integrity: Option<String>,
}

impl Crypt {
    /// Whether the table has this flag.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|has| has == flag)
    }
}
