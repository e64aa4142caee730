//! LUKS as a hypervisor does it.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, Form, IN_SYSTEM, LayerInfo, Submitter, parameter};
use crate::declaration::need::{Need, Version};
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
use crate::units::Unit;

/// LUKS, served by a storage daemon as a hypervisor does it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Luks {
    /// Strength of AES-XTS in bits: 128 or 256 (two such keys).
    pub key_bits: u32,
}

/// FUSE exports came with 6.0, their `allow-other` with 6.1; the first versions are left out.
const DAEMON: Need = Need::Program {
    name: "qemu-storage-daemon",
    package: "qemu-system-common",
    at_least: Some(Version { argument: "--version", number: (7, 1) }),
};

impl Declared for Luks {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "luks",
        about: "LUKS as a hypervisor does it: qemu-storage-daemon, served through FUSE",
        example: "luks",
        takes: &[Form::File, Form::Block],
        gives: Some(Form::File),
        does: Does::Encrypts,
        submitter: Submitter::Process,
        needs: &[Need::Root, Need::FUSE, DAEMON, Need::program("cryptsetup", "cryptsetup-bin")],
        parameters: &[parameter(
            "key",
            Unit::Choice(&["128", "256"]),
            Some("256"),
            "strength of AES-XTS in bits (two such keys)",
        )],
        ..IN_SYSTEM
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        Ok(Self { key_bits: arguments.small("key")? })
    }

    fn values(&self) -> Values {
        vec![("key", Some(self.key_bits.to_string().into()))]
    }
}
