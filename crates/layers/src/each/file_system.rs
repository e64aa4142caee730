//! File systems on block devices.

use crate::declaration::prelude::*;

/// A file system on a block device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileSystem {
    pub kind: FileSystemKind,
    /// Made with support for [`Fscrypt`](crate::Fscrypt); `ext4` only.
    pub encrypt: bool,
    /// Additional arguments of mkfs, separated by spaces.
    pub mkfs: Option<String>,
    /// Mount options, separated by commas.
    pub mount: Option<String>,
    /// Read-ahead of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_bytes: Option<u64>,
}

/// Supported file systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileSystemKind {
    /// ext4.
    Ext4,
    Xfs,
    Btrfs,
}

impl FileSystemKind {
    /// Its name in the kernel and in stack text.
    pub const fn name(self) -> &'static str {
        FileSystem::WORDS[self as usize].name
    }
}

const MKFS: Parameter = parameter("mkfs", Unit::Name, None, "additional mkfs arguments, in quotes");
const MOUNT: Parameter = parameter("mount", Unit::Name, None, "mount options, in quotes");

const EXT4: &[Need] =
    &[Need::Root, Need::program("mkfs.ext4", "e2fsprogs"), Need::FileSystem { name: "ext4" }];
const XFS: &[Need] =
    &[Need::Root, Need::program("mkfs.xfs", "xfsprogs"), Need::FileSystem { name: "xfs" }];
const BTRFS: &[Need] =
    &[Need::Root, Need::program("mkfs.btrfs", "btrfs-progs"), Need::FileSystem { name: "btrfs" }];

/// Defaults of all file systems.
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
        parameters: FileSystem::PARAMETERS,
    }
}

impl Declared for FileSystem {
    const WORDS: &'static [LayerInfo] = &[
        LayerInfo {
            parameters: &[
                parameter("encrypt", Unit::Switch, Some("false"), "support an fscrypt layer above"),
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

    const PARAMETERS: &'static [Parameter] = &[MKFS, MOUNT, READ_AHEAD];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let kinds = [FileSystemKind::Ext4, FileSystemKind::Xfs, FileSystemKind::Btrfs];
        let kind = kinds.into_iter().find(|kind| kind.name() == arguments.word());
        let kind = kind.expect("each of its words is a kind");
        Ok(Self {
            kind,
            encrypt: kind == FileSystemKind::Ext4 && Field::from_argument(arguments, "encrypt")?,
            mkfs: Field::from_argument(arguments, "mkfs")?,
            mount: Field::from_argument(arguments, "mount")?,
            read_ahead_bytes: Field::from_argument(arguments, "read_ahead")?,
        })
    }

    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        demand_read_ahead(arguments, self.read_ahead_bytes)
    }

    fn values(&self) -> Values {
        let options = [
            ("mkfs", self.mkfs.value()),
            ("mount", self.mount.value()),
            ("read_ahead", self.read_ahead_bytes.value()),
        ];
        let encrypt =
            (self.kind == FileSystemKind::Ext4).then(|| ("encrypt", self.encrypt.value()));
        encrypt.into_iter().chain(options).collect()
    }
}
