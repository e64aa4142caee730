//! Facts about a path for people: where its ends are, and its addresses.

use std::collections::BTreeMap;

use iotax_run::agent::Reached;
use k8s_openapi::api::core::v1::Pod;

use super::layout::{NetPath, Role};
use crate::connect::Cluster;
use crate::host::{node, zone};

/// A node, and its zone if that is visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) zone: Option<String>,
}

/// The ends of a path.
#[derive(Debug)]
pub(super) struct Between<'a> {
    pub(super) path: NetPath,
    pub(super) near: &'a Node,
    pub(super) far: &'a Node,
    /// Name of the Service, if the path leads to one.
    pub(super) service: Option<&'a str>,
}

/// Facts about a path, one per line. `of_nodes`: those of the path from node to node.
pub(super) fn facts(
    between: &Between<'_>,
    reached: &Reached,
    of_nodes: Option<&Reached>,
) -> Vec<String> {
    let mut facts = vec![ends(between), addresses(reached)];
    if let Some(mtu) = reached.mtu_bytes {
        let nodes = of_nodes.and_then(|of_nodes| of_nodes.mtu_bytes);
        let is_node = between.path == NetPath::Node;
        let beside = match nodes.filter(|_| !is_node) {
            Some(nodes) if nodes == mtu => ", the same as from node to node".to_owned(),
            Some(nodes) => format!(", compared with {nodes} from node to node"),
            None => String::new(),
        };
        facts.push(format!("MTU at the near end: {mtu} bytes{beside}"));
    }
    if let Some(ns) = reached.resolved_ns {
        let took = iotax_quantity::time(ns as f64);
        facts.push(format!(
            "resolving the name took {took}; this happens once per turn, not for each connection"
        ));
    }
    if between.path == NetPath::Node {
        let node = &between.near.name;
        facts.push(match reached.encrypting.as_slice() {
            [] => format!(
                "node {node} has no WireGuard interface; IPsec would not appear as an interface"
            ),
            some => format!("node {node} has encrypting interfaces: {}", some.join(", ")),
        });
    }
    facts
}

fn ends(between: &Between<'_>) -> String {
    let Between { path, near, far, service } = between;
    let zones = match (&near.zone, &far.zone) {
        (Some(near), Some(far)) if near == far => format!(", both in zone {near}"),
        (Some(near), Some(far)) => format!(", zone {near} to zone {far}"),
        _ => String::new(),
    };
    let service = service.unwrap_or_default();
    let (near, far) = (&near.name, &far.name);
    let ends = match path {
        NetPath::Node => format!("node {near} to node {far}, on the host network"),
        NetPath::Pod => format!("pod on node {near} to pod on node {far}"),
        NetPath::SameNode => format!("pod to pod, both on node {near}"),
        NetPath::Service => {
            format!("pod on node {near} to Service {service}, whose pod is on node {far}")
        }
        NetPath::Dns => {
            format!(
                "pod on node {near} to Service {service}, reached by name; its pod is on node {far}"
            )
        }
    };
    format!("{ends}{zones}")
}

fn addresses(reached: &Reached) -> String {
    let Reached { near, near_seen, far, far_own, .. } = reached;
    let source = if near == near_seen {
        near.ip().to_string()
    } else if near.ip() == near_seen.ip() {
        format!("{} (with a translated port)", near.ip())
    } else {
        format!("{}, which the far end sees as {} (SNAT),", near.ip(), near_seen.ip())
    };
    if far == far_own {
        let untouched = if near == near_seen { ", without translation" } else { "" };
        format!("from {source} to {far}{untouched}")
    } else {
        format!("from {source} to {far}, translated to {far_own} (DNAT)")
    }
}

/// The nodes of a run's pods.
#[derive(Debug)]
pub(super) struct Nodes(BTreeMap<Role, Node>);

impl Nodes {
    pub(super) fn of<'a>(cluster: &Cluster, pods: impl Iterator<Item = (Role, &'a Pod)>) -> Self {
        let mut zones: BTreeMap<String, Option<String>> = BTreeMap::new();
        let of = |(role, pod): (Role, &Pod)| {
            let name = node(pod).unwrap_or_default().to_owned();
            let zone = zones.entry(name.clone()).or_insert_with(|| zone(cluster, pod));
            (role, Node { name, zone: zone.clone() })
        };
        Self(pods.map(of).collect())
    }

    pub(super) fn of_role(&self, role: Role) -> &Node {
        &self.0[&role]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(near: &str, near_seen: &str, far: &str, far_own: &str) -> Reached {
        Reached {
            near: near.parse().unwrap(),
            near_seen: near_seen.parse().unwrap(),
            far: far.parse().unwrap(),
            far_own: far_own.parse().unwrap(),
            mtu_bytes: Some(1450),
            resolved_ns: None,
            encrypting: Vec::new(),
        }
    }

    fn node(name: &str, zone: Option<&str>) -> Node {
        Node { name: name.to_owned(), zone: zone.map(str::to_owned) }
    }

    fn told(
        path: NetPath,
        zones: [Option<&str>; 2],
        seen: &Reached,
        nodes: Option<&Reached>,
    ) -> String {
        let (near, far) = (node("n1", zones[0]), node("n2", zones[1]));
        let service = path.is_through_service().then_some("10.96.0.7");
        facts(&Between { path, near: &near, far: &far, service }, seen, nodes).join("\n")
    }

    #[test]
    fn nodes_zones_and_what_the_nodes_have_are_told() {
        let mut seen = reached("10.0.0.1:40", "10.0.0.1:40", "10.0.0.2:41", "10.0.0.2:41");
        seen.mtu_bytes = Some(1500);
        seen.encrypting = vec!["cilium_wg0 (Cilium)".to_owned()];
        insta::assert_snapshot!(told(NetPath::Node, [Some("a"), Some("b")], &seen, Some(&seen)), @"
        node n1 to node n2, on the host network, zone a to zone b
        from 10.0.0.1 to 10.0.0.2:41, without translation
        MTU at the near end: 1500 bytes
        node n1 has encrypting interfaces: cilium_wg0 (Cilium)
        ");
        let pods = reached("10.244.1.2:40", "10.244.1.2:40", "10.244.2.3:7474", "10.244.2.3:7474");
        insta::assert_snapshot!(told(NetPath::Pod, [Some("a"); 2], &pods, Some(&seen)), @"
        pod on node n1 to pod on node n2, both in zone a
        from 10.244.1.2 to 10.244.2.3:7474, without translation
        MTU at the near end: 1450 bytes, compared with 1500 from node to node
        ");
        insta::assert_snapshot!(told(NetPath::SameNode, [None; 2], &pods, None), @"
        pod to pod, both on node n1
        from 10.244.1.2 to 10.244.2.3:7474, without translation
        MTU at the near end: 1450 bytes
        ");
    }

    #[test]
    fn what_is_translated_on_the_way_is_told() {
        let mut seen = reached("10.244.1.2:40", "10.0.0.1:99", "10.96.0.7:7474", "10.244.2.3:7474");
        insta::assert_snapshot!(told(NetPath::Service, [None; 2], &seen, None), @"
        pod on node n1 to Service 10.96.0.7, whose pod is on node n2
        from 10.244.1.2, which the far end sees as 10.0.0.1 (SNAT), to 10.96.0.7:7474, translated to 10.244.2.3:7474 (DNAT)
        MTU at the near end: 1450 bytes
        ");
        seen.near_seen = "10.244.1.2:41".parse().unwrap();
        seen.resolved_ns = Some(1_250_000);
        seen.mtu_bytes = None;
        insta::assert_snapshot!(told(NetPath::Dns, [None; 2], &seen, None), @"
        pod on node n1 to Service 10.96.0.7, reached by name; its pod is on node n2
        from 10.244.1.2 (with a translated port) to 10.96.0.7:7474, translated to 10.244.2.3:7474 (DNAT)
        resolving the name took 1.25 ms; this happens once per turn, not for each connection
        ");
    }
}
