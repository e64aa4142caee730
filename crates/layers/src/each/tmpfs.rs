//! A file system in memory.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, Form, LayerInfo, Submitter, World, parameter};
use crate::declaration::need::Need;
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
use crate::units::Unit;

/// A file system in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tmpfs {
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
    }];

    fn read(arguments: &Arguments<'_>) -> Result<Self, Error> {
        Ok(Self { size_bytes: arguments.disk_size()? })
    }

    fn values(&self) -> Values {
        vec![("size", Some(self.size_bytes.into()))]
    }
}
