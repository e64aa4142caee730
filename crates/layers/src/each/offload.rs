//! What interfaces do for packets in batches, switched off or on.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{LayerInfo, ON_NETWORK, parameter};
use crate::declaration::need::Need;
use crate::declaration::{Arguments, Declared, Value, Values};
use crate::error::Error;
use crate::units::Unit;

/// Offloads at both ends; absent means as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Offload {
    /// The interface cuts up TCP segments.
    pub tso: Option<bool>,
    /// The kernel cuts them up, as late as it can.
    pub gso: Option<bool>,
    /// The kernel joins what it receives.
    pub gro: Option<bool>,
}

impl Offload {
    /// Each by its name for ethtool, with what was asked for.
    pub fn switches(&self) -> [(&'static str, Option<bool>); 3] {
        [("tso", self.tso), ("gso", self.gso), ("gro", self.gro)]
    }
}

impl Declared for Offload {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "offload",
        about: "segmentation and reassembly in batches at both ends, off or on",
        example: "offload(tso=false, gso=false, gro=false)",
        needs: &[Need::Root, Need::program("ethtool", "ethtool")],
        parameters: &[
            parameter("tso", Unit::Switch, None, "TCP segments are cut up by the interface"),
            parameter("gso", Unit::Switch, None, "segments are cut up as late as possible"),
            parameter("gro", Unit::Switch, None, "received segments are joined early"),
        ],
        ..ON_NETWORK
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let [tso, gso, gro] = ["tso", "gso", "gro"].map(|name| arguments.switch_if_given(name));
        if [tso, gso, gro] == [None; 3] {
            return Err(arguments.refuse(
                "tso",
                "none of tso, gso, gro is given",
                "write gro=false",
            ));
        }
        Ok(Self { tso, gso, gro })
    }

    fn values(&self) -> Values {
        let values = self.switches().into_iter();
        values.map(|(name, on)| (name, on.map(Value::from))).collect()
    }
}
