//! What a network path stands on.

use std::net::SocketAddr;

use iotax_load::{Peer, PeerSecret};

use super::link::Link;
use crate::build_context::{BuildContext, Key};
use crate::error::Error;
use crate::programs::Program;

/// What makes the bottom of a network path, or finds it.
pub(crate) trait NetworkBase {
    fn make(&self, context: &mut BuildContext<'_>) -> Result<Base, Error>;
}

/// The bottom of a network path, with its peer.
pub(crate) enum Base {
    /// Both ends are on this machine, and may get layers; where the peer listens, at each address of
    /// the far end.
    Here { link: Link, port: u16, secret: PeerSecret },
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
        let (port, secret) = start_peer(program, any, context)?;
        Ok(Self::Here { link, port, secret })
    }
}

/// What `iotax peer` says before the address, when it listens.
const LISTENS: &str = "listening at ";

/// Starts one at `any` address, by `iotax`, a program that lacks the words of the command; says at
/// which port it listens, and what it knows. It ends with this process, wherever it runs: when nobody
/// holds the other end of its standard input any more.
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
