//! Where pods are.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Node as KubeNode, Pod};

use super::facts::Node;
use super::layout::OF_ZONES;
use super::path::Role;
use crate::connect::Cluster;
use crate::error::Call;

/// The nodes of a run's pods.
#[derive(Debug)]
pub(super) struct Nodes(BTreeMap<Role, Node>);

impl Nodes {
    /// Zones are told by pods where the cluster writes them on them, by nodes to those who may look at
    /// nodes.
    pub(super) fn of<'a>(cluster: &Cluster, pods: impl Iterator<Item = (Role, &'a Pod)>) -> Self {
        let mut zones: BTreeMap<String, Option<String>> = BTreeMap::new();
        let of = |(role, pod): (Role, &Pod)| {
            let name = node(pod).unwrap_or_default();
            let zone = zones.entry(name.clone()).or_insert_with(|| {
                let of_pod = pod.metadata.labels.as_ref().and_then(|labels| labels.get(OF_ZONES));
                of_pod.cloned().or_else(|| zone(cluster, &name))
            });
            (role, Node { name, zone: zone.clone() })
        };
        Self(pods.map(of).collect())
    }

    pub(super) fn of_role(&self, role: Role) -> &Node {
        &self.0[&role]
    }
}

/// The node that a pod is on.
pub(super) fn node(pod: &Pod) -> Option<String> {
    pod.spec.as_ref()?.node_name.clone()
}

fn zone(cluster: &Cluster, node: &str) -> Option<String> {
    let nodes = cluster.api_of_all::<KubeNode>();
    let found = cluster.ask(Call::new("get", "nodes"), nodes.get(node)).ok()?;
    found.metadata.labels?.remove(OF_ZONES)
}
