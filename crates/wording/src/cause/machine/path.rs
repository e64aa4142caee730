use iotax_diagnose::why::path::PathWhy;
use iotax_diagnose::{Component, Detail};
use iotax_quantity::{bit_rate, bytes, time};

use super::super::names::names;
use super::network::tunnel;

pub(in super::super) fn why(why: &PathWhy, about: &[Component]) -> String {
    let name = names(about);
    let lower = || match about.first().and_then(|one| one.detail.as_ref()) {
        Some(Detail::Over(lower)) => lower.as_str(),
        _ => "",
    };
    match why {
        PathWhy::BlackHole { arrived_bytes, lost_bytes, to } => format!(
            "{arrived_bytes}-byte packets arrive at {to}, but {lost_bytes}-byte packets do not, \
             and nothing on the path reports the loss. Each full TCP segment is lost until TCP \
             gives up or tries smaller segments."
        ),
        PathWhy::Mtu { to, known_bytes, interface, own_bytes } => format!(
            "Packets to {to} can be at most {known_bytes} bytes long, but {interface} sends \
             packets of up to {own_bytes} bytes."
        ),
        PathWhy::TunnelTooLarge { excess_bytes } => format!(
            "A full packet on {name}, including its headers, is {excess_bytes} bytes too large for \
             {}, so it is fragmented or lost.",
            lower()
        ),
        PathWhy::TunnelSmall { spare_bytes } => format!(
            "Packets on {name} could be {spare_bytes} bytes larger and still fit into packets on \
             {}.",
            lower()
        ),
        PathWhy::Encrypted { by } => format!(
            "{} encrypts each packet on {name}, and usually one core handles a whole flow.",
            tunnel(*by)
        ),
        PathWhy::IpSec { to } => format!(
            "IPsec encrypts each packet to {to}, and usually one core handles a whole flow."
        ),
        PathWhy::Buffers { bytes: most, rtt_ns, is_assumed, bits_per_s } => format!(
            "A connection has at most {} in flight. With {} round-trip time of {}, this limits the \
             connection to {}.",
            bytes(*most as f64),
            if *is_assumed { "an assumed" } else { "a" },
            time(*rtt_ns as f64),
            bit_rate(*bits_per_s)
        ),
    }
}
