//! A simulated cloud disk: turns facts of the catalog into layers.
//!
//! From bottom to top, such a disk is
//!
//! ```text
//! file(thin) [+ aes] + delay + throttle (its own) + throttle (the VM's) [+ tier] [+ aes]
//! ```
//!
//! - `delay` is the latency of the medium. It is at the bottom, so that hits of the host's cache do
//!   not pay it.
//! - The disk's own limits are below the VM's. An I/O asks the bucket above first, when it is
//!   submitted. In the other order, the backlog of one disk would reach the shared bucket with
//!   arrivals in the future, and delay all other disks.
//! - Limits of the VM are groups, so that its disks share buckets.
//! - `tier` is the host's cache: its hits are not limited, as measured.
//! - `aes` at the bottom is the disk's own encryption. At the top it is the host's, so that the
//!   cache holds encrypted data.
//!
//! Local disks of a VM's host are built in the same way, without a cache and only with limits of
//! the VM.
//!
//! Undocumented values are left out, and a note says so. Every [`CloudPart`] names its source.

mod attached;
mod disk;
mod disks;
mod limits;
mod local;
mod part;

pub use disk::{CloudDisk, CloudOptions};
pub use disks::{CloudDisks, MadeDisks};
pub use part::{CloudPart, PartLayer};

use crate::declaration::prelude::*;
use iotax_catalog::{Caching, Limit, Note};

/// A disk on a VM size of a cloud. A record keeps the layers it was built from, even if the catalog
/// changes later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cloud {
    pub asked: CloudDisks,
    pub made: CloudDisk,
    /// Facts that its limits do not include.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

impl Cloud {
    /// Its documented limits: the disk's own and the VM's.
    pub fn limits(&self) -> Vec<Limit> {
        // The catalog knew it when it was built.
        self.asked.limits().ok().and_then(|mut limits| limits.pop()).unwrap_or_default()
    }
}

const CACHING: [(&str, Caching); 2] = [("none", Caching::None), ("readonly", Caching::ReadOnly)];

impl Declared for Cloud {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "cloud",
        about: "base: a cloud disk on a VM, with the documented limits of both",
        example: "cloud(vm=Standard_DS1_v2, disk=P10, size=2G)",
        world: World::InProcess,
        gives: Some(Form::File),
        parameters: Self::PARAMETERS,
        ..BASE
    }];

    const PARAMETERS: &'static [Parameter] = &[
        parameter("vm", Unit::Name, None, "VM size; without it, only the disk's own limits apply"),
        parameter(
            "variant",
            Unit::Choice(&["scsi", "nvme"]),
            None,
            "disk controller, for VM sizes whose limits depend on it",
        ),
        parameter(
            "disk",
            Unit::Name,
            None,
            "for example P10 or \"gp3:iops=6000,size=500G\"; or a disk on the VM's host: local, \
             temporary or nvme",
        ),
        parameter(
            "caching",
            Unit::Choice(&["none", "readonly"]),
            Some("none"),
            "what the host caches",
        ),
        parameter("size", Unit::Size, None, "size to use instead of the documented size"),
        parameter(
            "credits",
            Unit::Share,
            Some("100%"),
            "share of the documented burst credits; with a smaller share, credits run out sooner",
        ),
        parameter(
            "latency",
            Unit::Duration,
            None,
            "latency of the medium; replaces the assumed latency of 1ms (100us for local disks)",
        ),
        parameter(
            "encryption_at_host",
            Unit::Switch,
            Some("false"),
            "the host encrypts all data that it sends, caches and stores",
        ),
        parameter(
            "hardware_encrypted",
            Unit::Switch,
            Some("false"),
            "the disk encrypts the data that it stores",
        ),
    ];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let caching = Option::<String>::from_argument(arguments, "caching")?;
        let caching = CACHING.iter().find(|(word, _)| Some(*word) == caching.as_deref());
        let asked = CloudDisks {
            vm: Field::from_argument(arguments, "vm")?,
            variant: Field::from_argument(arguments, "variant")?,
            disks: vec![Field::from_argument(arguments, "disk")?],
            caching: caching.map_or(Caching::None, |(_, caching)| *caching),
            options: CloudOptions {
                size_bytes: Field::from_argument(arguments, "size")?,
                credits: Field::from_argument(arguments, "credits")?,
                latency_ns: Field::from_argument(arguments, "latency")?,
                encryption_at_host: Field::from_argument(arguments, "encryption_at_host")?,
                hardware_encrypted: Field::from_argument(arguments, "hardware_encrypted")?,
            },
        };
        let made = asked.made().map_err(|error| match error {
            Error::Cloud { parameter, .. } => arguments.at(parameter, error),
            other => other,
        });
        let MadeDisks { mut disks, notes, .. } = made?;
        let made = disks.pop().expect("one disk for each one requested");
        Ok(Self { asked, made, notes })
    }

    fn values(&self) -> Values {
        let CloudDisks { vm, variant, disks, caching, options } = &self.asked;
        let word = CACHING.iter().find(|(_, known)| known == caching).map(|(word, _)| *word);
        vec![
            ("vm", vm.value()),
            ("variant", variant.value()),
            ("disk", disks.first().and_then(Field::value)),
            ("caching", word.map(|word| Value::Text(word.to_owned()))),
            ("size", options.size_bytes.value()),
            ("credits", options.credits.value()),
            ("latency", options.latency_ns.value()),
            ("encryption_at_host", options.encryption_at_host.value()),
            ("hardware_encrypted", options.hardware_encrypted.value()),
        ]
    }
}

#[cfg(test)]
mod tests;
