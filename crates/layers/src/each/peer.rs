//! A network path to an iotax that listens elsewhere.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Form, LayerInfo, NETWORK_BASE, parameter};
use crate::declaration::{Arguments, Declared, Value, Values};
use crate::error::Error;
use crate::units::Unit;

/// An `iotax peer` on another host, which was started there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Peer {
    /// `host:port`
    pub address: String,
    /// File with the token that it was started with, or printed.
    pub token: Option<PathBuf>,
}

impl Declared for Peer {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "peer",
        about: "base: the path to an `iotax peer` elsewhere; tcp://HOST:PORT for short",
        example: "peer(address=10.0.0.2:7474)",
        gives: Some(Form::Service),
        needs: &[],
        parameters: &[
            parameter("address", Unit::Name, None, "where it listens, as host:port"),
            parameter(
                "token",
                Unit::Path,
                None,
                "file with its token [default: $IOTAX_TOKEN_FILE]",
            ),
        ],
        ..NETWORK_BASE
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let address = arguments.required_text("address")?;
        let port = address.rsplit_once(':').and_then(|(host, port)| {
            port.parse::<u16>().ok().filter(|port| *port > 0 && !host.is_empty())
        });
        if port.is_none() {
            let advice = "for example 10.0.0.2:7474, or [fd00::2]:7474";
            return Err(arguments.refuse("address", "is no host and port", advice));
        }
        Ok(Self { address, token: arguments.path("token") })
    }

    fn values(&self) -> Values {
        let token = self.token.as_ref().map(|path| Value::from(path.display().to_string()));
        vec![("address", Some(self.address.clone().into())), ("token", token)]
    }
}
