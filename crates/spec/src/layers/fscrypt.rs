//! Encryption of files by the file system itself.

use serde::{Deserialize, Serialize};

use super::info::{Does, Form, LayerInfo, Submitter, Values, World};
use super::{Declared, Layer, Need};
use super::{FileSystem, FileSystemKind};
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
        read: |_| Ok(Layer::Fscrypt(Fscrypt {})),
    }];

    fn values(&self) -> Values {
        Vec::new()
    }

    /// The file system that encrypts is the one below, which must have been made for it.
    fn fit(&self, below: &mut [Layer]) -> Result<(), Error> {
        let nearest = below.iter_mut().rev().find(|layer| !matches!(layer, Layer::CgroupIo(_)));
        match nearest {
            Some(Layer::FileSystem(FileSystem { kind: FileSystemKind::Ext4, encrypt, .. })) => {
                *encrypt = true;
                Ok(())
            }
            _ => Err(Error::syntax(
                "`fscrypt` is done by the file system below it, which must be ext4",
                "write ext4 + fscrypt",
            )),
        }
    }
}
