//! An encrypted tunnel: OpenVPN, in user space.

use serde::{Deserialize, Serialize};

use crate::declaration::cipher;
use crate::declaration::info::{Does, Form, LayerInfo, ON_NETWORK};
use crate::declaration::need::{Need, Version};
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;

/// An OpenVPN tunnel over UDP, from point to point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Openvpn {
    /// What encrypts and authenticates packets.
    pub cipher: String,
}

impl Declared for Openvpn {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "openvpn",
        about: "encryption of packets: OpenVPN over UDP, in user space",
        example: "openvpn(cipher=aes-128-gcm)",
        gives: Some(Form::Network),
        does: Does::Encrypts,
        needs: &[
            Need::Root,
            Need::IP,
            Need::TUN,
            Need::Program {
                name: "openvpn",
                package: "openvpn",
                // Of its own accord it takes a certificate by its fingerprint from there on.
                at_least: Some(Version { argument: "--version", number: (2, 6) }),
            },
        ],
        parameters: &[cipher::one_of(
            &["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"],
            "aes-256-gcm",
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
