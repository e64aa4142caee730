//! Offloads of the interfaces at both ends, switched by ethtool.

use iotax_layers::Offload;

use crate::layers::maker::prelude::*;

impl Network for Offload {
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error> {
        for (end, _) in below.ends() {
            for (name, on) in self.switches() {
                let Some(on) = on else { continue };
                // One at a time: given several, ethtool succeeds if it can change any of them.
                let word = if on { "on" } else { "off" };
                let ethtool = end.program("ethtool").args(["-K", &end.interface, name, word]);
                context.run(ethtool)?;
            }
        }
        Ok(below)
    }
}
