use iotax_diagnose::why::network::{NetworkWhy, Tunnel};

pub(in super::super) fn why(why: &NetworkWhy, of: &str) -> String {
    match why {
        NetworkWhy::Encrypted { by, server, is_twice } => {
            let twice = if *is_twice { " sec=krb5p also encrypts the same data." } else { "" };
            format!(
                "{} encrypts each packet to {server}, and usually one core handles a whole \
                 connection.{twice}",
                tunnel(*by)
            )
        }
        NetworkWhy::Mtu { server, mtu_bytes } => format!(
            "Packets to {server} carry at most {mtu_bytes} bytes, so 1 MiB takes {} packets, each \
             with its own overhead.",
            (1_u32 << 20).div_ceil(*mtu_bytes)
        ),
        NetworkWhy::Egress { vm } => format!(
            "Each byte written to {of} counts as 1.16 bytes against the egress limit of {vm} \
             (regional disks: 2.32 bytes)."
        ),
        NetworkWhy::Shared { vm } => {
            format!("{of} shares the network limit of {vm} with all other traffic.")
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
