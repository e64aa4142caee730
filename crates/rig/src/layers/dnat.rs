//! Destination NAT at the near end: what is sent to a service's address goes to the far end.

use iotax_layers::Dnat;

use std::net::Ipv4Addr;

use crate::layers::maker::prelude::*;

/// Of the range that is set aside for measurements of networks (RFC 2544); no end has it.
const SERVICE: Ipv4Addr = Ipv4Addr::new(198, 19, 0, 1);

impl Network for Dnat {
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error> {
        let (near, far) = (&below.near, &below.far.address);
        // Only to be let out: where it goes is decided anew when it has the other address.
        near.ip(&format!("route add {SERVICE} dev {}", near.interface), context)?;
        let rules = format!(
            "table ip iotax_dnat {{
                chain output {{
                    type nat hook output priority -100;
                    ip daddr {SERVICE} dnat to {far}
                }}
            }}"
        );
        near.nft(&rules, context)?;
        Ok(below.reached_at(SERVICE.into()))
    }
}
