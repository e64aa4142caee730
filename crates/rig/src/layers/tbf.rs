//! The qdisc `tbf` at the interfaces of both ends.

use iotax_layers::Tbf;

use crate::layers::maker::prelude::*;

/// How long a packet may wait.
const LATENCY: &str = "50ms";

impl Network for Tbf {
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error> {
        let Rate { bits, burst_bytes } = Rate::of(self.rate_bits);
        let burst = self.burst_bytes.unwrap_or(burst_bytes);
        let (link, qdisc) = below.with_qdisc();
        for (end, _) in link.ends() {
            let (dev, place) = (&end.interface, qdisc.place());
            let words = format!(
                "qdisc add dev {dev} {place} tbf rate {bits}bit burst {burst}b latency {LATENCY}"
            );
            end.tc(&words, context)?;
        }
        Ok(link)
    }
}
