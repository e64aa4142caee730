//! A read cache in memory.

use serde::{Deserialize, Serialize};

use super::info::{Does, Form, LayerInfo, Submitter, Values, World, cache_size, parameter};
use super::{Declared, Layer};
use crate::units::Unit;

/// Read cache, write-through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// Capacity.
    pub size_bytes: u64,
}

impl Declared for Cache {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "cache",
        about: "read cache in memory, write-through",
        example: "cache(size=64M)",
        world: World::InProcess,
        takes: &[Form::File],
        gives: None,
        does: Does::Caches,
        submitter: Submitter::Caller,
        needs: &[],
        parameters: &[parameter("size", Unit::Size, None, "capacity")],
        read: |arguments| Ok(Layer::Cache(Cache { size_bytes: cache_size(arguments)? })),
    }];

    fn values(&self) -> Values {
        vec![("size", Some(self.size_bytes.into()))]
    }
}
