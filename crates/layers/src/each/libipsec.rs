//! Encryption of IP packets in user space: ESP by strongSwan.

use serde::{Deserialize, Serialize};

use crate::declaration::cipher;
use crate::declaration::info::{Does, Form, LayerInfo, ON_NETWORK};
use crate::declaration::need::Need;
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;

/// A tunnel of ESP within UDP, by strongSwan's libipsec: what there is where the kernel has no ESP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Libipsec {
    /// What encrypts and authenticates packets.
    pub cipher: String,
}

impl Declared for Libipsec {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "libipsec",
        about: "encryption of packets: IPsec's ESP in UDP, by strongSwan in user space",
        example: "libipsec(cipher=aes-256-gcm)",
        gives: Some(Form::Network),
        does: Does::Encrypts,
        needs: &[
            Need::Root,
            Need::IP,
            Need::TUN,
            Need::program("charon", "strongswan-charon"),
            Need::program("swanctl", "strongswan-swanctl"),
            Need::File {
                path: "/usr/lib/ipsec/plugins/libstrongswan-kernel-libipsec.so",
                package: "libcharon-extra-plugins",
            },
        ],
        parameters: &[cipher::one_of(
            &["aes-128-gcm", "aes-256-gcm", "aes-128-cbc-sha256"],
            "aes-128-gcm",
        )],
        ..ON_NETWORK
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        Ok(Self { cipher: cipher::from_arguments(arguments)? })
    }

    fn values(&self) -> Values {
        cipher::values(&self.cipher)
    }
}
