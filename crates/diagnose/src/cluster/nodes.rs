//! Nodes: whether they are well, and how many volumes they take.

use iotax_record::cluster::{ClusterSeen, NodeSeen};

use super::found::{Found, Of};
use crate::machine::{Certainty, Finding, Observation};

fn of_node(cause: &str, node: &NodeSeen, certainty: Certainty, why: String) -> Finding {
    Finding::new(cause, format!("node {}", node.name), certainty, why)
}

fn field(node: &NodeSeen, name: &str, value: impl Into<String>) -> Observation {
    Observation::field(format!("node {}", node.name), name, value)
}

/// A comparison of a node with another one, if there is one.
fn against(seen: &ClusterSeen, node: &NodeSeen) -> Option<String> {
    let other = seen
        .nodes
        .iter()
        .find(|other| other.name != node.name && other.troubles.is_empty() && !other.is_cordoned)?;
    let [this, other] = [&node.name, &other.name];
    Some(format!("iotax kube compare -w randread-4k this=emptydir@{this} other=emptydir@{other}"))
}

/// Nodes under pressure, silent, or cordoned.
pub(super) fn conditions(seen: &ClusterSeen) -> Found {
    let mut found = Vec::new();
    for node in &seen.nodes {
        let of = || Of::Node(node.name.clone());
        if !node.troubles.is_empty() {
            let kinds: Vec<_> = node.troubles.iter().map(|one| one.kind.as_str()).collect();
            let why = format!(
                "{} says {}: what runs there competes with what the kubelet does about it, and may be \
                 ended.",
                node.name,
                iotax_quantity::list(&kinds)
            );
            let mut finding = of_node("node-in-trouble", node, Certainty::Snapshot, why);
            finding.seen.extend(
                node.troubles.iter().map(|one| {
                    field(node, &format!("condition {}", one.kind), one.message.clone())
                }),
            );
            // Nothing new is put on a node that does not answer.
            let command = against(seen, node).filter(|_| node.is_ready == Some(true));
            finding.commands.extend(command);
            found.push((of(), finding));
        }
        if node.is_cordoned {
            let why = format!(
                "New pods are kept off {}: its pods go elsewhere when they end, and volumes that only it \
                 has stay behind.",
                node.name
            );
            let finding = of_node("node-cordoned", node, Certainty::Snapshot, why).observed(field(
                node,
                "unschedulable",
                "true",
            ));
            found.push((of(), finding));
        }
    }
    found
}

/// Nodes that take no more volumes of a driver.
pub(super) fn volumes(seen: &ClusterSeen) -> Found {
    let mut found = Vec::new();
    for node in &seen.nodes {
        for (driver, most) in &node.drivers {
            let Some(most) = most else { continue };
            let of_driver = |name: &&String| {
                seen.volume(name)
                    .map_or(name.ends_with(driver.as_str()), |volume| volume.source == *driver)
            };
            let count = node.attached.iter().filter(of_driver).count();
            if count < *most as usize {
                continue;
            }
            let why = format!(
                "{} has all the volumes of {driver} that it may have: the next pod that needs one goes \
                 elsewhere, or waits.",
                node.name
            );
            let finding = of_node("volumes-per-node", node, Certainty::Snapshot, why)
                .observed(Observation::field(
                    format!("csinode {}", node.name),
                    format!("{driver}, allocatable"),
                    most.to_string(),
                ))
                .observed(Observation::field("volumeattachments", "attached", count.to_string()));
            found.push((Of::Node(node.name.clone()), finding));
        }
    }
    found
}
