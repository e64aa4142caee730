//! A bridge at each end, whose port is the interface below.

use iotax_layers::Bridge;

use crate::build_context::BuildContext;
use crate::error::Error;
use crate::layers::maker::{Made, Maker};
use crate::network::{Link, Network};

impl Made for Bridge {
    fn maker(&self) -> Maker<'_> {
        Maker::Network(self)
    }
}

impl Network for Bridge {
    fn make(&self, below: Link, build_context: &mut BuildContext<'_>) -> Result<Link, Error> {
        let link = below.above("br");
        for ((end, _), (under, _)) in link.ends().into_iter().zip(below.ends()) {
            let (bridge, port) = (&end.interface, &under.interface);
            end.ip(&format!("link add {bridge} type bridge"), build_context)?;
            // A port has no address of its own.
            end.ip(&format!("address flush dev {port}"), build_context)?;
            end.ip(&format!("link set dev {port} master {bridge}"), build_context)?;
            end.bring_up(build_context)?;
        }
        Ok(link)
    }
}
