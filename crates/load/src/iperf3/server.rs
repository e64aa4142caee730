//! A server of iperf3 at the far end, as the near end has it.

use std::io::{self, Read as _};

use crate::target::Peer;

use crate::error::Error;
use crate::peer::{Flow, Role, client};

/// Of what the far end says when it cannot.
const MOST_WORDS_BYTES: u64 = 400;

/// A server: it ends when this is dropped.
pub(super) struct Server {
    port: u16,
    /// The far end ends the server when this closes.
    _connection: Flow,
}

impl Server {
    /// Has the far end start one.
    pub(super) fn start(peer: &Peer) -> Result<Self, Error> {
        let (mut connection, _) = client::connect(peer, Role::Iperf3)?;
        let told = told(&mut connection);
        let port = told.map_err(Error::peer(peer))?;
        Ok(Self { port, _connection: connection })
    }

    /// Where it listens, at the peer's address.
    pub(super) fn port(&self) -> u16 {
        self.port
    }
}

/// A port; or 0, and why there is none.
fn told(connection: &mut Flow) -> io::Result<u16> {
    let mut port = [0; 2];
    connection.read_exact(&mut port)?;
    let port = u16::from_le_bytes(port);
    if port != 0 {
        return Ok(port);
    }
    let mut words = Vec::new();
    connection.take(MOST_WORDS_BYTES).read_to_end(&mut words)?;
    let words: String =
        String::from_utf8_lossy(&words).chars().filter(|c| !c.is_control()).collect();
    Err(io::Error::other(format!("at the far end: {words}")))
}
