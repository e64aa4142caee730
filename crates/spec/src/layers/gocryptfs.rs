//! Encryption of files by a program in user space.

use serde::{Deserialize, Serialize};

use super::info::{Does, Form, LayerInfo, Submitter, Values, World, parameter};
use super::{Declared, Layer, Need};
use crate::units::Unit;

/// Encryption of files by a FUSE program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gocryptfs {
    /// Its cipher, by the word of stack text.
    pub cipher: String,
}

impl Declared for Gocryptfs {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "gocryptfs",
        about: "encryption of files by a FUSE program",
        example: "gocryptfs",
        world: World::System,
        takes: &[Form::Directory],
        gives: Some(Form::Directory),
        does: Does::Encrypts,
        submitter: Submitter::Process,
        needs: &[Need::Root, Need::FUSE, Need::program("gocryptfs", "gocryptfs")],
        parameters: &[parameter(
            "cipher",
            Unit::Choice(&["aes-gcm", "aes-siv", "xchacha"]),
            Some("aes-gcm"),
            "cipher of the contents",
        )],
        read: |arguments| {
            Ok(Layer::Gocryptfs(Gocryptfs { cipher: arguments.required_text("cipher")? }))
        },
    }];

    fn values(&self) -> Values {
        vec![("cipher", Some(self.cipher.clone().into()))]
    }
}
