//! Encryption of load's own connections: TLS 1.3, by the process or by the kernel.

use serde::{Deserialize, Serialize};

use crate::declaration::cipher;
use crate::declaration::info::{Does, Form, LayerInfo, ON_NETWORK};
use crate::declaration::need::Need;
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;

/// TLS between load and its peer, as applications have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tls {
    /// By the kernel, not by the process.
    pub in_kernel: bool,
    /// What encrypts and authenticates.
    pub cipher: String,
}

/// What both have in common.
const TLS: LayerInfo = LayerInfo {
    name: "tls",
    about: "encryption of connections: TLS 1.3 in load and its peer, by rustls",
    example: "tls(cipher=chacha20-poly1305)",
    takes: &[Form::Service, Form::Network, Form::Ethernet],
    gives: Some(Form::Connections),
    does: Does::Encrypts,
    needs: &[],
    parameters: &[cipher::one_of(
        &["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"],
        "aes-256-gcm",
    )],
    ..ON_NETWORK
};

impl Declared for Tls {
    const WORDS: &'static [LayerInfo] = &[
        TLS,
        LayerInfo {
            name: "ktls",
            about: "encryption of connections: TLS 1.3 by the kernel, at both ends",
            example: "ktls(cipher=aes-128-gcm)",
            needs: &[Need::Module { module: "tls", about: "TLS" }],
            ..TLS
        },
    ];

    fn word(&self) -> usize {
        usize::from(self.in_kernel)
    }

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let cipher = cipher::from_arguments(arguments)?;
        Ok(Self { in_kernel: arguments.word() == "ktls", cipher })
    }

    fn values(&self) -> Values {
        cipher::values(&self.cipher)
    }
}
