//! The loopback interface of this machine, with a peer on it.

use crate::declaration::prelude::*;

/// A network path that leaves this process, but not this machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Loopback {
    /// CPUs of its ends.
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
