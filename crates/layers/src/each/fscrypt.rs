//! Encryption of files by the file system itself.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, Form, LayerInfo, Submitter, World};
use crate::declaration::need::Need;
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;

/// Encryption of files by the file system itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fscrypt {}

/// Of all small programs that speak the interface, the one that every distribution has.
const XFS_IO: Need = Need::program("xfs_io", "xfsprogs");

impl Declared for Fscrypt {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "fscrypt",
        about: "encryption of files by ext4 itself",
        example: "fscrypt",
        world: World::System,
        takes: &[Form::Directory],
        gives: Some(Form::Directory),
        does: Does::Encrypts,
        submitter: Submitter::Caller,
        needs: &[
            Need::Root,
            XFS_IO,
            Need::Feature {
                path: "/sys/fs/ext4/features/encryption",
                module: "ext4",
                about: "encryption in ext4 (CONFIG_FS_ENCRYPTION)",
            },
        ],
        parameters: &[],
    }];

    fn read(_arguments: &Arguments<'_>) -> Result<Self, Error> {
        Ok(Self {})
    }

    fn values(&self) -> Values {
        Vec::new()
    }
}
