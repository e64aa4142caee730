//! A read cache of any size, simulated.

use serde::{Deserialize, Serialize};

use super::info::{Does, Form, LayerInfo, Submitter, Values, World, cache_size, parameter};
use super::{Declared, Layer};
use crate::units::Unit;

/// A read cache of any size, which holds no data: its hits are free below.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tier {
    /// Capacity.
    pub size_bytes: u64,
}

impl Declared for Tier {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "tier",
        about: "read cache of any size, simulated: what is below is free for its hits",
        example: "tier(size=43G)",
        world: World::InProcess,
        takes: &[Form::File],
        gives: None,
        does: Does::Caches,
        submitter: Submitter::Caller,
        needs: &[],
        parameters: &[parameter("size", Unit::Size, None, "capacity")],
        read: |arguments| Ok(Layer::Tier(Tier { size_bytes: cache_size(arguments)? })),
    }];

    fn values(&self) -> Values {
        vec![("size", Some(self.size_bytes.into()))]
    }
}
