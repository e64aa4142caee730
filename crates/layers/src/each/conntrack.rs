//! Connection tracking at both ends, as in a stateful firewall.

use crate::declaration::prelude::*;

/// nftables rules that match the state of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Conntrack {}

impl Declared for Conntrack {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "conntrack",
        about: "a stateful firewall at each end: nftables with connection tracking",
        example: "conntrack",
        needs: &[
            Need::Root,
            Need::NFT,
            Need::network(
                "nft add table ip probe; add chain ip probe input { type filter hook input \
                 priority 0; }; add rule ip probe input ct state established accept",
                "nftables with connection tracking",
            ),
        ],
        ..ON_NETWORK
    }];

    parameters! {}
}
