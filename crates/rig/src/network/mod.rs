//! Network paths: what they run between, and the peer at their far end.
//!
//! A path is made like any stack, layer by layer, but what a layer gives to the one above is a
//! [`Link`]: at either end an interface with an address. What is made lives in namespaces without a
//! name, which vanish with the last process or descriptor in them; programs that outlive this one
//! are daemons of the journal.

mod base;
pub(crate) mod cpus;
mod link;
pub(crate) mod qdisc;

pub(crate) use base::{Base, NetworkBase, start_peer};
pub(crate) use link::{End, Link};
pub(crate) use qdisc::Rate;

use iotax_load::Peer;

use crate::build_context::BuildContext;
use crate::error::Error;

/// A layer of a network path.
pub(crate) trait Network {
    /// Makes the layer on top of `below`, and says what it gives.
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error>;
}

/// A layer that is nothing but what load does on its connections.
pub(crate) trait OfLoad {
    /// The same peer, which load reaches through the layer.
    fn over(&self, peer: Peer) -> Peer;
}
