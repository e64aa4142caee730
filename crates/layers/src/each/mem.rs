//! A disk in memory.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{BASE, Form, LayerInfo, Submitter, World, parameter};
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
use crate::units::Unit;

/// Memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mem {
    /// Size of the disk.
    pub size_bytes: u64,
}

impl Declared for Mem {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "mem",
        about: "base: a disk in memory",
        example: "mem(size=64M)",
        world: World::InProcess,
        gives: Some(Form::File),
        submitter: Submitter::Nobody,
        parameters: &[parameter("size", Unit::Size, Some("256M"), "size of the disk")],
        ..BASE
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        Ok(Self { size_bytes: arguments.disk_size()? })
    }

    fn values(&self) -> Values {
        vec![("size", Some(self.size_bytes.into()))]
    }
}
