//! The qdisc `netem`: loss and rate at the interfaces of both ends, delay at the near one's.

use iotax_layers::Netem;

use crate::layers::maker::prelude::*;

/// Limit of waiting packets if there is no rate: high enough that the delay alone loses none.
const LIMIT_OF_DELAYED: u32 = 1_000_000;

impl Network for Netem {
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error> {
        let (link, qdisc) = below.with_qdisc();
        let both = both_ways(self);
        for (end, words) in [(&link.near, delay(self) + &both), (&link.far, both)] {
            let (dev, place) = (&end.interface, qdisc.place());
            end.tc(&format!("qdisc add dev {dev} {place} netem{words}"), context)?;
        }
        Ok(link)
    }
}

fn delay(netem: &Netem) -> String {
    let Some(delay_ns) = netem.delay_ns else { return String::new() };
    // Not every version of `tc` has a unit for nanoseconds.
    let in_us = |ns: u64| format!(" {}.{:03}us", ns / 1000, ns % 1000);
    format!(" delay{}{}", in_us(delay_ns), netem.jitter_ns.map(in_us).unwrap_or_default())
}

fn both_ways(netem: &Netem) -> String {
    let loss = netem.loss.map(|share| format!(" loss {}%", share * 100.0));
    let rate = netem.rate_bits.map(|bits| format!(" rate {}bit", Rate::of(bits).bits));
    let limit = rate.is_none().then(|| format!(" limit {LIMIT_OF_DELAYED}"));
    [loss, rate, limit].into_iter().flatten().collect()
}
