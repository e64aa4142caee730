//! A network path to an `iotax peer` on another machine: nothing is made.

use std::net::ToSocketAddrs;
use std::path::{Path, PathBuf};
use std::{env, io};

use iotax_layers::Peer;
use iotax_load::PeerSecrets;

use crate::layers::maker::prelude::*;
use crate::token::{Token, read_token};

/// Names the token file if the stack does not.
const TOKEN_FILE: &str = "IOTAX_TOKEN_FILE";

impl NetworkBase for Peer {
    fn make(&self, context: &mut BuildContext<'_>) -> Result<Base, Error> {
        let known = &context.surroundings.secrets;
        let (peer, warning) = known_peer(self, known)?;
        if let Some(warning) = warning {
            context.note(warning);
        }
        // If iotax started the peer itself, it knows the host.
        if !known.contains_key(&self.address) {
            let address = peer.address;
            context.note(format!("the far end is {address}; iotax does not examine that host"));
        }
        Ok(Base::Elsewhere(peer))
    }
}

/// Whether there is a token for it, valid or not.
pub fn has_token(peer: &Peer) -> bool {
    token_file(peer).is_some()
}

fn token_file(peer: &Peer) -> Option<PathBuf> {
    peer.token.clone().or_else(|| env::var_os(TOKEN_FILE).map(PathBuf::from))
}

/// A peer that was started elsewhere. Its token is known by its address, or comes from a file.
///
/// # Errors
/// If its address cannot be resolved, or there is no token.
pub fn peer_elsewhere(peer: &Peer, known: &PeerSecrets) -> Result<iotax_load::Peer, Error> {
    known_peer(peer, known).map(|(peer, _)| peer)
}

/// The same, with a warning about the token file.
fn known_peer(
    peer: &Peer,
    known: &PeerSecrets,
) -> Result<(iotax_load::Peer, Option<String>), Error> {
    let place = Path::new(&peer.address);
    let mut found =
        peer.address.to_socket_addrs().map_err(Error::cannot("resolve this address", place))?;
    let address = found.next().ok_or(io::ErrorKind::NotFound);
    let address = address.map_err(Error::cannot("resolve this address", place))?;
    if let Some(secret) = known.get(&peer.address) {
        return Ok((iotax_load::Peer::at(address, secret.clone()), None));
    }
    let Some(path) = token_file(peer) else {
        let why = "this requires the token that `iotax peer` printed: save it in a file, then add \
                   token=FILE to the target or set IOTAX_TOKEN_FILE=FILE";
        return Err(Error::cannot("use the peer", place)(io::Error::other(why)));
    };
    let Token { secret, warning } =
        read_token(&path).map_err(Error::cannot("read the token", &path))?;
    Ok((iotax_load::Peer::at(address, secret), warning))
}
