use iotax_diagnose::why::interface::{InterfaceWhy, Shaped};
use iotax_quantity::{bit_rate, grouped, percent, set_time, whole};

use super::super::names::listed;
use super::{and_meanwhile, since_boot};

pub(in super::super) fn why(why: &InterfaceWhy, interface: &str) -> String {
    match why {
        InterfaceWhy::Offloads { mtu_bytes } => {
            let packets = mtu_bytes.map(|mtu| {
                format!(
                    ": 64 KiB of stream data takes {} packets",
                    (64_u32 << 10).div_ceil(mtu.max(1))
                )
            });
            format!(
                "Each packet on {interface} passes through the network stack individually{}.",
                packets.unwrap_or_default()
            )
        }
        InterfaceWhy::Ring { lost, share, meanwhile } => format!(
            "{interface} dropped {} packets ({} of the received packets), because its receive ring \
             was full{}.",
            grouped(*lost),
            percent(*share),
            and_meanwhile(*meanwhile)
        ),
        InterfaceWhy::Shaper(Shaped { bits_per_s, data_bits_per_s, delay_ns, loss }) => {
            let held = bits_per_s.map(|rate| {
                let data = data_bits_per_s.map(|data| {
                    let data = bit_rate(data);
                    format!(", including frame headers ({data} of TCP data)")
                });
                let data = data.unwrap_or_default();
                format!("limits traffic to {} on the wire{data}", bit_rate(rate))
            });
            let delayed =
                delay_ns.map(|ns| format!("delays each packet by {}", set_time(whole(ns))));
            let dropped = loss.map(|share| format!("drops {} of packets", percent(share)));
            let does: Vec<String> = [held, delayed, dropped].into_iter().flatten().collect();
            format!("{interface} {}.", listed(&does))
        }
        InterfaceWhy::Queue { dropped, since } => format!(
            "The send queue of {interface} dropped {} packets {}, because the queue was full.",
            grouped(*dropped),
            since_boot(since)
        ),
        InterfaceWhy::Userspace { kernel_has } => {
            let could = match kernel_has {
                Some(true) => "This kernel includes WireGuard.",
                Some(false) => "This kernel does not include WireGuard.",
                None => "iotax cannot see whether this kernel includes WireGuard.",
            };
            format!("A user-space program encrypts each packet on {interface}. {could}")
        }
        InterfaceWhy::OneQueue { cpus } => {
            format!(
                "All packets that {interface} receives are first processed by only one of {cpus} \
                 CPUs."
            )
        }
    }
}
