//! Another MTU at both ends.

use iotax_layers::Mtu;

use crate::build_context::BuildContext;
use crate::error::Error;
use crate::layers::maker::{Made, Maker};
use crate::network::{Link, Network};

impl Made for Mtu {
    fn maker(&self) -> Maker<'_> {
        Maker::Network(self)
    }
}

impl Network for Mtu {
    fn make(&self, below: Link, build_context: &mut BuildContext<'_>) -> Result<Link, Error> {
        for (end, _) in below.ends() {
            let words = format!("link set dev {} mtu {}", end.interface, self.bytes);
            end.ip(&words, build_context)?;
        }
        Ok(below)
    }
}
