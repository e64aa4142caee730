//! The loopback interface, which is there already.

use iotax_layers::Loopback;

use crate::build_context::BuildContext;
use crate::error::Error;
use crate::network::{Base, Link, NetworkBase, cpus};

impl NetworkBase for Loopback {
    fn make(&self, context: &mut BuildContext<'_>) -> Result<Base, Error> {
        let cpus = cpus::of_ends(self.cpus, context);
        Base::with_peer(Link::loopback(cpus), context)
    }
}
