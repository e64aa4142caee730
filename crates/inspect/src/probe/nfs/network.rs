//! The way to a server: the interface that the kernel would send through, and whether `IPsec`
//! policies hold for it. Nothing is sent.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use iotax_record::machine::{NetworkPath, Unseen};

use super::super::programs::Programs;
use crate::block::number_in;

/// The way to `server`, as `ip route get` tells: it knows all tables and rules.
pub(super) fn path(
    server: IpAddr,
    programs: &Programs<'_>,
    unseen: &mut Vec<Unseen>,
) -> Option<NetworkPath> {
    let address = server.to_string();
    let told = programs.output("ip", &["-o", "route", "get", &address]);
    let Some(interface) = told.as_deref().and_then(interface) else {
        let what = format!("the network interface to the NFS server {address}");
        unseen.push(Unseen { what, how: format!("ip route get {address}") });
        return None;
    };
    let ipsec = has_policy(server, &format!("the NFS server {address}"), programs, unseen);
    let directory = Path::new("/sys/class/net").join(interface);
    let uevent = fs::read_to_string(directory.join("uevent")).unwrap_or_default();
    Some(NetworkPath {
        server: address,
        interface: interface.to_owned(),
        mtu_bytes: number_in(&directory.join("mtu")).and_then(|mtu| u32::try_from(mtu).ok()),
        kind: uevent.lines().find_map(|line| line.strip_prefix("DEVTYPE=")).map(str::to_owned),
        ipsec,
        listener: None,
    })
}

/// Whether IPsec encrypts the way to `server`, which people know by `name`.
pub(in crate::probe) fn has_policy(
    server: IpAddr,
    name: &str,
    programs: &Programs<'_>,
    unseen: &mut Vec<Unseen>,
) -> Option<bool> {
    let policies = programs.output("ip", &["xfrm", "policy"]);
    if policies.is_none() {
        let what = format!("whether IPsec encrypts the way to {name}");
        unseen.push(Unseen { what, how: "as root: ip xfrm policy".to_owned() });
    }
    policies.map(|policies| is_covered(&policies, server))
}

/// `10.0.0.9 via 192.0.2.1 dev eth0 src 192.0.2.2`
fn interface(route: &str) -> Option<&str> {
    let mut words = route.split_ascii_whitespace();
    words.find(|word| *word == "dev")?;
    // A name and not a way out of the directory of interfaces.
    words.next().filter(|name| !name.contains('/') && !name.starts_with('.'))
}

/// Whether one of the policies transforms what goes out to `server`:
///
/// ```text
/// src 10.1.0.0/16 dst 10.2.0.0/16
///         dir out priority 2883
///         tmpl src 10.1.0.1 dst 10.2.0.1
/// ```
fn is_covered(policies: &str, server: IpAddr) -> bool {
    let mut holds = false;
    let mut is_out = false;
    for line in policies.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words.as_slice() {
            ["src", _, "dst", to, ..] => {
                holds = is_within(server, to);
                is_out = false;
            }
            ["dir", direction, ..] => is_out = *direction == "out",
            // Without one, a policy lets traffic through as it is.
            ["tmpl", ..] if holds && is_out => return true,
            _ => {}
        }
    }
    false
}

/// Whether an address is in `10.2.0.0/16`, or is this address.
fn is_within(address: IpAddr, network: &str) -> bool {
    let (network, length) = match network.split_once('/') {
        Some((network, length)) => (network, length.parse::<u32>().ok()),
        None => (network, Some(128)),
    };
    let same = |a: u128, b: u128, bits: u32| {
        let ignored = bits - length.unwrap_or(bits).min(bits);
        // All 128 bits cannot be shifted out at once.
        a.checked_shr(ignored).unwrap_or(0) == b.checked_shr(ignored).unwrap_or(0)
    };
    match (address, network.parse()) {
        (IpAddr::V4(a), Ok(IpAddr::V4(b))) => {
            same(u128::from(a.to_bits()), u128::from(b.to_bits()), 32)
        }
        (IpAddr::V6(a), Ok(IpAddr::V6(b))) => same(a.to_bits(), b.to_bits(), 128),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::scripts::{PATIENT, with};
    use proptest::prelude::*;

    const POLICIES: &str = "\
src 10.2.0.0/16 dst 10.1.0.0/16
\tdir in priority 2883 ptype main
\ttmpl src 10.2.0.1 dst 10.1.0.1
\t\tproto esp reqid 1 mode tunnel
src 10.1.0.0/16 dst 10.2.0.0/16
\tdir out priority 2883 ptype main
\ttmpl src 10.1.0.1 dst 10.2.0.1
\t\tproto esp reqid 1 mode tunnel
src 0.0.0.0/0 dst 0.0.0.0/0
\tdir out priority 0 ptype main
src ::/0 dst fd00:2::/32
\tdir out priority 7
\ttmpl src :: dst ::
";

    #[test]
    fn a_policy_covers_its_networks_in_its_direction() {
        let is_covered = |address: &str| is_covered(POLICIES, address.parse().unwrap());
        assert!(is_covered("10.2.3.4"));
        assert!(!is_covered("10.1.3.4"), "only what comes in");
        assert!(!is_covered("192.0.2.1"), "let through as it is");
        assert!(is_covered("fd00:2::7"));
        assert!(!is_covered("fd01::7"));
    }

    #[test]
    fn networks_of_any_length_are_compared() {
        let is_within = |address: &str, network| is_within(address.parse().unwrap(), network);
        assert!(is_within("10.0.0.7", "10.0.0.7"));
        assert!(is_within("10.0.0.7", "0.0.0.0/0"));
        assert!(is_within("fd00::1", "::/0"));
        assert!(!is_within("10.0.0.7", "10.0.0.8/31"));
        assert!(!is_within("10.0.0.7", "::/0"));
    }

    #[test]
    fn the_way_to_this_machine_is_its_loopback() {
        let route = "local 127.0.0.1 dev lo src 127.0.0.1 uid 0 \\    cache <local>";
        let script = format!("case $1 in -o) echo '{route}';; *) exit 2;; esac");
        let directory = with("ip", &script);
        let mut unseen = Vec::new();
        let server = "127.0.0.1".parse().unwrap();
        let directories = [directory.path().to_owned()];
        let programs = Programs::new(&directories, PATIENT);
        let path = path(server, &programs, &mut unseen).unwrap();
        assert_eq!((path.interface.as_str(), path.kind, path.ipsec), ("lo", None, None));
        assert!(path.mtu_bytes.unwrap() >= 1280);
        assert_eq!(unseen[0].how, "as root: ip xfrm policy");
    }

    #[test]
    fn without_the_program_the_way_is_unseen() {
        let mut unseen = Vec::new();
        let server = "192.0.2.9".parse().unwrap();
        assert_eq!(path(server, &Programs::new(&[], PATIENT), &mut unseen), None);
        assert_eq!(unseen[0].how, "ip route get 192.0.2.9");
        assert_eq!(interface("x dev ../../etc"), None);
        assert_eq!(interface("unreachable"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parsers_panic(text in ".*", network in "[0-9a-f.:/]{0,20}") {
            let server = "10.2.3.4".parse().unwrap();
            interface(&text);
            is_covered(&text, server);
            is_within(server, &network);
            is_within("fd00::1".parse().unwrap(), &format!("::/{network}"));
        }
    }
}
