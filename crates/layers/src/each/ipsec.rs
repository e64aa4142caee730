//! Encryption of IP packets with IPsec ESP.

use crate::declaration::prelude::*;

/// ESP in transport mode, by the kernel, with the same keys at both ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ipsec {
    /// Cipher for encryption and authentication.
    pub cipher: String,
}

impl Declared for Ipsec {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "ipsec",
        about: "packet encryption: IPsec ESP in transport mode, in the kernel",
        example: "ipsec(cipher=aes-256-gcm)",
        gives: Some(Form::Network),
        does: Does::Encrypts,
        needs: &[
            Need::Root,
            Need::IP,
            // The key belongs to a temporary namespace, so it is not a secret.
            Need::network(
                "ip xfrm state add src 198.18.0.1 dst 198.18.0.2 proto esp spi 0x100 mode \
                 transport aead rfc4106(gcm(aes)) 0x00112233445566778899aabbccddeeff00112233 \
                 128",
                "ESP with AES-GCM",
            ),
        ],
        parameters: Self::PARAMETERS,
        ..ON_NETWORK
    }];

    parameters! {
        cipher: cipher(&["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305", "aes-128-cbc-sha256"],
            "aes-128-gcm"),
    }
}
