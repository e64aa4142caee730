//! A file system in memory.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{BASE, Form, LayerInfo, Submitter, parameter};
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
        gives: Some(Form::Directory),
        submitter: Submitter::Nobody,
        needs: &[Need::Root, Need::FileSystem { name: "tmpfs" }],
        parameters: &[parameter("size", Unit::Size, Some("1G"), "capacity")],
        ..BASE
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        Ok(Self { size_bytes: arguments.disk_size()? })
    }

    fn values(&self) -> Values {
        vec![("size", Some(self.size_bytes.into()))]
    }
}
