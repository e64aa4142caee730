//! The parts that all cloud disks have, and their options.

use iotax_catalog::{Caching, Source, Vm};
use serde::{Deserialize, Serialize};

use super::part::{CloudPart, PartLayer};
use crate::each::aes::Aes;
use crate::each::delay::Delay;
use crate::each::file::File;
use crate::error::Error;

/// Data and the host's cache are held in whole pages.
pub(super) const PAGE_BYTES: u64 = 4096;

/// Values that the documentation does not give, or that the user overrides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CloudOptions {
    /// Size of every disk; the documented one if left out.
    pub size_bytes: Option<u64>,
    /// Share of the documented burst credits that a full bucket holds.
    pub credits: f64,
    /// Latency of the medium; an assumption if left out.
    pub latency_ns: Option<u64>,
    /// The host encrypts the data that it caches, stores and sends to the disk.
    pub encryption_at_host: bool,
    /// The disk encrypts the data that it stores.
    pub hardware_encrypted: bool,
}

impl CloudOptions {
    /// No provider documents a latency; they only say "single-digit milliseconds".
    pub const ASSUMED_LATENCY_NS: u64 = 1_000_000;
    /// Not documented either; flash answers a read in about this time.
    pub const ASSUMED_LOCAL_LATENCY_NS: u64 = 100_000;
}

impl Default for CloudOptions {
    fn default() -> Self {
        Self {
            size_bytes: None,
            credits: 1.0,
            latency_ns: None,
            encryption_at_host: false,
            hardware_encrypted: false,
        }
    }
}

/// A cloud disk, as layers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CloudDisk {
    /// As requested, without caching: `P10`, `gp3:size=500G`, `temporary disk`.
    pub name: String,
    /// What the host caches of it.
    pub caching: Caching,
    /// Its layers, from bottom to top, each with a description.
    pub parts: Vec<CloudPart>,
    /// What is documented but not modelled, or not documented.
    pub notes: Vec<String>,
}

impl CloudDisk {
    /// The file that holds its data.
    pub(crate) fn file(&self) -> Option<&File> {
        match &self.parts.first()?.layer {
            PartLayer::File(file) => Some(file),
            _ => None,
        }
    }
}

/// The file that holds the data, with the requested or documented size.
pub(super) fn base(
    name: &str,
    documented: Option<u64>,
    source: &Source,
    options: &CloudOptions,
) -> Result<CloudPart, Error> {
    let file = |size_bytes| PartLayer::File(File { path: None, size_bytes, thin: true });
    match (options.size_bytes, documented) {
        (Some(0), _) => Err(refused("size", name, "the size must be above 0")),
        (Some(bytes), _) if !bytes.is_multiple_of(PAGE_BYTES) => {
            Err(refused("size", name, "the size must be a multiple of 4k"))
        }
        (Some(bytes), _) => Ok(CloudPart::new(file(bytes), "requested size")),
        (None, Some(bytes)) => {
            let bytes = bytes - bytes % PAGE_BYTES;
            Ok(CloudPart::documented(file(bytes), "documented size", source))
        }
        (None, None) => Err(refused(
            "size",
            name,
            "the name does not imply a size; specify one, for example size=4G",
        )),
    }
}

/// The latency of the medium, below all limits.
pub(super) fn medium(options: &CloudOptions, assumed_ns: u64) -> Option<CloudPart> {
    let (latency_ns, what) = match options.latency_ns {
        Some(latency_ns) => (latency_ns, "latency, as requested"),
        None => (assumed_ns, "latency (an assumption, not documented)"),
    };
    (latency_ns > 0)
        .then(|| CloudPart::new(PartLayer::Delay(Delay { latency_ns, jitter_ns: 0 }), what))
}

/// The disk's own encryption, at the bottom.
pub(super) fn own_encryption(options: &CloudOptions) -> Option<CloudPart> {
    options
        .hardware_encrypted
        .then(|| CloudPart::new(aes(), "the disk's own encryption, as requested"))
}

/// The host's encryption, on top of all else.
pub(super) fn host_encryption(
    vm: Option<&Vm>,
    options: &CloudOptions,
    notes: &mut Vec<String>,
) -> Option<CloudPart> {
    options.encryption_at_host.then(|| {
        notes.extend(vm.and_then(encryption_note));
        CloudPart::new(aes(), "encryption at host, as requested")
    })
}

fn aes() -> PartLayer {
    PartLayer::Aes(Aes { key_bits: 256, sector_bytes: 512 })
}

fn encryption_note(vm: &Vm) -> Option<String> {
    let name = &vm.name;
    match vm.encryption_at_host_supported {
        Some(true) => None,
        Some(false) => Some(format!(
            "{name} does not support encryption at host, according to its documentation; \
             iotax simulates it anyway"
        )),
        None => Some(format!("whether {name} supports encryption at host is not documented")),
    }
}

pub(super) fn refused(parameter: &'static str, disk: &str, problem: &str) -> Error {
    Error::cloud(parameter, format!("{disk}: {problem}"))
}
