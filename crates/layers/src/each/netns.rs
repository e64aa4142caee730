//! Two network namespaces of this machine, joined by a pair of virtual Ethernet devices.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, Form, LayerInfo, ON_NETWORK};
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
        takes: &[],
        gives: Some(Form::Ethernet),
        does: Does::Holds,
        needs: &[
            Need::Root,
            Need::IP,
            Need::Network {
                probe: &["ip", "link", "add", "probe", "type", "veth"],
                about: "virtual Ethernet devices",
            },
        ],
        parameters: Cpus::PARAMETERS,
        ..ON_NETWORK
    }];

    fn read(arguments: &Arguments<'_>) -> Result<Self, Error> {
        Ok(Self { cpus: Cpus::read(arguments) })
    }

    fn values(&self) -> Values {
        vec![self.cpus.value()]
    }
}
