//! The peer at the far end of a path: `iotax peer`, as a daemon of the arm.

use std::net::SocketAddr;

use iotax_load::PeerSecret;

use crate::build_context::BuildContext;
use crate::error::Error;
use crate::programs::Program;

/// What `iotax peer` says before the address, when it listens.
const LISTENS: &str = "listening at ";

/// Starts one at `any` address, by `iotax`, a program that lacks the words of the command; says at
/// which port it listens, and what it knows. It ends with this process, wherever it runs: when nobody
/// holds the other end of its standard input any more.
pub(crate) fn start(
    iotax: Program,
    any: &str,
    context: &mut BuildContext<'_>,
) -> Result<(u16, PeerSecret), Error> {
    let key = context.new_key()?;
    let secret = PeerSecret(*key.bytes().first_chunk().expect("a key is longer"));
    let program = iotax.args(["peer", "--listen", any, "--token-file", "-"]);
    let program = program.held_input(format!("{}\n", *secret.text()).as_bytes());
    let address = context.serve_until_said(program, |said| {
        let address = said.lines().find_map(|line| line.strip_prefix(LISTENS))?;
        address.split_whitespace().next()?.parse::<SocketAddr>().ok()
    })?;
    Ok((address.port(), secret))
}
