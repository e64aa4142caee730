//! File systems on block devices.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, Form, LayerInfo, Parameter, Submitter, World, parameter};
use crate::declaration::need::Need;
use crate::declaration::shared::{READ_AHEAD, read_ahead};
use crate::declaration::{Arguments, Declared, Value, Values};
use crate::error::Error;
use crate::units::Unit;

/// A file system on a block device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileSystem {
    pub kind: FileSystemKind,
    /// Made with support for [`Fscrypt`](crate::Fscrypt); `ext4` only.
    pub encrypt: bool,
    /// Further arguments of mkfs, separated by spaces.
    pub mkfs: Option<String>,
    /// Mount options, separated by commas.
    pub mount: Option<String>,
    /// How far the kernel reads ahead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_bytes: Option<u64>,
}

/// File systems that can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileSystemKind {
    /// ext4.
    Ext4,
    Xfs,
    Btrfs,
}

impl FileSystemKind {
    /// The kernel's word for it, which is also the one in stack text.
    pub const fn name(self) -> &'static str {
        FileSystem::WORDS[self as usize].name
    }
}

const MKFS: Parameter = parameter("mkfs", Unit::Name, None, "further arguments of mkfs, in quotes");
const MOUNT: Parameter = parameter("mount", Unit::Name, None, "mount options, in quotes");

const EXT4: &[Need] =
    &[Need::Root, Need::program("mkfs.ext4", "e2fsprogs"), Need::FileSystem { name: "ext4" }];
const XFS: &[Need] =
    &[Need::Root, Need::program("mkfs.xfs", "xfsprogs"), Need::FileSystem { name: "xfs" }];
const BTRFS: &[Need] =
    &[Need::Root, Need::program("mkfs.btrfs", "btrfs-progs"), Need::FileSystem { name: "btrfs" }];

/// What all of them have in common.
const fn word(name: &'static str, example: &'static str, needs: &'static [Need]) -> LayerInfo {
    LayerInfo {
        name,
        about: "file system",
        example,
        world: World::System,
        takes: &[Form::Block],
        gives: Some(Form::Directory),
        does: Does::Carries,
        submitter: Submitter::Caller,
        needs,
        parameters: &[MKFS, MOUNT, READ_AHEAD],
    }
}

impl Declared for FileSystem {
    const WORDS: &'static [LayerInfo] = &[
        LayerInfo {
            parameters: &[
                parameter("encrypt", Unit::Switch, Some("false"), "made for fscrypt above it"),
                MKFS,
                MOUNT,
                READ_AHEAD,
            ],
            ..word("ext4", "ext4(mount=noatime)", EXT4)
        },
        word("xfs", "xfs", XFS),
        word("btrfs", "btrfs(mount=nodatacow)", BTRFS),
    ];

    fn word(&self) -> usize {
        self.kind as usize
    }

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let kinds = [FileSystemKind::Ext4, FileSystemKind::Xfs, FileSystemKind::Btrfs];
        let kind = kinds.into_iter().find(|kind| kind.name() == arguments.word());
        let kind = kind.expect("each of its words is a kind");
        let encrypt = kind == FileSystemKind::Ext4 && arguments.switch("encrypt")?;
        let (mkfs, mount) = (arguments.text("mkfs"), arguments.text("mount"));
        Ok(Self { kind, encrypt, mkfs, mount, read_ahead_bytes: read_ahead(arguments)? })
    }

    fn values(&self) -> Values {
        let encrypt = ("encrypt", Some(self.encrypt.into()));
        let is_ext4 = self.kind == FileSystemKind::Ext4;
        let options = [
            ("mkfs", self.mkfs.clone().map(Value::from)),
            ("mount", self.mount.clone().map(Value::from)),
            ("read_ahead", self.read_ahead_bytes.map(Value::from)),
        ];
        is_ext4.then_some(encrypt).into_iter().chain(options).collect()
    }
}
