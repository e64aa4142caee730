//! A network path that is up: its layers made one on the other.

use iotax_experiment::Stack;
use iotax_load::Peer;

use crate::build_context::BuildContext;
use crate::error::Error;
use crate::layers;
use crate::network::{Base, Link};

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
        let (peer, link) = match base.make(build_context)? {
            Base::Elsewhere(peer) => (peer, None),
            Base::Here { link, port, secret } => {
                let mut layers = above.iter().filter_map(layers::network);
                let link =
                    layers.try_fold(link, |below, layer| layer.make(below, build_context))?;
                (link.peer(port, secret), Some(link))
            }
        };
        let of_load = above.iter().filter_map(layers::of_load);
        Ok(Self { peer: of_load.fold(peer, |peer, layer| layer.over(peer)), _link: link })
    }
}
