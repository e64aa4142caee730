//! A read cache of any size, simulated.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, IN_PROCESS, LayerInfo, parameter};
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
use crate::units::Unit;

/// A read cache of any size, which holds no data: its hits are free below.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tier {
    pub size_bytes: u64,
}

impl Declared for Tier {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "tier",
        about: "read cache of any size, simulated: what is below is free for its hits",
        example: "tier(size=43G)",
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
