//! Where a pod is: node, zone, cluster.

use iotax_record::{Placed, stable_id};
use k8s_openapi::api::core::v1::{Node, Pod};

use crate::connect::Cluster;
use crate::error::Call;

/// The label that says in which zone a node is.
pub(crate) const ZONE: &str = "topology.kubernetes.io/zone";

/// What a record says of it; `class` is that of its volume.
pub(crate) fn placed(cluster: &Cluster, pod: &Pod, class: Option<String>) -> Placed {
    Placed { class, ..on_node(cluster, node(pod), zone(cluster, pod)) }
}

/// What a record says of what is on a node.
pub(crate) fn on_node(cluster: &Cluster, node: Option<&str>, zone: Option<String>) -> Placed {
    let node = node.map(|node| stable_id("node", &[cluster.id(), node]));
    Placed { cluster: cluster.id().to_owned(), node, zone, class: None }
}

/// The node that a pod is on.
pub(crate) fn node(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref()
}

/// Zones are told by pods where the cluster writes them on them, by nodes to those who may look at nodes.
pub(crate) fn zone(cluster: &Cluster, pod: &Pod) -> Option<String> {
    let of_pod = pod.metadata.labels.as_ref().and_then(|labels| labels.get(ZONE));
    of_pod.cloned().or_else(|| {
        let nodes = cluster.api_of_all::<Node>();
        let found = cluster.ask(Call::new("get", "nodes"), nodes.get(node(pod)?)).ok()?;
        found.metadata.labels?.remove(ZONE)
    })
}
