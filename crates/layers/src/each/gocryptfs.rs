//! File encryption by a program in user space.

use crate::declaration::prelude::*;

/// File encryption by a FUSE program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gocryptfs {
    /// Its cipher, by its name in stack text.
    pub cipher: String,
}

impl Declared for Gocryptfs {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "gocryptfs",
        about: "file encryption with a FUSE program",
        example: "gocryptfs",
        takes: &[Form::Directory],
        gives: Some(Form::Directory),
        does: Does::Encrypts,
        submitter: Submitter::Process,
        needs: &[Need::Root, Need::FUSE, Need::program("gocryptfs", "gocryptfs")],
        parameters: Self::PARAMETERS,
        ..IN_SYSTEM
    }];

    parameters! {
        cipher: parameter("cipher", Unit::Choice(&["aes-gcm", "aes-siv", "xchacha"]), Some("aes-gcm"),
            "cipher for file contents"),
    }
}
