//! File systems on block devices.

use serde::{Deserialize, Serialize};

use super::info::{Does, Form, LayerInfo, Submitter, Values, World, parameter};
use super::{Declared, Layer, Need};
use crate::text::{Arguments, Parameter, Value};
use crate::units::Unit;

/// A file system on a block device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileSystem {
    /// Which one.
    pub kind: FileSystemKind,
    /// Made with support for [`Fscrypt`](super::Fscrypt); `ext4` only.
    pub encrypt: bool,
    /// Further arguments of mkfs, separated by spaces.
    pub mkfs: Option<String>,
    /// Mount options, separated by commas.
    pub mount: Option<String>,
}

/// File systems that can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileSystemKind {
    /// ext4.
    Ext4,
    /// XFS.
    Xfs,
    /// Btrfs.
    Btrfs,
}

impl FileSystemKind {
    /// The kernel's word for it, which is also the one in stack text.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    const fn info(self) -> &'static LayerInfo {
        match self {
            Self::Ext4 => &WORDS[0],
            Self::Xfs => &WORDS[1],
            Self::Btrfs => &WORDS[2],
        }
    }
}

const MKFS: Parameter = parameter("mkfs", Unit::Name, None, "further arguments of mkfs, in quotes");
const MOUNT: Parameter = parameter("mount", Unit::Name, None, "mount options, in quotes");

pub(super) static WORDS: &[LayerInfo] = &[
    LayerInfo {
        name: "ext4",
        about: "file system",
        example: "ext4(mount=noatime)",
        world: World::System,
        takes: &[Form::Block],
        gives: Some(Form::Directory),
        does: Does::Carries,
        submitter: Submitter::Caller,
        needs: &[
            Need::Root,
            Need::program("mkfs.ext4", "e2fsprogs"),
            Need::FileSystem { name: "ext4" },
        ],
        parameters: &[
            parameter("encrypt", Unit::Switch, Some("false"), "made for fscrypt above it"),
            MKFS,
            MOUNT,
        ],
        read: |arguments| {
            Ok(file_system(arguments, FileSystemKind::Ext4, arguments.switch("encrypt")?))
        },
    },
    LayerInfo {
        name: "xfs",
        about: "file system",
        example: "xfs",
        world: World::System,
        takes: &[Form::Block],
        gives: Some(Form::Directory),
        does: Does::Carries,
        submitter: Submitter::Caller,
        needs: &[
            Need::Root,
            Need::program("mkfs.xfs", "xfsprogs"),
            Need::FileSystem { name: "xfs" },
        ],
        parameters: &[MKFS, MOUNT],
        read: |arguments| Ok(file_system(arguments, FileSystemKind::Xfs, false)),
    },
    LayerInfo {
        name: "btrfs",
        about: "file system",
        example: "btrfs(mount=nodatacow)",
        world: World::System,
        takes: &[Form::Block],
        gives: Some(Form::Directory),
        does: Does::Carries,
        submitter: Submitter::Caller,
        needs: &[
            Need::Root,
            Need::program("mkfs.btrfs", "btrfs-progs"),
            Need::FileSystem { name: "btrfs" },
        ],
        parameters: &[MKFS, MOUNT],
        read: |arguments| Ok(file_system(arguments, FileSystemKind::Btrfs, false)),
    },
];

impl Declared for FileSystem {
    fn info(&self) -> &'static LayerInfo {
        self.kind.info()
    }

    fn values(&self) -> Values {
        let encrypt = ("encrypt", Some(self.encrypt.into()));
        let is_ext4 = self.kind == FileSystemKind::Ext4;
        let options = [
            ("mkfs", self.mkfs.clone().map(Value::from)),
            ("mount", self.mount.clone().map(Value::from)),
        ];
        is_ext4.then_some(encrypt).into_iter().chain(options).collect()
    }
}

fn file_system(arguments: &Arguments<'_>, kind: FileSystemKind, encrypt: bool) -> Layer {
    let (mkfs, mount) = (arguments.text("mkfs"), arguments.text("mount"));
    Layer::FileSystem(FileSystem { kind, encrypt, mkfs, mount })
}
