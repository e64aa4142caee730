//! A network path to a host that ssh reaches.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Form, LayerInfo, NETWORK_BASE, parameter};
use crate::declaration::need::Need;
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
use crate::units::Unit;

/// A host on which ssh starts an `iotax peer` for as long as the arm is up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remote {
    /// As ssh knows it: `user@host`, or a name of its configuration.
    pub host: String,
    /// The program there.
    pub program: String,
}

impl Declared for Remote {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "remote",
        about: "base: the path to a host where ssh starts a peer; ssh://HOST for short",
        example: "remote(host=10.0.0.2)",
        gives: Some(Form::Service),
        needs: &[Need::program("ssh", "openssh-client")],
        parameters: &[
            parameter("host", Unit::Name, None, "as ssh knows it: user@host, or a name of its own"),
            parameter("program", Unit::Name, Some("iotax"), "iotax there"),
        ],
        ..NETWORK_BASE
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let host = arguments.required_text("host")?;
        // Nothing that ssh could take for an option, or a shell for more than a word.
        let is_name = |c: char| c.is_alphanumeric() || "@.-_:%".contains(c);
        if host.starts_with('-') || !host.chars().all(is_name) {
            let advice = "for example 10.0.0.2 or root@db-1.example.org";
            return Err(arguments.refuse("host", "is no name of a host", advice));
        }
        let program = arguments.required_text("program")?;
        let is_path = |c: char| c.is_alphanumeric() || "/.-_".contains(c);
        if !program.chars().all(is_path) {
            let advice = "for example /usr/local/bin/iotax";
            return Err(arguments.refuse("program", "is no plain path", advice));
        }
        Ok(Self { host, program })
    }

    fn values(&self) -> Values {
        vec![
            ("host", Some(self.host.clone().into())),
            ("program", Some(self.program.clone().into())),
        ]
    }
}
