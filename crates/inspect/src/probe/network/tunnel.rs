//! Tunnels: where their packets go, and what they take of them.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use iotax_record::machine::{Interface, Unseen};

use super::super::programs::Programs;
use super::link::Link;
use super::way;

/// Where programs that are WireGuard listen for `wg`.
const SOCKETS: &str = "/var/run/wireguard";

/// The way of a tunnel's packets.
pub(super) struct Tunnel {
    /// Bytes of a packet below that are the tunnel's own.
    pub(super) overhead_bytes: u32,
    /// The interface that they leave through.
    pub(super) through: Option<String>,
}

/// What the tunnel is that an interface may be.
pub(super) fn tunnel_of(
    link: &Link,
    interface: &mut Interface,
    programs: &Programs<'_>,
    unseen: &mut Vec<Unseen>,
) -> Option<Tunnel> {
    let socket = Path::new(SOCKETS).join(format!("{}.sock", link.name()));
    // A program's WireGuard is a tun device to the kernel.
    let is_served = link.kind() == Some("tun") && socket.exists();
    if is_served {
        interface.served_by = Some(socket.display().to_string());
    }
    let remote = if is_served || link.kind() == Some("wireguard") {
        endpoint(link.name(), programs, unseen)
    } else {
        link.remote().and_then(|remote| remote.parse().ok())
    };
    let kind = if is_served { "wireguard" } else { link.kind()? };
    let overhead_bytes = overhead(kind, remote)?;
    let through = remote.and_then(|remote| way::interface(remote, programs));
    Some(Tunnel { overhead_bytes, through })
}

/// The first peer's address.
fn endpoint(name: &str, programs: &Programs<'_>, unseen: &mut Vec<Unseen>) -> Option<IpAddr> {
    let Some(told) = programs.output("wg", &["show", name, "endpoints"]) else {
        let what = format!("the far end of {name}, and through which interface it is reached");
        unseen.push(Unseen { what, how: format!("as root, with wireguard-tools: wg show {name}") });
        return None;
    };
    first_endpoint(&told)
}

/// `KEY<tab>10.0.0.2:51820`, or `(none)`.
fn first_endpoint(told: &str) -> Option<IpAddr> {
    let mut addresses = told.lines().filter_map(|line| line.split('\t').nth(1));
    addresses.find_map(|address| address.parse::<SocketAddr>().ok()).map(|found| found.ip())
}

/// Headers of the tunnel and of the packet that it is in: an IP header of 20 or 40 bytes, UDP's 8,
/// then WireGuard's 16 with a tag of 16, VXLAN's and Geneve's 8 with the inner Ethernet header of 14.
fn overhead(kind: &str, remote: Option<IpAddr>) -> Option<u32> {
    let ip = if remote.is_some_and(|remote| remote.is_ipv6()) { 40 } else { 20 };
    let own = match kind {
        "wireguard" => 8 + 16 + 16,
        "vxlan" | "geneve" => 8 + 8 + 14,
        "gre" => 4,
        "gretap" => 4 + 14,
        "ipip" | "sit" => 0,
        _ => return None,
    };
    Some(ip + own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_add_up_to_what_is_documented() {
        let of = |kind, remote: &str| overhead(kind, remote.parse().ok());
        assert_eq!((of("wireguard", "10.0.0.2"), of("wireguard", "fd00::2")), (Some(60), Some(80)));
        assert_eq!((of("vxlan", "10.0.0.2"), of("geneve", "")), (Some(50), Some(50)));
        assert_eq!((of("gre", ""), of("ipip", ""), of("veth", "")), (Some(24), Some(20), None));
    }

    #[test]
    fn the_first_peer_that_has_an_address_is_the_far_end() {
        let told = "AAAA=\t(none)\nBBBB=\t[fd00::2]:51820\nCCCC=\t10.0.0.2:51820\n";
        assert_eq!(first_endpoint(told), Some("fd00::2".parse().unwrap()));
        assert_eq!(first_endpoint("AAAA=\t(none)\nx\n"), None);
    }
}
