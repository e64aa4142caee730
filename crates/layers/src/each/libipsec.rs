//! Encryption of IP packets in user space: ESP by strongSwan.

use crate::declaration::prelude::*;

/// An ESP-in-UDP tunnel by strongSwan's libipsec, for kernels without ESP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Libipsec {
    /// Cipher for encryption and authentication.
    pub cipher: String,
}

impl Declared for Libipsec {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "libipsec",
        about: "packet encryption: IPsec ESP in UDP, with strongSwan in user space",
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
        parameters: Self::PARAMETERS,
        ..ON_NETWORK
    }];

    parameters! {
        cipher: cipher(&["aes-128-gcm", "aes-256-gcm", "aes-128-cbc-sha256"], "aes-128-gcm"),
    }
}
