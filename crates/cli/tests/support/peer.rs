//! `iotax peer`, started by hand.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

/// Listens at an address of this machine until it is dropped.
pub(crate) struct Peer {
    pub process: Child,
    pub address: SocketAddr,
    /// What whoever comes must know.
    pub token: String,
}

impl Peer {
    /// With a token of its own.
    pub(crate) fn start() -> Self {
        Self::listening(None)
    }

    /// With this token, which it is handed; it ends with its input.
    pub(crate) fn handed(token: &str) -> Self {
        Self::listening(Some(token))
    }

    fn listening(token: Option<&str>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_iotax"));
        command.args(["peer", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped());
        if token.is_some() {
            command.args(["--token-file", "-"]).stdin(Stdio::piped());
        }
        let mut process = command.spawn().unwrap();
        if let Some(token) = token {
            writeln!(process.stdin.as_mut().unwrap(), "{token}").unwrap();
        }
        let mut lines = BufReader::new(process.stdout.as_mut().unwrap()).lines();
        let mut word = |before: &str| {
            let line = lines.next().unwrap().unwrap();
            line.strip_prefix(before).unwrap().split(' ').next().unwrap().to_owned()
        };
        let address = word("listening at ").parse().unwrap();
        let token = token.map_or_else(|| word("token "), str::to_owned);
        Self { process, address, token }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
