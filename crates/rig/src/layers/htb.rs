//! The qdisc `htb` with one class at the interfaces of both ends.

use iotax_layers::Htb;

use crate::layers::maker::prelude::*;

impl Network for Htb {
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error> {
        let Rate { bits, burst_bytes } = Rate::of(self.rate_bits);
        let (link, qdisc) = below.with_qdisc();
        let (handle, place) = (qdisc.handle(), qdisc.place());
        for (end, _) in link.ends() {
            let dev = &end.interface;
            end.tc(&format!("qdisc add dev {dev} {place} htb default 1"), context)?;
            // All tokens of the class may be used at once: the default of `tc` is so small that the
            // kernel's tick would determine the rate.
            end.tc(
                &format!(
                    "class add dev {dev} parent {handle}: classid {handle}:1 htb rate {bits}bit \
                     burst {burst_bytes}b cburst {burst_bytes}b"
                ),
                context,
            )?;
        }
        Ok(link)
    }
}
