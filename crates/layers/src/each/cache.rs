//! A read cache in memory.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, IN_PROCESS, LayerInfo, parameter};
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
use crate::units::Unit;

/// Read cache, write-through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    pub size_bytes: u64,
}

impl Declared for Cache {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "cache",
        about: "read cache in memory, write-through",
        example: "cache(size=64M)",
        does: Does::Caches,
        parameters: &[parameter("size", Unit::Size, None, "capacity")],
        ..IN_PROCESS
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        Ok(Self { size_bytes: arguments.cache_size()? })
    }

    fn values(&self) -> Values {
        vec![("size", Some(self.size_bytes.into()))]
    }
}
