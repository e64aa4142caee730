//! A token bucket at the interface of each end, as providers limit a VM's bandwidth.

use crate::declaration::prelude::*;

/// The qdisc `tbf`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tbf {
    /// Bits per second, including Ethernet headers.
    pub rate_bits: f64,
    /// Bytes that may be sent at once; absent: the bytes of 2 ms at the rate, but at least some
    /// packets.
    pub burst_bytes: Option<u64>,
}

impl Declared for Tbf {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "tbf",
        about: "a token bucket at each end, as used to limit a VM's bandwidth",
        example: "tbf(rate=500Mbit)",
        does: Does::Limits,
        needs: &[
            Need::Root,
            Need::TC,
            Need::network(
                "tc qdisc add dev lo root tbf rate 1mbit burst 10k latency 50ms",
                "queueing discipline tbf",
            ),
        ],
        parameters: Self::PARAMETERS,
        ..ON_NETWORK
    }];

    parameters! {
        rate_bits: parameter("rate", Unit::BitRate, None, "bits per second, including headers"),
        burst_bytes: parameter("burst", Unit::Size, None, "bytes that can be sent in one burst"),
    }
}
