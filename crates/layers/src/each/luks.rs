//! LUKS as a hypervisor does it.

use crate::declaration::prelude::*;

/// LUKS, served by a storage daemon as a hypervisor does it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Luks {
    /// Strength of AES-XTS in bits: 128 or 256 (two such keys).
    pub key_bits: u32,
}

/// FUSE exports came with 6.0, their `allow-other` with 6.1; the first versions are left out.
const DAEMON: Need = Need::program_since("qemu-storage-daemon", "qemu-system-common", 7, 1);

impl Declared for Luks {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "luks",
        about: "LUKS as on a hypervisor: qemu-storage-daemon, exported through FUSE",
        example: "luks",
        takes: &[Form::File, Form::Block],
        gives: Some(Form::File),
        does: Does::Encrypts,
        submitter: Submitter::Process,
        needs: &[Need::Root, Need::FUSE, DAEMON, Need::program("cryptsetup", "cryptsetup-bin")],
        parameters: Self::PARAMETERS,
        ..IN_SYSTEM
    }];

    parameters! {
        key_bits: parameter("key", Unit::Choice(&["128", "256"]), Some("256"),
            "AES-XTS key strength in bits (XTS uses two such keys)"),
    }
}
