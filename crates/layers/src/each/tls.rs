//! Encryption of the load generator's own connections: TLS 1.3, by the process or by the kernel.

use crate::declaration::prelude::*;

/// TLS between the load generator and its peer, as in applications.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tls {
    /// Whether the kernel encrypts instead of the process.
    pub in_kernel: bool,
    /// Cipher for encryption and authentication.
    pub cipher: String,
}

/// Shared declaration of both layers.
const TLS: LayerInfo = LayerInfo {
    name: "tls",
    about: "connection encryption: TLS 1.3 with rustls, inside iotax at both ends",
    example: "tls(cipher=chacha20-poly1305)",
    takes: &[Form::Service, Form::Network, Form::Ethernet],
    gives: Some(Form::Connections),
    does: Does::Encrypts,
    needs: &[],
    parameters: Tls::PARAMETERS,
    ..ON_NETWORK
};

impl Declared for Tls {
    const WORDS: &'static [LayerInfo] = &[
        TLS,
        LayerInfo {
            name: "ktls",
            about: "connection encryption: TLS 1.3 in the kernel, at both ends",
            example: "ktls(cipher=aes-128-gcm)",
            needs: &[Need::Module { module: "tls", about: "TLS" }],
            ..TLS
        },
    ];

    fn word(&self) -> usize {
        usize::from(self.in_kernel)
    }

    const PARAMETERS: &'static [Parameter] =
        &[cipher(&["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"], "aes-256-gcm")];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let cipher = Field::from_argument(arguments, "cipher")?;
        Ok(Self { in_kernel: arguments.word() == "ktls", cipher })
    }

    fn values(&self) -> Values {
        vec![("cipher", self.cipher.value())]
    }
}
