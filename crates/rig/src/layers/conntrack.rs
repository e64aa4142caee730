//! Rules of nftables at both ends that check the connection state.

use iotax_layers::Conntrack;

use crate::layers::maker::prelude::*;

impl Network for Conntrack {
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error> {
        for (end, _) in below.ends() {
            let interface = &end.interface;
            // Another such layer on the same interface adds its rules to these. No rule is final
            // for an accepted packet, so every rule costs time.
            let rules = format!(
                "table ip iotax_conntrack {{
                    chain input {{
                        type filter hook input priority filter;
                        iifname \"{interface}\" ct state invalid drop
                    }}
                    chain output {{
                        type filter hook output priority filter;
                        oifname \"{interface}\" ct state invalid drop
                    }}
                }}"
            );
            end.nft(&rules, context)?;
        }
        Ok(below)
    }
}
