//! MACsec: the kernel's, with a key for each direction that both ends are given.

use iotax_layers::Macsec;

use zeroize::Zeroizing;

use crate::build_context::BuildContext;
use crate::error::Error;
use crate::layers::maker::{Made, Maker};
use crate::network::{Link, Network};

impl Made for Macsec {
    fn maker(&self) -> Maker<'_> {
        Maker::Network(self)
    }
}

impl Network for Macsec {
    fn make(&self, below: Link, build_context: &mut BuildContext<'_>) -> Result<Link, Error> {
        let link = below.above("macsec");
        for ((end, _), (under, _)) in link.ends().into_iter().zip(below.ends()) {
            let (name, under) = (&end.interface, &under.interface);
            end.ip(&format!("link add link {under} {name} type macsec encrypt on"), build_context)?;
        }
        // AES-128.
        let keys =
            [build_context.new_key()?.hexadecimal(16), build_context.new_key()?.hexadecimal(16)];
        for (at, (end, other)) in link.ends().into_iter().enumerate() {
            let (name, peer) = (&end.interface, other.ethernet_address(build_context)?);
            let (send, receive) = (&*keys[at], &*keys[1 - at]);
            let (own_id, peer_id) = (at + 1, 2 - at);
            let lines = Zeroizing::new(format!(
                "macsec add {name} tx sa 0 pn 1 on key 0{own_id} {send}\n\
                 macsec add {name} rx port 1 address {peer}\n\
                 macsec add {name} rx port 1 address {peer} sa 0 pn 1 on key 0{peer_id} {receive}\n"
            ));
            end.ip_lines(&lines, build_context)?;
            end.bring_up(build_context)?;
        }
        Ok(link)
    }
}
