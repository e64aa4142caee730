//! What a network path stands on.

use iotax_load::{Peer, PeerSecret};

use super::link::Link;
use super::peer;
use crate::build_context::BuildContext;
use crate::error::Error;

/// What makes the bottom of a network path, or finds it.
pub(crate) trait NetworkBase {
    fn make(&self, context: &mut BuildContext<'_>) -> Result<Base, Error>;
}

/// The bottom of a network path, with its peer.
pub(crate) enum Base {
    /// Both ends are on this machine, and may get layers.
    Here {
        link: Link,
        /// Where the peer listens, at each address of the far end.
        port: u16,
        secret: PeerSecret,
    },
    /// The far end is another machine's.
    Elsewhere(Peer),
}

impl Base {
    /// Starts the peer at the far end of a link, at every address that layers give to that end later.
    pub(crate) fn with_peer(link: Link, context: &mut BuildContext<'_>) -> Result<Self, Error> {
        let program = context.surroundings.program.clone();
        let program = link.far.program(program);
        let any = match link.far.namespace {
            Some(_) => "0.0.0.0:0",
            // Not at those by which others reach this machine.
            None => "127.0.0.1:0",
        };
        let (port, secret) = peer::start(program, any, context)?;
        Ok(Self::Here { link, port, secret })
    }
}
