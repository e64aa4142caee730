//! The loopback interface, which is there already.

use iotax_layers::Loopback;

use crate::build_context::BuildContext;
use crate::error::Error;
use crate::layers::maker::{Made, Maker};
use crate::network::{Base, Link, NetworkBase, cpus};

impl Made for Loopback {
    fn maker(&self) -> Maker<'_> {
        Maker::NetworkBase(self)
    }
}

impl NetworkBase for Loopback {
    fn make(&self, build_context: &mut BuildContext<'_>) -> Result<Base, Error> {
        let cpus = cpus::of_ends(self.cpus, build_context);
        Base::with_peer(Link::loopback(cpus), build_context)
    }
}
