//! Encryption of files by the file system itself.

use crate::declaration::prelude::*;

/// Encryption of files by the file system itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fscrypt {}

/// A small program that uses the interface and is in every distribution.
const XFS_IO: Need = Need::program("xfs_io", "xfsprogs");

impl Declared for Fscrypt {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "fscrypt",
        about: "ext4's own file encryption",
        example: "fscrypt",
        takes: &[Form::Directory],
        gives: Some(Form::Directory),
        does: Does::Encrypts,
        needs: &[
            Need::Root,
            XFS_IO,
            Need::Feature {
                path: "/sys/fs/ext4/features/encryption",
                module: "ext4",
                about: "encryption in ext4 (CONFIG_FS_ENCRYPTION)",
            },
        ],
        ..IN_SYSTEM
    }];

    parameters! {}
}
