//! The peer at the far end of a path: `iotax peer`, as a daemon of the arm.

use std::net::SocketAddr;

use iotax_vdisk::{Peer, PeerSecret};

use super::link::Link;
use crate::build_context::BuildContext;
use crate::error::Error;

/// What `iotax peer` says before the address, when it listens.
const LISTENS: &str = "listening at ";

/// A peer that was started.
#[derive(Debug)]
pub(crate) struct Started {
    port: u16,
    secret: PeerSecret,
}

/// Starts one at the far end of a base, at every address that layers give to that end later.
pub(crate) fn start(base: &Link, build_context: &mut BuildContext<'_>) -> Result<Started, Error> {
    let secret = PeerSecret(*build_context.key.bytes().first_chunk().expect("a key is longer"));
    let program = build_context.surroundings.program.display().to_string();
    let any = match base.far.namespace {
        Some(_) => "0.0.0.0:0",
        // Not at those by which others reach this machine.
        None => "127.0.0.1:0",
    };
    let program = base.far.program(&program);
    let program = program.args(["peer", "--listen", any, "--token-file", "-"]);
    let program = program.input(secret.text().as_bytes());
    let address = build_context.serve_until_said(program, |said| {
        let address = said.lines().find_map(|line| line.strip_prefix(LISTENS))?;
        address.split_whitespace().next()?.parse::<SocketAddr>().ok()
    })?;
    Ok(Started { port: address.port(), secret })
}

impl Started {
    /// As it is seen from the near end of `link`.
    pub(crate) fn over(self, link: &Link) -> Peer {
        Peer {
            address: SocketAddr::new(link.destination(), self.port),
            namespace: link.near.namespace.as_ref().map(|near| near.path().to_owned()),
            secret: self.secret,
        }
    }
}
