//! Geneve: the kernel's, point to point.

use iotax_layers::Geneve;

use crate::layers::maker::prelude::*;

/// The port of RFC 8926; each further layer in a stack uses another one.
const PORT: u16 = 6081;

impl Network for Geneve {
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error> {
        let link = below.above("geneve");
        let number = below.number();
        let port = PORT + u16::from(number);
        for ((end, _), (_, over)) in link.ends().into_iter().zip(below.ends()) {
            let (name, remote) = (&end.interface, over.address);
            let words =
                format!("link add {name} type geneve id {number} remote {remote} dstport {port}");
            end.ip(&words, context)?;
            end.bring_up(context)?;
        }
        Ok(link)
    }
}
