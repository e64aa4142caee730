//! An encrypted tunnel: packets over a connection of ssh.

use serde::{Deserialize, Serialize};

use super::declared::{Arguments, Declared, Values};
use super::info::{Does, Form, LayerInfo, ON_NETWORK, parameter};
use super::need::Need;
use crate::error::Error;
use crate::units::Unit;

/// A tunnel by OpenSSH, as `ssh -w` makes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ssh {
    /// What encrypts and authenticates the connection.
    pub cipher: String,
}

impl Declared for Ssh {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "ssh",
        about: "encryption of packets: OpenSSH (ssh -w), over one TCP connection",
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
        parameters: &[parameter(
            "cipher",
            Unit::Choice(&["chacha20-poly1305", "aes-128-gcm", "aes-256-gcm"]),
            Some("chacha20-poly1305"),
            "what encrypts and authenticates",
        )],
        ..ON_NETWORK
    }];

    fn read(arguments: &Arguments<'_>) -> Result<Self, Error> {
        Ok(Self { cipher: arguments.required_text("cipher")? })
    }

    fn values(&self) -> Values {
        vec![("cipher", Some(self.cipher.clone().into()))]
    }
}
