//! LUKS as on a hypervisor: in another process.

use crate::declaration::prelude::*;

/// LUKS, exported by a storage daemon as on a hypervisor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QemuLuks {
    /// AES-XTS key strength in bits: 128 or 256 (XTS uses two such keys).
    pub key_bits: u32,
}

/// FUSE exports exist since 6.0, `allow-other` since 6.1. Earlier versions are not supported.
const DAEMON: Need = Need::program_since("qemu-storage-daemon", "qemu-system-common", 7, 1);

impl Declared for QemuLuks {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "qemu-luks",
        about: "LUKS as on a hypervisor: in qemu-storage-daemon, exposed through FUSE",
        example: "qemu-luks",
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
            "AES-XTS key strength in bits (XTS uses two keys of this size)"),
    }
}
