//! A longer, lossy or slower path, emulated by the kernel.

use crate::declaration::prelude::*;

/// The qdisc `netem`; absent means none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Netem {
    /// Added to a round trip, entirely where packets leave the near end.
    pub delay_ns: Option<u64>,
    /// Uniform spread of the delay, plus or minus.
    pub jitter_ns: Option<u64>,
    /// Share of lost packets, each way.
    pub loss: Option<f64>,
    /// Bits per second, each way.
    pub rate_bits: Option<f64>,
}

impl Declared for Netem {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "netem",
        about: "a path with delay, packet loss or a rate limit, emulated by the kernel",
        example: "netem(delay=2ms, loss=1%)",
        does: Does::Limits,
        needs: &[
            Need::Root,
            Need::TC,
            Need::network("tc qdisc add dev lo root netem delay 1ms", "queueing discipline netem"),
        ],
        parameters: Self::PARAMETERS,
        ..ON_NETWORK
    }];

    parameters! {
        delay_ns: parameter("delay", Unit::Duration, None,
            "delay added to each round trip, applied to packets that leave the near end"),
        jitter_ns: parameter("jitter", Unit::Duration, None,
            "maximum deviation from the delay, up or down; can reorder packets"),
        loss: parameter("loss", Unit::Share, None, "share of packets lost in each direction"),
        rate_bits: parameter("rate", Unit::BitRate, None,
            "bits per second in each direction, including headers"),
    }

    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        let problem = "delay, loss or rate is required";
        let is_given = *self != Self::default();
        arguments.demand(is_given, "delay", problem, "for example delay=2ms")?;
        let problem = "the jitter is larger than the delay";
        let is_within = self.jitter_ns <= self.delay_ns;
        arguments.demand(is_within, "jitter", problem, "increase delay, or reduce jitter")
    }
}
