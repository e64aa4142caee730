//! A network path to an iotax peer on another host.

use crate::declaration::prelude::*;

/// An `iotax peer` that was started on another host.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Peer {
    /// `host:port`
    pub address: String,
    /// File with the token that the peer was started with, or that it printed.
    pub token: Option<PathBuf>,
}

impl Declared for Peer {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "peer",
        about: "base: path to an `iotax peer` on another host; short form: tcp://HOST:PORT",
        example: "peer(address=10.0.0.2:7474)",
        gives: Some(Form::Service),
        needs: &[],
        parameters: Self::PARAMETERS,
        ..NETWORK_BASE
    }];

    parameters! {
        address: parameter("address", Unit::Name, None, "address of the peer, as host:port"),
        token: parameter("token", Unit::Path, None,
            "file that contains the peer's token [default: $IOTAX_TOKEN_FILE]"),
    }

    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
        let parts = self.address.rsplit_once(':');
        let is_address = parts.is_some_and(|(host, port)| !host.is_empty() && is_port(port));
        let advice = "for example 10.0.0.2:7474, or [fd00::2]:7474";
        arguments.demand(is_address, "address", "is not host:port", advice)
    }
}
