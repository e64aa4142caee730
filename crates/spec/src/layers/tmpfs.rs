//! A file system in memory.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::info::{Does, Form, LayerInfo, Submitter, Values, World, disk_size, parameter};
use super::{Base, Declared, Holds, Layer, Need};
use crate::units::Unit;

/// A file system in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tmpfs {
    /// Capacity.
    pub size_bytes: u64,
}

impl Declared for Tmpfs {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "tmpfs",
        about: "base: a file system in memory",
        example: "tmpfs(size=1G)",
        world: World::System,
        takes: &[],
        gives: Some(Form::Directory),
        does: Does::Holds,
        submitter: Submitter::Nobody,
        needs: &[Need::Root, Need::FileSystem { name: "tmpfs" }],
        parameters: &[parameter("size", Unit::Size, Some("1G"), "capacity")],
        read: |arguments| Ok(Layer::Tmpfs(Tmpfs { size_bytes: disk_size(arguments)? })),
    }];

    fn values(&self) -> Values {
        vec![("size", Some(self.size_bytes.into()))]
    }
}

impl Holds for Tmpfs {
    fn base(&self) -> Base<'_> {
        Base::Memory { size_bytes: self.size_bytes }
    }

    fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        Vec::new()
    }
}
