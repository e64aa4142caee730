//! Nodes: whether they are well, and how many volumes they take.

use iotax_record::cluster::{ClusterSeen, NodeSeen};

use super::found::{Found, Of};
use super::why::ClusterWhy;
use crate::machine::{Certainty, Component, ComponentKind, Field, Finding, Observation};

fn of_node(cause: &'static str, node: &NodeSeen, why: ClusterWhy) -> Finding {
    let about = Component::new(ComponentKind::Node, node.name.as_str());
    Finding::new(cause, about, Certainty::Snapshot, why)
}

fn field(node: &NodeSeen, name: impl Into<Field>, value: &str) -> Observation {
    Observation::object("node", &node.name, name, value)
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
            let conditions = node.troubles.iter().map(|one| one.kind.clone()).collect();
            let mut finding = of_node("node-in-trouble", node, ClusterWhy::Trouble { conditions });
            finding.seen.extend(
                node.troubles
                    .iter()
                    .map(|one| field(node, Field::Condition(one.kind.clone()), &one.message)),
            );
            // Nothing new is put on a node that does not answer.
            let command = against(seen, node).filter(|_| node.is_ready == Some(true));
            finding.commands.extend(command);
            found.push((of(), finding));
        }
        if node.is_cordoned {
            let finding = of_node("node-cordoned", node, ClusterWhy::Cordoned).observed(field(
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
            let (name, allocatable) = (&*node.name, Field::Allocatable(driver.clone()));
            let why = ClusterWhy::FullOfVolumes { driver: driver.clone() };
            let finding = of_node("volumes-per-node", node, why)
                .observed(Observation::object("csinode", name, allocatable, most.to_string()))
                .observed(Observation::field("volumeattachments", "attached", count.to_string()));
            found.push((Of::Node(node.name.clone()), finding));
        }
    }
    found
}
