//! Two network namespaces of this machine, joined by a pair of virtual Ethernet devices.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Form, LayerInfo, NETWORK_BASE};
use crate::declaration::need::Need;
use crate::declaration::shared::Cpus;
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;

/// Two namespaces, a wire between them, and a peer at its far end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Netns {
    /// Which CPUs its ends have.
    #[serde(default)]
    pub cpus: Cpus,
}

impl Declared for Netns {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "netns",
        about: "base: a network path between two namespaces of this machine",
        example: "netns",
        gives: Some(Form::Ethernet),
        needs: &[
            Need::Root,
            Need::IP,
            Need::Network {
                probe: &["ip", "link", "add", "probe", "type", "veth"],
                about: "virtual Ethernet devices",
            },
        ],
        parameters: Cpus::PARAMETERS,
        ..NETWORK_BASE
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        Ok(Self { cpus: Cpus::from_arguments(arguments) })
    }

    fn values(&self) -> Values {
        vec![self.cpus.value()]
    }
}
