//! Network paths, and the peer at their far end.
//!
//! A path is made like any stack, layer by layer, but each layer passes a [`Link`] to the one
//! above: an interface with an address at each end. All this is in namespaces without a name, which
//! vanish with the last process or descriptor in them. Programs that outlive this process are
//! daemons in the journal.

pub(crate) mod cpus;
mod link;

use std::net::SocketAddr;

use iotax_load::{Peer, PeerSecret};

use crate::build_context::{BuildContext, Key};
use crate::error::Error;
use crate::programs::Program;
pub(crate) use link::{End, Link, Rate};

/// A layer of a network path.
pub(crate) trait Network {
    /// Makes the layer on top of `below`, and returns the new link.
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error>;
}

/// A layer that the load applies to its own connections.
pub(crate) trait OfLoad {
    /// The same peer, reached through the layer.
    fn over(&self, peer: Peer) -> Peer;
}

/// Makes or finds the base of a network path.
pub(crate) trait NetworkBase {
    fn make(&self, context: &mut BuildContext<'_>) -> Result<Base, Error>;
}

/// The base of a network path, with its peer.
pub(crate) enum Base {
    /// Both ends are on this machine and may get layers. The peer listens on `port` at each address
    /// of the far end.
    Here { link: Link, port: u16, secret: PeerSecret },
    /// The far end is on another machine.
    Elsewhere(Peer),
}

impl Base {
    /// Starts the peer at the far end of a link, at every address that layers give to that end
    /// later.
    pub(crate) fn with_peer(link: Link, context: &mut BuildContext<'_>) -> Result<Self, Error> {
        let program = context.surroundings.program.clone();
        let program = link.far.program(program);
        let any = match link.far.namespace {
            Some(_) => "0.0.0.0:0",
            // Not at addresses by which other machines reach this one.
            None => "127.0.0.1:0",
        };
        let (port, secret) = start_peer(program, any, context)?;
        Ok(Self::Here { link, port, secret })
    }
}

/// What `iotax peer` prints before its address when it listens.
const LISTENS: &str = "listening at ";

/// Starts a peer at `any` address with `iotax`, a program still without arguments. Returns its port
/// and its secret. Wherever it runs, the peer ends with this process, because its standard input
/// then ends.
pub(crate) fn start_peer(
    iotax: Program,
    any: &str,
    context: &mut BuildContext<'_>,
) -> Result<(u16, PeerSecret), Error> {
    let key = Key::new()?;
    let secret = PeerSecret(*key.bytes().first_chunk().expect("a key is longer"));
    let program = iotax.args(["peer", "--listen", any, "--token-file", "-"]);
    let program = program.held_input(format!("{}\n", *secret.text()).as_bytes());
    let address = context.serve_until_said(program, |said| {
        let address = said.lines().find_map(|line| line.strip_prefix(LISTENS))?;
        address.split_whitespace().next()?.parse::<SocketAddr>().ok()
    })?;
    Ok((address.port(), secret))
}
