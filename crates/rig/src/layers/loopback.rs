//! The loopback interface, which is there already.

use iotax_layers::Loopback;

use crate::layers::maker::prelude::*;
use crate::network::cpus;

impl NetworkBase for Loopback {
    fn make(&self, context: &mut BuildContext<'_>) -> Result<Base, Error> {
        let cpus = cpus::of_ends(self.cpus, context);
        Base::with_peer(Link::loopback(cpus), context)
    }
}
