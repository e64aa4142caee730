//! The loopback interface of this machine, with a peer behind it.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Form, LayerInfo, NETWORK_BASE};
use crate::declaration::shared::Cpus;
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;

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
