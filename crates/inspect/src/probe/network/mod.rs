//! Network paths: the path to a peer, and the layers of an interface down to the card. Sends
//! nothing.
//!
//! All of this is read from the kernel by netlink, through programs. sysfs shows the network
//! namespace in which it was mounted, which can differ from that of this process.
//!
//! | module | reads |
//! |---|---|
//! | `link` | `ip link`: interfaces, the interfaces below them, their counters |
//! | `qdisc` | `tc`: queueing disciplines, and their limits |
//! | `card` | `ethtool`, and sysfs where it shows the same interface |
//! | `kernel` | settings for all interfaces |

mod card;
mod kernel;
mod link;
mod qdisc;

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

use iotax_record::machine::{
    Interface, NetworkSeen, Node, PathKind, PathSeen, Route, SeenLayer, Softnet, Unseen,
};
use serde::Deserialize;

use self::link::{Link, Links};
use super::nfs::has_policy;
use super::programs::Programs;
use crate::deadline::within;

/// Time limit for all programs together.
pub(super) const LIMIT: Duration = Duration::from_secs(2);
/// Names of interfaces that Kubernetes plugins use for encryption, with the plugins.
pub(crate) const OF_PLUGINS: [(&str, &str); 4] = [
    ("cilium_wg0", "Cilium"),
    ("wireguard.cali", "Calico"),
    ("wg-v6.cali", "Calico"),
    ("flannel-wg", "Flannel"),
];

/// The part of the network to inspect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkSubject {
    /// The path to a peer: its host, and the user's name for it.
    Peer {
        /// `tcp://10.0.0.2:7474`
        name: String,
        /// A name or an address.
        host: String,
        /// Whether the host is one from ssh's configuration, where it can have another name.
        is_for_ssh: bool,
    },
    /// An interface, by its name.
    Interface(String),
}

/// A network that is read twice.
pub(super) struct Network<'a> {
    programs: Programs<'a>,
    softnet: Softnet,
    links: Links,
}

/// The result so far.
struct Draft<'a> {
    programs: &'a Programs<'a>,
    links: &'a Links,
    qdiscs: Option<qdisc::Qdiscs>,
    nodes: Vec<Node>,
    unseen: &'a mut Vec<Unseen>,
}

impl<'a> Network<'a> {
    /// Reads for the first time.
    pub(super) fn begin(programs: Programs<'a>, unseen: &mut Vec<Unseen>) -> Self {
        let links = link::links(&programs).unwrap_or_else(|| {
            unseen.push(Unseen::new("network interfaces", "needs iproute2: ip -d -s link"));
            Links::default()
        });
        Self { programs, softnet: kernel::softnet(), links }
    }

    /// Each subject as a path, and the layers below it, whose indices begin at `first`.
    pub(super) fn layers(
        &self,
        subjects: &[NetworkSubject],
        first: usize,
        unseen: &mut Vec<Unseen>,
    ) -> (Vec<PathSeen>, Vec<Node>) {
        let qdiscs = qdisc::qdiscs(&self.programs);
        if qdiscs.is_none() && !self.links.is_empty() {
            unseen.push(Unseen::new("queueing disciplines", "needs iproute2: tc -s qdisc"));
        }
        let (programs, links) = (&self.programs, &self.links);
        let mut draft = Draft { programs, links, qdiscs, nodes: Vec::new(), unseen };
        let paths = subjects.iter().map(|subject| draft.subject(subject)).collect();
        let mut nodes = draft.nodes;
        nodes.iter_mut().flat_map(|node| &mut node.below).for_each(|place| *place += first);
        let moved = |mut path: PathSeen| {
            path.top = path.top.map(|top| top + first);
            path
        };
        (Vec::into_iter(paths).map(moved).collect(), nodes)
    }

    /// Reads again, and fills in how much the counters grew.
    pub(super) fn end<'n>(
        self,
        is_watched: bool,
        interfaces: impl Iterator<Item = &'n mut Interface>,
    ) -> NetworkSeen {
        let again = if is_watched { link::links(&self.programs) } else { None };
        for interface in interfaces {
            let now = again.as_ref().and_then(|links| links.named(&interface.name));
            interface.while_watched = now.map(|now| now.counters().since(&interface.counters));
        }
        let encrypting = self.links.encrypting(&OF_PLUGINS);
        kernel::seen(self.softnet, is_watched, encrypting)
    }
}

impl Draft<'_> {
    fn subject(&mut self, subject: &NetworkSubject) -> PathSeen {
        match subject {
            NetworkSubject::Interface(name) => {
                let path = PathSeen {
                    path: name.clone(),
                    kind: Some(PathKind::Interface),
                    ..PathSeen::default()
                };
                let top = self.interface(name);
                let there = || self.links.names().collect::<Vec<_>>().join(", ");
                let problem =
                    || format!("no such interface; this network namespace has {}", there());
                PathSeen { top, problem: top.is_none().then(problem), ..path }
            }
            NetworkSubject::Peer { name, host, is_for_ssh } => {
                let path = PathSeen {
                    path: name.clone(),
                    kind: Some(PathKind::Peer),
                    ..PathSeen::default()
                };
                let found = address(host, *is_for_ssh, self.programs)
                    .and_then(|address| route(address, self.programs, self.unseen));
                match found {
                    Ok(Way { route, interface }) => {
                        let below = self.interface(&interface).into_iter().collect();
                        let layer = SeenLayer::Route(route);
                        self.nodes.push(Node { layer, below });
                        PathSeen { top: Some(self.nodes.len() - 1), ..path }
                    }
                    Err(problem) => PathSeen { problem: Some(problem), ..path },
                }
            }
        }
    }

    /// The index of an interface, once it and the layers below it are in the list.
    fn interface(&mut self, name: &str) -> Option<usize> {
        let is_it = |node: &Node| node.layer.interface().is_some_and(|seen| seen.name == name);
        if let Some(place) = self.nodes.iter().position(is_it) {
            return Some(place);
        }
        let link = self.links.named(name)?;
        let mut interface = link.interface();
        card::fill(&mut interface, &link.hardware(), self.programs, self.unseen);
        if let Some(qdiscs) = &self.qdiscs {
            interface.qdiscs = qdiscs.of(name, self.programs);
        }
        let mut lower = self.links.below(name);
        if let Some(tunnel) = tunnel_of(link, &mut interface, self.programs, self.unseen) {
            interface.overhead_bytes = Some(tunnel.overhead_bytes);
            lower.extend(tunnel.through);
        }
        // Its index exists before the layers below it are read, so a circle ends.
        let place = self.nodes.len();
        let layer = SeenLayer::Interface(interface);
        self.nodes.push(Node { layer, below: Vec::new() });
        lower.sort();
        lower.dedup();
        let lower = lower.iter().filter(|lower| *lower != name);
        let below: Vec<usize> = lower.filter_map(|lower| self.interface(lower)).collect();
        self.nodes[place].below = below;
        Some(place)
    }
}

// The path to a peer, as the kernel would route it: `ip -json route get` applies all tables and
// rules.

/// Time limit for resolving a name.
const RESOLVED: Duration = Duration::from_secs(1);

/// A route, and its outgoing interface.
struct Way {
    route: Route,
    interface: String,
}

#[derive(Debug, Deserialize)]
struct IpRoute {
    dev: String,
    gateway: Option<String>,
    prefsrc: Option<String>,
    #[serde(default)]
    metrics: Vec<Metrics>,
}

#[derive(Debug, Deserialize)]
struct Metrics {
    mtu: Option<u32>,
}

/// The first address of a host, or why there is none.
fn address(host: &str, is_for_ssh: bool, programs: &Programs<'_>) -> Result<IpAddr, String> {
    // Only ssh knows the real names of hosts in its configuration.
    let known = is_for_ssh.then(|| programs.output("ssh", &["-G", "--", host])).flatten();
    let known =
        known.as_deref().and_then(|told| told.lines().find_map(|l| l.strip_prefix("hostname ")));
    let name = known.unwrap_or(host).rsplit('@').next().unwrap_or_default();
    let name = name.trim_start_matches('[').trim_end_matches(']').to_owned();
    let asked = name.clone();
    let found = within(RESOLVED, move || {
        (asked.as_str(), 0).to_socket_addrs().map(|mut all| all.next().map(|one| one.ip()))
    });
    match found {
        Some(Ok(Some(address))) => Ok(address),
        Some(Ok(None)) => Err(format!("{name} has no address")),
        Some(Err(error)) => Err(format!("{name} has no address: {error}")),
        None => Err(format!("{name} did not resolve within a second; specify its address instead")),
    }
}

/// The route, or why there is none.
fn route(to: IpAddr, programs: &Programs<'_>, unseen: &mut Vec<Unseen>) -> Result<Way, String> {
    let destination = to.to_string();
    let Some(told) = programs.output("ip", &["-j", "route", "get", &destination]) else {
        return Err(format!("no route to {destination}; check `ip route get {destination}`"));
    };
    let Some(IpRoute { dev, gateway, prefsrc, metrics }) = parse(&told) else {
        return Err(format!("`ip route get {destination}` gave unexpected output"));
    };
    let route = Route {
        ipsec: has_policy(to, &destination, programs, unseen),
        destination,
        gateway,
        source: prefsrc,
        mtu_bytes: metrics.iter().find_map(|metrics| metrics.mtu),
        probe: None,
    };
    Ok(Way { route, interface: dev })
}

/// The interface through which an address is reached.
fn interface_towards(to: IpAddr, programs: &Programs<'_>) -> Option<String> {
    let told = programs.output("ip", &["-j", "route", "get", &to.to_string()])?;
    Some(parse(&told)?.dev)
}

fn parse(told: &str) -> Option<IpRoute> {
    let mut routes: Vec<IpRoute> = serde_json::from_str(told).ok()?;
    (!routes.is_empty()).then(|| routes.swap_remove(0))
}

// Tunnels: where their packets go, and how much of each packet their headers take.

/// Sockets of user-space WireGuard programs, for `wg`.
const SOCKETS: &str = "/var/run/wireguard";

/// The path of a tunnel's packets.
struct Tunnel {
    /// Bytes of a packet of the lower interface that the tunnel's headers take.
    overhead_bytes: u32,
    /// The interface through which they leave.
    through: Option<String>,
}

/// The tunnel of an interface, if it is one.
fn tunnel_of(
    link: &Link,
    interface: &mut Interface,
    programs: &Programs<'_>,
    unseen: &mut Vec<Unseen>,
) -> Option<Tunnel> {
    let socket = Path::new(SOCKETS).join(format!("{}.sock", link.name()));
    // To the kernel, the WireGuard of a program is a tun device.
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
    let through = remote.and_then(|remote| interface_towards(remote, programs));
    Some(Tunnel { overhead_bytes, through })
}

/// The first peer's address.
fn endpoint(name: &str, programs: &Programs<'_>, unseen: &mut Vec<Unseen>) -> Option<IpAddr> {
    let Some(told) = programs.output("wg", &["show", name, "endpoints"]) else {
        let what = format!("the far end of {name}, and the interface to the far end");
        unseen
            .push(Unseen { what, how: format!("needs root and wireguard-tools: wg show {name}") });
        return None;
    };
    first_endpoint(&told)
}

/// `KEY<tab>10.0.0.2:51820`, or `(none)`.
fn first_endpoint(told: &str) -> Option<IpAddr> {
    let mut addresses = told.lines().filter_map(|line| line.split('\t').nth(1));
    addresses.find_map(|address| address.parse::<SocketAddr>().ok()).map(|found| found.ip())
}

/// Headers of the tunnel and its outer packet: an IP header of 20 or 40 bytes and UDP's 8.
/// WireGuard adds 16 and a tag of 16; VXLAN and Geneve add 8 and the inner Ethernet header of 14.
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
    use crate::probe::scripts::{PATIENT, with};

    #[test]
    fn a_route_tells_its_interface_gateway_and_mtu() {
        let told = r#"[{"dst":"10.9.1.1","gateway":"10.0.0.9","dev":"eth0","prefsrc":"10.0.0.1",
            "flags":[],"uid":0,"cache":[],"metrics":[{"mtu":1300}]}]"#;
        let script = format!("case $1 in -j) echo '{told}';; *) exit 2;; esac");
        let directory = with("ip", &script);
        let directories = [directory.path().to_owned()];
        let programs = Programs::new(&directories, PATIENT);
        let mut unseen = Vec::new();
        let Ok(Way { route, interface }) =
            route("10.9.1.1".parse().unwrap(), &programs, &mut unseen)
        else {
            panic!("no route")
        };
        assert_eq!((interface.as_str(), route.mtu_bytes), ("eth0", Some(1300)));
        assert_eq!(route.gateway.as_deref(), Some("10.0.0.9"));
        assert_eq!((route.ipsec, unseen.len()), (None, 1));
    }

    #[test]
    fn addresses_are_their_own_and_what_has_none_says_so() {
        let programs = Programs::new(&[], PATIENT);
        let of = |host| address(host, false, &programs);
        assert_eq!(of("192.0.2.7"), Ok("192.0.2.7".parse().unwrap()));
        assert_eq!(of("[fd00::2]"), Ok("fd00::2".parse().unwrap()));
        assert!(of("no such host").is_err());
        assert!(parse("[]").is_none() && parse("{").is_none());
    }

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
