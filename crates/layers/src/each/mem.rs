//! A disk in memory.

use crate::declaration::prelude::*;

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
        parameters: Self::PARAMETERS,
        ..BASE
    }];

    parameters! {
        size_bytes: parameter("size", Unit::Size, Some("256M"), "disk size"),
    }

    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        arguments.demand_sectors(self.size_bytes)
    }
}
