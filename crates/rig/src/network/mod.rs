//! Network paths: what they run between, and the peer at their far end.
//!
//! A path is made like any stack, layer by layer, but what a layer gives to the one above is a
//! [`Link`]: at either end an interface with an address. What is made lives in namespaces without a
//! name, which vanish with the last process or descriptor in them; programs that outlive this one
//! are daemons of the journal.

mod base;
mod link;
mod namespace;
pub(crate) mod peer;

pub(crate) use base::{Base, NetworkBase};
pub(crate) use link::{End, Link};
pub(crate) use namespace::Namespace;

use iotax_spec::Stack;
use iotax_vdisk::Peer;

use crate::build_context::BuildContext;
use crate::error::Error;
use crate::layers;

/// A layer of a network path.
pub(crate) trait Network {
    /// Makes the layer on top of `below`, and says what it gives.
    fn make(&self, below: Link, build_context: &mut BuildContext<'_>) -> Result<Link, Error>;
}

/// A network path that is up.
#[derive(Debug)]
pub(crate) struct NetworkPath {
    pub(crate) peer: Peer,
    /// Holds the namespaces.
    _link: Option<Link>,
}

impl NetworkPath {
    /// Makes the layers of a stack.
    pub(crate) fn make(stack: &Stack, build_context: &mut BuildContext<'_>) -> Result<Self, Error> {
        let (bottom, above) = stack.layers.split_first().expect("a stack has a base");
        let base = layers::network_base(bottom).expect("a network path has a base of its own");
        match base.make(build_context)? {
            Base::Elsewhere(peer) => Ok(Self { peer, _link: None }),
            Base::Here { link, port, secret } => {
                let mut layers = above.iter().filter_map(layers::network);
                let link =
                    layers.try_fold(link, |below, layer| layer.make(below, build_context))?;
                Ok(Self { peer: link.peer(port, secret), _link: Some(link) })
            }
        }
    }
}
