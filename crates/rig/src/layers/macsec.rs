//! MACsec by the kernel, with one key per direction that both ends share.

use iotax_layers::Macsec;

use zeroize::Zeroizing;

use crate::layers::maker::prelude::*;

impl Network for Macsec {
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error> {
        let link = below.above("macsec");
        for ((end, _), (under, _)) in link.ends().into_iter().zip(below.ends()) {
            let (name, under) = (&end.interface, &under.interface);
            end.ip(&format!("link add link {under} {name} type macsec encrypt on"), context)?;
        }
        // AES-128.
        let keys = [Key::new()?.hexadecimal(16), Key::new()?.hexadecimal(16)];
        for (at, (end, other)) in link.ends().into_iter().enumerate() {
            let (name, peer) = (&end.interface, other.ethernet_address(context)?);
            let (send, receive) = (&*keys[at], &*keys[1 - at]);
            let (own_id, peer_id) = (at + 1, 2 - at);
            let lines = Zeroizing::new(format!(
                "macsec add {name} tx sa 0 pn 1 on key 0{own_id} {send}\n\
                 macsec add {name} rx port 1 address {peer}\n\
                 macsec add {name} rx port 1 address {peer} sa 0 pn 1 on key 0{peer_id} {receive}\n"
            ));
            end.ip_lines(&lines, context)?;
            end.bring_up(context)?;
        }
        Ok(link)
    }
}
