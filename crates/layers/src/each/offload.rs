//! Batch processing of packets by interfaces, switched off or on.

use crate::declaration::prelude::*;

/// Offloads at both ends; absent means unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Offload {
    /// The interface splits data into TCP segments.
    pub tso: Option<bool>,
    /// The kernel splits segments, as late as possible.
    pub gso: Option<bool>,
    /// The kernel joins received segments.
    pub gro: Option<bool>,
}

impl Offload {
    /// The requested settings by their ethtool names.
    pub fn switches(&self) -> [(&'static str, Option<bool>); 3] {
        [("tso", self.tso), ("gso", self.gso), ("gro", self.gro)]
    }
}

impl Declared for Offload {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "offload",
        about: "segmentation and receive offloads at both ends, each on or off",
        example: "offload(tso=false, gso=false, gro=false)",
        needs: &[Need::Root, Need::program("ethtool", "ethtool")],
        parameters: Self::PARAMETERS,
        ..ON_NETWORK
    }];

    parameters! {
        tso: parameter("tso", Unit::Switch, None, "the interface splits data into TCP segments"),
        gso: parameter("gso", Unit::Switch, None, "the kernel splits data as late as possible"),
        gro: parameter("gro", Unit::Switch, None, "the kernel joins received segments early"),
    }

    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        let is_given = *self != Self::default();
        arguments.demand(is_given, "tso", "tso, gso or gro is required", "for example gro=false")
    }
}
