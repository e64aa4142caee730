//! Destination NAT at the near end: packets to a service address go to the far end.

use iotax_layers::Dnat;

use std::net::Ipv4Addr;

use crate::layers::maker::prelude::*;

/// From the range reserved for network benchmarks (RFC 2544); neither end uses it.
const SERVICE: Ipv4Addr = Ipv4Addr::new(198, 19, 0, 1);

impl Network for Dnat {
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error> {
        let (near, far) = (&below.near, &below.far.address);
        // Only needed to leave the namespace: the packet is routed again after NAT rewrites its
        // address.
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
