//! Ethernet frames in UDP datagrams, as newer overlay networks carry them.

use crate::declaration::prelude::*;

/// A Geneve tunnel.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Geneve {}

impl Declared for Geneve {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "geneve",
        about: "Ethernet in UDP, as in the overlay networks of OVN and Cilium",
        example: "geneve",
        gives: Some(Form::Ethernet),
        needs: &[
            Need::Root,
            Need::IP,
            Need::network("ip link add probe type geneve id 1 remote 198.18.0.2", "Geneve"),
        ],
        ..ON_NETWORK
    }];

    parameters! {}
}
