use iotax_diagnose::why::interface::{InterfaceWhy, Shaped};
use iotax_quantity::{bit_rate, grouped, percent, set_time, whole};

use super::{and_meanwhile, since_boot};

pub(in super::super) fn why(why: &InterfaceWhy, interface: &str) -> String {
    match why {
        InterfaceWhy::Offloads { mtu_bytes } => {
            let packets = mtu_bytes.map(|mtu| {
                format!(": 64 KiB of a stream are {} of them", (64_u32 << 10).div_ceil(mtu.max(1)))
            });
            format!(
                "Each packet of {interface} goes through the network stack on its own{}.",
                packets.unwrap_or_default()
            )
        }
        InterfaceWhy::Ring { lost, share, meanwhile } => format!(
            "{interface} did not take {} packets, {} of what it received, for want of room{}.",
            grouped(*lost),
            percent(*share),
            and_meanwhile(*meanwhile)
        ),
        InterfaceWhy::Shaper(Shaped { bits_per_s, data_bits_per_s, delay_ns, loss }) => {
            let held = bits_per_s.map(|rate| {
                let data = data_bits_per_s.map(|data| {
                    let data = bit_rate(data);
                    format!(", headers of frames included: {data} of TCP's data")
                });
                let data = data.unwrap_or_default();
                format!("holds packets to {} on the wire{data}", bit_rate(rate))
            });
            let delayed =
                delay_ns.map(|ns| format!("keeps each packet for {}", set_time(whole(ns))));
            let dropped = loss.map(|share| format!("drops {} of them", percent(share)));
            let does: Vec<String> = [held, delayed, dropped].into_iter().flatten().collect();
            format!("{interface} {}.", does.join(", and "))
        }
        InterfaceWhy::Queue { dropped, since } => format!(
            "The queue to {interface} threw {} packets away {}: more was to be sent than it took.",
            grouped(*dropped),
            since_boot(since)
        ),
        InterfaceWhy::Userspace { kernel_has } => {
            let could = match kernel_has {
                Some(true) => "The kernel here has its own.",
                Some(false) => "The kernel here has none of its own.",
                None => "Whether the kernel here has its own is not known.",
            };
            format!("A program encrypts each packet of {interface} outside of the kernel. {could}")
        }
        InterfaceWhy::OneQueue { cpus } => {
            format!("All that {interface} receives comes to one of {cpus} CPUs first.")
        }
    }
}
