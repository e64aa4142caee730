//! A disk in memory.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::info::{Does, Form, LayerInfo, Submitter, Values, World, disk_size, parameter};
use super::{Base, Declared, Holds, Layer};
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
        takes: &[],
        gives: Some(Form::File),
        does: Does::Holds,
        submitter: Submitter::Nobody,
        needs: &[],
        parameters: &[parameter("size", Unit::Size, Some("256M"), "size of the disk")],
        read: |arguments| Ok(Layer::Mem(Mem { size_bytes: disk_size(arguments)? })),
    }];

    fn values(&self) -> Values {
        vec![("size", Some(self.size_bytes.into()))]
    }
}

impl Holds for Mem {
    fn base(&self) -> Base<'_> {
        Base::Memory { size_bytes: self.size_bytes }
    }

    fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        Vec::new()
    }
}
