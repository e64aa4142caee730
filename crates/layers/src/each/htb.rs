//! A hierarchical token bucket at each end, as container platforms limit bandwidth.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, LayerInfo, ON_NETWORK, parameter};
use crate::declaration::need::Need;
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
use crate::units::Unit;

/// The qdisc `htb` with one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Htb {
    /// Bits per second, headers of Ethernet included.
    pub rate_bits: f64,
}

impl Declared for Htb {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "htb",
        about: "a hierarchical token bucket at each end, with one class",
        example: "htb(rate=500Mbit)",
        does: Does::Limits,
        needs: &[
            Need::Root,
            Need::TC,
            Need::Network {
                probe: &["tc", "qdisc", "add", "dev", "lo", "root", "htb"],
                about: "queueing discipline htb",
            },
        ],
        parameters: &[parameter("rate", Unit::BitRate, None, "bits per second, headers included")],
        ..ON_NETWORK
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        Ok(Self { rate_bits: arguments.required_rate("rate")? })
    }

    fn values(&self) -> Values {
        vec![("rate", Some(self.rate_bits.into()))]
    }
}
