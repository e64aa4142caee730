//! Two network namespaces of this machine, joined by a pair of virtual Ethernet devices.

use crate::declaration::prelude::*;

/// Two namespaces, a wire between them, and a peer at its far end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Netns {
    /// CPUs of its ends.
    #[serde(default)]
    pub cpus: Cpus,
}

impl Declared for Netns {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "netns",
        about: "base: a network path between two namespaces on this machine",
        example: "netns",
        gives: Some(Form::Ethernet),
        needs: &[
            Need::Root,
            Need::IP,
            Need::network("ip link add probe type veth", "virtual Ethernet devices"),
        ],
        parameters: Self::PARAMETERS,
        ..NETWORK_BASE
    }];

    parameters! {
        cpus: Cpus::PARAMETER,
    }
}
