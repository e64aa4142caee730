//! A token bucket at each end's interface, as providers limit a VM's bandwidth.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, LayerInfo, ON_NETWORK, parameter};
use crate::declaration::need::Need;
use crate::declaration::{Arguments, Declared, Value, Values};
use crate::error::Error;
use crate::units::Unit;

/// The qdisc `tbf`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tbf {
    /// Bits per second, headers of Ethernet included.
    pub rate_bits: f64,
    /// Bytes that may leave at once; absent: what 2 ms at the rate come to, and some packets at
    /// least.
    pub burst_bytes: Option<u64>,
}

impl Declared for Tbf {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "tbf",
        about: "a token bucket at each end, as a VM's bandwidth is limited by",
        example: "tbf(rate=500Mbit)",
        does: Does::Limits,
        needs: &[
            Need::Root,
            Need::TC,
            Need::Network {
                probe: &[
                    "tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", "1mbit", "burst",
                    "10k", "latency", "50ms",
                ],
                about: "queueing discipline tbf",
            },
        ],
        parameters: &[
            parameter("rate", Unit::BitRate, None, "bits per second, headers included"),
            parameter("burst", Unit::Size, None, "bytes that may leave at once"),
        ],
        ..ON_NETWORK
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        Ok(Self {
            rate_bits: arguments.required_rate("rate")?,
            burst_bytes: arguments.whole_if_given("burst"),
        })
    }

    fn values(&self) -> Values {
        vec![("rate", Some(self.rate_bits.into())), ("burst", self.burst_bytes.map(Value::from))]
    }
}
