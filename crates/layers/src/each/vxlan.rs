//! Ethernet frames in UDP datagrams, as in overlay networks of clusters.

use crate::declaration::prelude::*;

/// A VXLAN tunnel.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Vxlan {}

impl Declared for Vxlan {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "vxlan",
        about: "Ethernet in UDP, as in cluster overlay networks",
        example: "vxlan",
        gives: Some(Form::Ethernet),
        needs: &[
            Need::Root,
            Need::IP,
            Need::network("ip link add probe type vxlan id 1 dstport 0", "VXLAN"),
        ],
        ..ON_NETWORK
    }];

    parameters! {}
}
