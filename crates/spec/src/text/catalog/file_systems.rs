//! File systems.

use super::info::{Form, LayerInfo, Values, World, parameter};
use crate::stack::{FileSystem, FileSystemKind, Layer};
use crate::text::arguments::{Arguments, Parameter, Value};
use crate::units::Unit;

const MKFS: Parameter = parameter("mkfs", Unit::Name, None, "further arguments of mkfs, in quotes");
const MOUNT: Parameter = parameter("mount", Unit::Name, None, "mount options, in quotes");

pub(super) const EXT4: LayerInfo = LayerInfo {
    name: "ext4",
    about: "file system",
    example: "ext4(mount=noatime)",
    world: World::System,
    takes: &[Form::Block],
    gives: Some(Form::Directory),
    parameters: &[
        parameter("encrypt", Unit::Switch, Some("false"), "made for fscrypt above it"),
        MKFS,
        MOUNT,
    ],
    build: |arguments| {
        Ok(file_system(arguments, FileSystemKind::Ext4, arguments.switch("encrypt")?))
    },
    values: |layer| match layer {
        Layer::FileSystem(FileSystem { encrypt, .. }) => {
            [("encrypt", Some((*encrypt).into()))].into_iter().chain(options(layer)).collect()
        }
        _ => vec![],
    },
};

pub(super) const XFS: LayerInfo = LayerInfo {
    name: "xfs",
    about: "file system",
    example: "xfs",
    world: World::System,
    takes: &[Form::Block],
    gives: Some(Form::Directory),
    parameters: &[MKFS, MOUNT],
    build: |arguments| Ok(file_system(arguments, FileSystemKind::Xfs, false)),
    values: options,
};

pub(super) const BTRFS: LayerInfo = LayerInfo {
    name: "btrfs",
    about: "file system",
    example: "btrfs(mount=nodatacow)",
    world: World::System,
    takes: &[Form::Block],
    gives: Some(Form::Directory),
    parameters: &[MKFS, MOUNT],
    build: |arguments| Ok(file_system(arguments, FileSystemKind::Btrfs, false)),
    values: options,
};

fn file_system(arguments: &Arguments<'_>, kind: FileSystemKind, encrypt: bool) -> Layer {
    let (mkfs, mount) = (arguments.text("mkfs"), arguments.text("mount"));
    Layer::FileSystem(FileSystem { kind, encrypt, mkfs, mount })
}

fn options(layer: &Layer) -> Values {
    match layer {
        Layer::FileSystem(file_system) => vec![
            ("mkfs", file_system.mkfs.clone().map(Value::from)),
            ("mount", file_system.mount.clone().map(Value::from)),
        ],
        _ => vec![],
    }
}
