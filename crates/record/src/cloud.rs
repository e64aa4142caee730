//! The cloud VM that this machine is.

use serde::{Deserialize, Serialize};

/// A VM according to the cloud's metadata service. `None`: not reported.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CloudInstance {
    /// The provider: `Azure`, `AWS`, `Google Cloud`.
    pub cloud: String,
    /// Its size, as the provider spells it: `Standard_DS1_v2`.
    pub vm: String,
    /// Where it runs: `westeurope`.
    pub region: Option<String>,
    /// Attached disks, as far as the cloud reports them.
    pub disks: Vec<CloudDisk>,
    /// Whether the host encrypts data: Azure's `securityProfile.encryptionAtHost`.
    #[serde(default)]
    pub encryption_at_host: Option<bool>,
    /// `TrustedLaunch`, `ConfidentialVM`: Azure's `securityProfile.securityType`.
    #[serde(default)]
    pub security_type: Option<String>,
    /// Size of the temporary disk; 0 if there is none: Azure's `storageProfile.resourceDisk.size`.
    #[serde(default)]
    pub temporary_disk_bytes: Option<u64>,
}

/// A disk of a [`CloudInstance`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CloudDisk {
    pub name: Option<String>,
    /// Logical unit number, for data disks.
    pub lun: Option<u32>,
    /// Its kind, in the provider's words: `Premium_LRS`.
    pub kind: Option<String>,
    /// Its performance tier: `P30`.
    pub tier: Option<String>,
    /// Host caching, in the provider's words: `ReadOnly`.
    pub caching: Option<String>,
    pub size_bytes: Option<u64>,
    /// Whether it is the disk of the operating system.
    #[serde(default)]
    pub is_os: bool,
    /// Whether it is on the host and is lost with the VM: Azure's `diffDiskSettings.option`.
    #[serde(default)]
    pub is_ephemeral: Option<bool>,
    /// Whether the guest encrypts it by Azure Disk Encryption: `encryptionSettings.enabled`.
    #[serde(default)]
    pub is_guest_encrypted: Option<bool>,
    /// Indices of the arms or targets on it, as far as this machine can tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<usize>,
}
