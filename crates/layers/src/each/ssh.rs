//! An encrypted tunnel: packets over an ssh connection.

use crate::declaration::prelude::*;

/// A tunnel by OpenSSH, as `ssh -w` makes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ssh {
    /// Cipher for encryption and authentication.
    pub cipher: String,
}

impl Declared for Ssh {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "ssh",
        about: "packet encryption: OpenSSH (ssh -w), over one TCP connection",
        example: "ssh(cipher=aes-128-gcm)",
        gives: Some(Form::Network),
        does: Does::Encrypts,
        needs: &[
            Need::Root,
            Need::IP,
            Need::TUN,
            Need::program("ssh", "openssh-client"),
            Need::program("sshd", "openssh-server"),
            Need::program("unshare", "util-linux"),
        ],
        parameters: Self::PARAMETERS,
        ..ON_NETWORK
    }];

    parameters! {
        cipher: cipher(&["chacha20-poly1305", "aes-128-gcm", "aes-256-gcm"], "chacha20-poly1305"),
    }
}
