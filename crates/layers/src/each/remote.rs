//! A network path to a host that ssh reaches.

use crate::declaration::prelude::*;

/// A host on which ssh starts an `iotax peer` for as long as the arm is up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remote {
    /// For ssh: `user@host`, or an alias from its configuration.
    pub host: String,
    /// The iotax program on that host.
    pub program: String,
}

impl Declared for Remote {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "remote",
        about: "base: path to a host where iotax starts a peer (ssh); short form: ssh://HOST",
        example: "remote(host=10.0.0.2)",
        gives: Some(Form::Service),
        needs: &[Need::program("ssh", "openssh-client")],
        parameters: Self::PARAMETERS,
        ..NETWORK_BASE
    }];

    parameters! {
        host: parameter("host", Unit::Name, None,
            "ssh destination: user@host, or an alias from the ssh configuration"),
        program: parameter("program", Unit::Name, Some("iotax"), "path to iotax on that host"),
    }

    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        // Excludes anything that ssh could take for an option, or a shell for more than one word.
        let may_be = |c: char| c.is_alphanumeric() || "@.-_:%".contains(c);
        let is_host = !self.host.starts_with('-') && self.host.chars().all(may_be);
        let advice = "for example 10.0.0.2 or root@db-1.example.org";
        arguments.demand(is_host, "host", "is not a host name", advice)?;
        let may_be = |c: char| c.is_alphanumeric() || "/.-_".contains(c);
        let is_path = self.program.chars().all(may_be);
        let advice = "for example /usr/local/bin/iotax";
        arguments.demand(
            is_path,
            "program",
            "can contain only letters, digits, `/`, `.`, `-` and `_`",
            advice,
        )
    }
}
