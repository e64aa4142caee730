//! A different MTU at both ends.

use iotax_layers::Mtu;

use crate::layers::maker::prelude::*;

impl Network for Mtu {
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error> {
        for (end, _) in below.ends() {
            let words = format!("link set dev {} mtu {}", end.interface, self.bytes);
            end.ip(&words, context)?;
        }
        Ok(below)
    }
}
