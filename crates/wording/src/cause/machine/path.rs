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
            "Packets of {arrived_bytes} bytes arrive at {to} and packets of {lost_bytes} do not, \
             and nobody on the way says so: TCP loses each full segment until it gives up or \
             guesses."
        ),
        PathWhy::Mtu { to, known_bytes, interface, own_bytes } => format!(
            "Packets to {to} may have {known_bytes} bytes, those of {interface} have up to \
             {own_bytes}."
        ),
        PathWhy::TunnelTooLarge { excess_bytes } => format!(
            "A full packet of {name} and its headers are {excess_bytes} bytes more than {} \
             carries: it is fragmented, or lost.",
            lower()
        ),
        PathWhy::TunnelSmall { spare_bytes } => format!(
            "Packets of {name} could be {spare_bytes} bytes larger: {} carries that.",
            lower()
        ),
        PathWhy::Encrypted { by } => format!(
            "{} encrypts each packet of {name}, and one flow is mostly one core's work.",
            tunnel(*by)
        ),
        PathWhy::IpSec { to } => {
            format!("IPsec encrypts each packet to {to}, and one flow is mostly one core's work.")
        }
        PathWhy::Buffers { bytes: most, rtt_ns, is_assumed, bits_per_s } => format!(
            "A connection has at most {} on the way: in a round trip of {}{}, {}.",
            bytes(*most as f64),
            time(*rtt_ns as f64),
            if *is_assumed { ", which is an assumption" } else { "" },
            bit_rate(*bits_per_s)
        ),
    }
}
