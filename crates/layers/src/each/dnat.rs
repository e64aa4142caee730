//! A service address that is translated to the far end's, as for a Kubernetes Service.

use crate::declaration::prelude::*;

/// Destination NAT at the near end, by nftables.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Dnat {}

impl Declared for Dnat {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "dnat",
        about: "destination address translation (DNAT), as in a Kubernetes Service",
        example: "dnat",
        gives: Some(Form::Service),
        needs: &[
            Need::Root,
            Need::IP,
            Need::NFT,
            Need::network(
                "nft add table ip probe; add chain ip probe out { type nat hook output \
                 priority -100; }; add rule ip probe out ip daddr 198.19.0.1 dnat to \
                 198.18.0.2",
                "nftables with address translation",
            ),
        ],
        ..ON_NETWORK
    }];

    parameters! {}
}
