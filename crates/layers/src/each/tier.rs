//! A simulated read cache of any size.

use crate::declaration::prelude::*;

/// A read cache of any size, which holds no data: its hits cost nothing below.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tier {
    pub size_bytes: u64,
}

impl Declared for Tier {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "tier",
        about: "simulated read cache of any size; hits bypass simulated layers below it",
        example: "tier(size=43G)",
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
