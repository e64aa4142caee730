//! An encrypted tunnel: OpenVPN, in user space.

use crate::declaration::prelude::*;

/// An OpenVPN tunnel over UDP, from point to point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Openvpn {
    /// Cipher for encryption and authentication.
    pub cipher: String,
}

impl Declared for Openvpn {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "openvpn",
        about: "packet encryption: OpenVPN over UDP, in user space",
        example: "openvpn(cipher=aes-128-gcm)",
        gives: Some(Form::Network),
        does: Does::Encrypts,
        // From 2.6 on, it accepts a certificate by its fingerprint without an option.
        needs: &[Need::Root, Need::IP, Need::TUN, Need::program_since("openvpn", "openvpn", 2, 6)],
        parameters: Self::PARAMETERS,
        ..ON_NETWORK
    }];

    parameters! {
        cipher: cipher(&["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"], "aes-256-gcm"),
    }
}
