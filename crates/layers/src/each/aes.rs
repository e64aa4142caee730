//! AES-XTS encryption in this process.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, IN_PROCESS, LayerInfo, parameter};
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
use crate::units::Unit;

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
        about: "AES-XTS encryption, as dm-crypt does it",
        example: "aes(sector=512)",
        does: Does::Encrypts,
        parameters: &[
            parameter(
                "key",
                Unit::Choice(&["256"]),
                Some("256"),
                "strength in bits (two such keys)",
            ),
            parameter(
                "sector",
                Unit::Choice(&["512", "4096"]),
                Some("4096"),
                "bytes encrypted as one unit",
            ),
        ],
        ..IN_PROCESS
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let (key_bits, sector_bytes) = (arguments.small("key")?, arguments.small("sector")?);
        Ok(Self { key_bits, sector_bytes })
    }

    fn values(&self) -> Values {
        vec![
            ("key", Some(self.key_bits.to_string().into())),
            ("sector", Some(self.sector_bytes.to_string().into())),
        ]
    }
}
