//! The loopback interface of this machine, with a peer behind it.

use crate::declaration::prelude::*;

/// A network path that leaves this process, and not this machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Loopback {
    /// Which CPUs its ends have.
    #[serde(default)]
    pub cpus: Cpus,
}

impl Declared for Loopback {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "loopback",
        about: "base: the network path from this machine to itself; needs no root",
        example: "loopback",
        gives: Some(Form::Service),
        needs: &[],
        parameters: Self::PARAMETERS,
        ..NETWORK_BASE
    }];

    parameters! {
        cpus: Cpus::PARAMETER,
    }
}
