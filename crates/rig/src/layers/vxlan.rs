//! VXLAN: the kernel's, point to point.

use iotax_layers::Vxlan;

use crate::layers::maker::prelude::*;

/// The port of RFC 7348; each further layer in a stack uses another one.
const PORT: u16 = 4789;

impl Network for Vxlan {
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error> {
        let link = below.above("vxlan");
        let number = below.number();
        let port = PORT + u16::from(number);
        for ((end, _), (under, over)) in link.ends().into_iter().zip(below.ends()) {
            let (name, dev) = (&end.interface, &under.interface);
            let (local, remote) = (under.address, over.address);
            end.ip(
                &format!(
                    "link add {name} type vxlan id {number} local {local} remote {remote} dev {dev} \
                     dstport {port}"
                ),
                context,
            )?;
            end.bring_up(context)?;
        }
        Ok(link)
    }
}
