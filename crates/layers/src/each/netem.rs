//! A long, lossy or slow path, as the kernel emulates it.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, LayerInfo, ON_NETWORK, parameter};
use crate::declaration::need::Need;
use crate::declaration::{Arguments, Declared, Value, Values};
use crate::error::Error;
use crate::units::Unit;

/// The qdisc `netem`; absent means none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Netem {
    /// Of a round trip: all of it where packets leave the near end.
    pub delay_ns: Option<u64>,
    /// Uniform spread of the delay, plus or minus.
    pub jitter_ns: Option<u64>,
    /// Of packets, each way.
    pub loss: Option<f64>,
    /// Bits per second, each way.
    pub rate_bits: Option<f64>,
}

impl Declared for Netem {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "netem",
        about: "a longer, lossy or slower path, emulated by the kernel",
        example: "netem(delay=2ms, loss=1%)",
        does: Does::Limits,
        needs: &[
            Need::Root,
            Need::TC,
            Need::Network {
                probe: &["tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"],
                about: "queueing discipline netem",
            },
        ],
        parameters: &[
            parameter(
                "delay",
                Unit::Duration,
                None,
                "what it adds to a round trip: packets wait where they leave the near end",
            ),
            parameter(
                "jitter",
                Unit::Duration,
                None,
                "uniform spread of the delay, plus or minus; it reorders packets",
            ),
            parameter("loss", Unit::Share, None, "share of packets lost, each way"),
            parameter("rate", Unit::BitRate, None, "bits per second each way, headers included"),
        ],
        ..ON_NETWORK
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let netem = Self {
            delay_ns: arguments.whole_if_given("delay"),
            jitter_ns: arguments.whole_if_given("jitter"),
            loss: arguments.real("loss"),
            rate_bits: arguments.rate("rate")?,
        };
        if netem == Self::default() {
            let problem = "none of delay, loss and rate is given";
            return Err(arguments.refuse("delay", problem, "write for example delay=2ms"));
        }
        if netem.jitter_ns > netem.delay_ns {
            let problem = "the delay cannot vary by more than itself";
            return Err(arguments.refuse("jitter", problem, "write a delay at least as long"));
        }
        Ok(netem)
    }

    fn values(&self) -> Values {
        vec![
            ("delay", self.delay_ns.map(Value::from)),
            ("jitter", self.jitter_ns.map(Value::from)),
            ("loss", self.loss.map(Value::from)),
            ("rate", self.rate_bits.map(Value::from)),
        ]
    }
}
