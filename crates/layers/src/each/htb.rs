//! A hierarchical token bucket at each end, as container platforms limit bandwidth.

use crate::declaration::prelude::*;

/// The qdisc `htb` with one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Htb {
    /// Bits per second, including Ethernet headers.
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
            Need::network("tc qdisc add dev lo root htb", "queueing discipline htb"),
        ],
        parameters: Self::PARAMETERS,
        ..ON_NETWORK
    }];

    parameters! {
        rate_bits: parameter("rate", Unit::BitRate, None, "bits per second, including headers"),
    }
}
