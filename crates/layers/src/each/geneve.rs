//! Ethernet frames in UDP datagrams, as newer overlay networks carry them.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Form, LayerInfo, ON_NETWORK};
use crate::declaration::need::Need;
use crate::declaration::{Arguments, Declared};
use crate::error::Error;

/// A Geneve tunnel.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Geneve {}

impl Declared for Geneve {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "geneve",
        about: "Ethernet in UDP, as OVN and Cilium can have it",
        example: "geneve",
        gives: Some(Form::Ethernet),
        needs: &[
            Need::Root,
            Need::IP,
            Need::Network {
                probe: &[
                    "ip", "link", "add", "probe", "type", "geneve", "id", "1", "remote",
                    "198.18.0.2",
                ],
                about: "Geneve",
            },
        ],
        ..ON_NETWORK
    }];

    fn from_arguments(_: &Arguments<'_>) -> Result<Self, Error> {
        Ok(Self {})
    }
}
