//! The far end of a network path.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// An iotax that listens at the other end of a network path: `iotax peer`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// Where it listens, as seen from the near end.
    pub address: SocketAddr,
    /// The network namespace that the near end is in, as a file; `None` for that of this process.
    pub namespace: Option<PathBuf>,
    /// What both ends know, and prove to each other that they do.
    pub secret: PeerSecret,
}

/// Random bytes that only the two ends of a network path know. They are never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct PeerSecret(pub [u8; PeerSecret::BYTES]);

impl PeerSecret {
    /// How long it is.
    pub const BYTES: usize = 32;
}

impl fmt::Debug for PeerSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PeerSecret")
    }
}

/// What people call it.
impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tcp://{}", self.address)
    }
}
