//! Network paths: the way to a peer, and what an interface stands on, down to the card. Nothing is sent.
//!
//! All of it is asked of the kernel by netlink, through programs: what sysfs shows is the network
//! namespace that it was mounted in, which need not be that of this process.
//!
//! | module | reads |
//! |---|---|
//! | `link` | `ip link`: interfaces, what they stand on, what they count |
//! | `way` | `ip route get`, and the address of a peer |
//! | `tunnel` | the far ends of tunnels |
//! | `qdisc` | `tc`: queueing disciplines, and what of them limits |
//! | `card` | `ethtool`, and sysfs where it shows the same interface |
//! | `kernel` | what holds for all interfaces |

mod card;
mod kernel;
mod link;
mod qdisc;
mod tunnel;
mod way;

use std::time::Duration;

use iotax_record::machine::{
    Interface, NetworkSeen, Node, PathKind, PathSeen, SeenLayer, Softnet, Unseen,
};

use self::link::Links;
use super::programs::Programs;

/// How long the programs may take together.
pub(super) const LIMIT: Duration = Duration::from_secs(2);
/// Names of interfaces by which plugins of Kubernetes encrypt, and whose they are.
pub(crate) const OF_PLUGINS: [(&str, &str); 4] = [
    ("cilium_wg0", "Cilium"),
    ("wireguard.cali", "Calico"),
    ("wg-v6.cali", "Calico"),
    ("flannel-wg", "Flannel"),
];

/// What of the network is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkSubject {
    /// The way to a peer: its host, and what the user calls it.
    Peer {
        /// `tcp://10.0.0.2:7474`
        name: String,
        /// A name or an address.
        host: String,
        /// Whether the host is one that ssh knows, perhaps by another name.
        is_for_ssh: bool,
    },
    /// An interface, by its name.
    Interface(String),
}

/// A network that is looked at twice.
pub(super) struct Network<'a> {
    programs: Programs<'a>,
    softnet: Softnet,
    links: Links,
}

/// What is being put together.
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
            unseen.push(Unseen::new("network interfaces", "with iproute2: ip -d -s link"));
            Links::default()
        });
        Self { programs, softnet: kernel::softnet(), links }
    }

    /// Each subject as a path, and the layers below it, whose places begin at `first`.
    pub(super) fn layers(
        &self,
        subjects: &[NetworkSubject],
        first: usize,
        unseen: &mut Vec<Unseen>,
    ) -> (Vec<PathSeen>, Vec<Node>) {
        let qdiscs = qdisc::qdiscs(&self.programs);
        if qdiscs.is_none() && !self.links.is_empty() {
            unseen.push(Unseen::new("queueing disciplines", "with iproute2: tc -s qdisc"));
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

    /// Reads again, and fills in how far the counters have come.
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
                let problem = || format!("no such interface here: there are {}", there());
                PathSeen { top, problem: top.is_none().then(problem), ..path }
            }
            NetworkSubject::Peer { name, host, is_for_ssh } => {
                let path = PathSeen {
                    path: name.clone(),
                    kind: Some(PathKind::Peer),
                    ..PathSeen::default()
                };
                let found = way::address(host, *is_for_ssh, self.programs)
                    .and_then(|address| way::route(address, self.programs, self.unseen));
                match found {
                    Ok(way::Way { route, interface }) => {
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

    /// The place of an interface, once it and what it stands on are among the layers.
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
        if let Some(tunnel) = tunnel::tunnel_of(link, &mut interface, self.programs, self.unseen) {
            interface.overhead_bytes = Some(tunnel.overhead_bytes);
            lower.extend(tunnel.through);
        }
        // It has its place before what lies below it, so that a circle ends.
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
