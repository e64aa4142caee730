//! Encryption of files by a program in user space.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, Form, IN_SYSTEM, LayerInfo, Submitter, parameter};
use crate::declaration::need::Need;
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
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
        ..IN_SYSTEM
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        Ok(Self { cipher: arguments.required_text("cipher")? })
    }

    fn values(&self) -> Values {
        vec![("cipher", Some(self.cipher.clone().into()))]
    }
}
