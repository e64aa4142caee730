//! AES-XTS encryption in this process.

use crate::declaration::prelude::*;

/// AES-XTS encryption.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Aes {
    /// Strength in bits: 256.
    pub key_bits: u32,
    /// Encryption sector: 512 or 4096.
    pub sector_bytes: u32,
}

impl Declared for Aes {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "aes",
        about: "AES-XTS encryption, as in dm-crypt",
        example: "aes(sector=512)",
        does: Does::Encrypts,
        parameters: Self::PARAMETERS,
        ..IN_PROCESS
    }];

    parameters! {
        key_bits: parameter("key", Unit::Choice(&["256"]), Some("256"),
            "key strength in bits (XTS uses two keys of this size)"),
        sector_bytes: parameter("sector", Unit::Choice(&["512", "4096"]), Some("4096"),
            "encryption sector size in bytes"),
    }
}
