//! The load on a network path in one sentence.

use iotax_analyze::{ArmSummary, NetworkLoad, NetworkSummary, latency_at};
use iotax_quantity::percent;

use crate::{format, units};

/// `16.5 Gbit/s, 484 us of CPU time per MiB, summed over both ends, 0 retransmits`.
pub(super) fn sentence(arm: &ArmSummary, network: &NetworkSummary) -> String {
    let cpu = format::time(network.cpu_ns);
    let rate = format::bit_rate(network.bits_per_s);
    match network.load {
        NetworkLoad::Stream => {
            let each = network.each_way.map(|ways| ways.map(format::bit_rate));
            let each = each.map_or_else(String::new, |[to, from]| {
                format!(" in both directions combined ({to} to the peer, {from} from the peer)")
            });
            let copied = network.copied.map_or("", copied);
            format!("{rate}{each}, {cpu} of CPU time per MiB, summed over both ends{copied}")
        }
        NetworkLoad::RoundTrips => {
            let (mean, p99) = (format::time(arm.mean_latency_ns), p99(arm));
            format!("a round trip takes {mean}{p99}")
        }
        NetworkLoad::Connections => {
            let (mean, p99) = (format::time(arm.mean_latency_ns), p99(arm));
            let rate = units::rate(arm);
            format!("{rate}, each answered after {mean} on average{p99}")
        }
        NetworkLoad::Datagrams => {
            let lost = network.lost.map_or_else(String::new, |lost| {
                format!(", {} of the datagrams lost", percent(lost))
            });
            let jitter = network.jitter_ns.map(|ns| format!(", jitter {}", format::time(ns)));
            format!("{rate} received{lost}{}", jitter.unwrap_or_default())
        }
    }
}

/// Whether the kernel copied data in spite of zero-copy sends, as it does over loopback and on an
/// interface without scatter-gather.
fn copied(share: f64) -> &'static str {
    match share {
        0.0 => ", sent zero-copy",
        1.0 => ", zero-copy requested, but the kernel copied all data",
        _ => ", zero-copy requested, but the kernel copied part of the data",
    }
}

fn p99(arm: &ArmSummary) -> String {
    let p99 = latency_at(&arm.latency, 0.99);
    p99.map_or_else(String::new, |p99| format!(", p99 {}", format::time(p99 as f64)))
}
