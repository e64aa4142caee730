//! Nodes: whether they are well, and how many volumes they take.

use iotax_record::cluster::{ClusterSeen, NodeSeen, Trouble};

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
pub(super) fn conditions(seen: &ClusterSeen) -> Vec<Finding> {
    seen.nodes.iter().flat_map(|node| [in_trouble(seen, node), cordoned(node)]).flatten().collect()
}

fn in_trouble(seen: &ClusterSeen, node: &NodeSeen) -> Option<Finding> {
    let conditions = node.troubles.iter().map(|one| one.kind.clone()).collect();
    let condition = |one: &Trouble| field(node, Field::Condition(one.kind.clone()), &one.message);
    let mut finding = of_node("node-in-trouble", node, ClusterWhy::Trouble { conditions })
        .observed_all(node.troubles.iter().map(condition));
    // Nothing new is put on a node that does not answer.
    finding.commands.extend(against(seen, node).filter(|_| node.is_ready == Some(true)));
    finding.when(!node.troubles.is_empty())
}

fn cordoned(node: &NodeSeen) -> Option<Finding> {
    of_node("node-cordoned", node, ClusterWhy::Cordoned)
        .observed(field(node, "unschedulable", "true"))
        .when(node.is_cordoned)
}

/// Nodes that take no more volumes of a driver.
pub(super) fn volumes(seen: &ClusterSeen) -> Vec<Finding> {
    let of_node = |node| full_drivers(seen, node);
    seen.nodes.iter().flat_map(of_node).collect()
}

fn full_drivers(seen: &ClusterSeen, node: &NodeSeen) -> Vec<Finding> {
    let finding = |(driver, most): (&String, &Option<u32>)| {
        let most = (*most)?;
        let of_driver = |name: &&String| {
            let volume = seen.volume(name);
            volume.map_or(name.ends_with(driver.as_str()), |volume| volume.source == *driver)
        };
        let count = node.attached.iter().filter(of_driver).count() as u64;
        let allocatable = Field::Allocatable(driver.clone());
        of_node("volumes-per-node", node, ClusterWhy::FullOfVolumes { driver: driver.clone() })
            .observed(Observation::object("csinode", &node.name, allocatable, most))
            .observed(Observation::field("volumeattachments", "attached", count))
            .when(count >= u64::from(most))
    };
    node.drivers.iter().filter_map(finding).collect()
}
