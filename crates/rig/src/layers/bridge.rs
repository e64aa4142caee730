//! A bridge at each end, whose port is the interface below.

use iotax_layers::Bridge;

use crate::layers::maker::prelude::*;

impl Network for Bridge {
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error> {
        let link = below.above("br");
        for ((end, _), (under, _)) in link.ends().into_iter().zip(below.ends()) {
            let (bridge, port) = (&end.interface, &under.interface);
            end.ip(&format!("link add {bridge} type bridge"), context)?;
            // A port has no address of its own.
            end.ip(&format!("address flush dev {port}"), context)?;
            end.ip(&format!("link set dev {port} master {bridge}"), context)?;
            end.bring_up(context)?;
        }
        Ok(link)
    }
}
