use iotax_diagnose::why::network::{NetworkWhy, Tunnel};

pub(in super::super) fn why(why: &NetworkWhy, of: &str) -> String {
    match why {
        NetworkWhy::Encrypted { by, server, is_twice } => {
            let twice = if *is_twice { " sec=krb5p encrypts the same data, too." } else { "" };
            format!(
                "{} encrypts each packet to {server}, and one connection is mostly one core's \
                 work.{twice}",
                tunnel(*by)
            )
        }
        NetworkWhy::Mtu { server, mtu_bytes } => format!(
            "Packets to {server} carry at most {mtu_bytes} bytes: 1 MiB are {} of them, each with \
             its own cost.",
            (1_u32 << 20).div_ceil(*mtu_bytes)
        ),
        NetworkWhy::Egress { vm } => format!(
            "Writes to {of} count against the egress of {vm}, 1.16 times; regional disks 2.32 \
             times."
        ),
        NetworkWhy::Shared { vm } => {
            format!("{of} shares the network limit of {vm} with all else.")
        }
    }
}

pub(super) const fn tunnel(tunnel: Tunnel) -> &'static str {
    match tunnel {
        Tunnel::WireGuard => "WireGuard",
        Tunnel::MacSec => "MACsec",
        Tunnel::IpSec => "IPsec",
    }
}
