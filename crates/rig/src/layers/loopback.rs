//! The loopback interface, which is there already.

use iotax_spec::layers::Loopback;

use crate::build_context::BuildContext;
use crate::error::Error;
use crate::layers::maker::{Made, Maker};
use crate::network::{Link, Network};

impl Made for Loopback {
    fn maker(&self) -> Maker<'_> {
        Maker::Network(self)
    }
}

impl Network for Loopback {
    fn make(&self, _: Link, build_context: &mut BuildContext<'_>) -> Result<Link, Error> {
        build_context.note("both ends are on this machine and share its CPUs");
        Ok(Link::loopback())
    }
}
