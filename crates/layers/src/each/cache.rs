//! A read cache in memory.

use crate::declaration::prelude::*;

/// Read cache, write-through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    pub size_bytes: u64,
}

impl Declared for Cache {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "cache",
        about: "in-memory read cache, write-through",
        example: "cache(size=64M)",
        does: Does::Caches,
        parameters: Self::PARAMETERS,
        ..IN_PROCESS
    }];

    parameters! {
        size_bytes: parameter("size", Unit::Size, None, "capacity"),
    }

    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        arguments.demand_sector(self.size_bytes)
    }
}
