//! Nodes: what they are, how they are, what is attached to them.

use std::collections::BTreeMap;

use iotax_record::cluster::{NodeSeen, Trouble};
use k8s_openapi::api::core::v1::{Node, NodeCondition, Taint};

use super::objects::Objects;
use crate::placed::ZONE;

/// Names of labels; the older ones are on older clusters alone.
const TYPE: [&str; 2] = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];
const ZONES: [&str; 2] = [ZONE, "failure-domain.beta.kubernetes.io/zone"];
const REGION: [&str; 2] =
    ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"];
/// The condition that should hold; of all others it is a trouble if they do.
const READY: &str = "Ready";
/// What the cluster adds by itself, where a condition or a cordon says the same.
const OF_CONDITIONS: &str = "node.kubernetes.io/";

pub(super) fn nodes(objects: &Objects) -> Vec<NodeSeen> {
    objects.nodes.iter().map(|one| node(one, objects)).collect()
}

fn node(node: &Node, objects: &Objects) -> NodeSeen {
    let name = node.metadata.name.clone().unwrap_or_default();
    let label = |keys: [&str; 2]| {
        let labels = node.metadata.labels.as_ref()?;
        keys.iter().find_map(|key| labels.get(*key)).cloned()
    };
    let spec = node.spec.clone().unwrap_or_default();
    let status = node.status.clone().unwrap_or_default();
    let info = status.node_info;
    let told = |of: fn(&k8s_openapi::api::core::v1::NodeSystemInfo) -> &String| {
        info.as_ref().map(|info| of(info).clone()).unwrap_or_default()
    };
    let conditions = status.conditions.unwrap_or_default();
    NodeSeen {
        instance_type: label(TYPE),
        zone: label(ZONES),
        region: label(REGION),
        provider: spec.provider_id.clone(),
        kubelet: told(|info| &info.kubelet_version),
        runtime: told(|info| &info.container_runtime_version),
        kernel: told(|info| &info.kernel_version),
        is_ready: ready(&conditions),
        troubles: conditions.iter().filter(|one| is_trouble(one)).map(trouble).collect(),
        is_cordoned: spec.unschedulable.unwrap_or(false),
        taints: spec.taints.iter().flatten().filter(|one| is_own(one)).map(taint).collect(),
        drivers: drivers(&name, objects),
        attached: attached(&name, objects),
        name,
    }
}

fn ready(conditions: &[NodeCondition]) -> Option<bool> {
    let ready = conditions.iter().find(|one| one.type_ == READY)?;
    match ready.status.as_str() {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}

fn is_trouble(condition: &NodeCondition) -> bool {
    (condition.type_ == READY) != (condition.status == "True")
}

fn trouble(condition: &NodeCondition) -> Trouble {
    let kind = match (condition.type_.as_str(), condition.status.as_str()) {
        (READY, "False") => "NotReady".to_owned(),
        (READY, _) => "Silent".to_owned(),
        (other, _) => other.to_owned(),
    };
    let said = condition.message.clone().or_else(|| condition.reason.clone());
    Trouble { kind, message: said.unwrap_or_default() }
}

fn is_own(taint: &Taint) -> bool {
    !taint.key.starts_with(OF_CONDITIONS)
}

fn taint(taint: &Taint) -> String {
    let value = taint.value.as_deref().filter(|value| !value.is_empty());
    let value = value.map_or_else(String::new, |value| format!("={value}"));
    format!("{}{value}:{}", taint.key, taint.effect)
}

/// How many volumes of each driver there may be on a node.
fn drivers(node: &str, objects: &Objects) -> BTreeMap<String, Option<u32>> {
    let of_node = objects.csi_nodes.iter().filter(|one| one.metadata.name.as_deref() == Some(node));
    let drivers = of_node.flat_map(|one| &one.spec.drivers);
    drivers
        .map(|driver| {
            let count = driver.allocatable.as_ref().and_then(|allocatable| allocatable.count);
            (driver.name.clone(), count.and_then(|count| u32::try_from(count).ok()))
        })
        .collect()
}

/// Names of volumes; what has none by its driver.
fn attached(node: &str, objects: &Objects) -> Vec<String> {
    let of_node = objects.attachments.iter().filter(|one| {
        one.spec.node_name == node && one.status.as_ref().is_some_and(|status| status.attached)
    });
    let name = |source: &k8s_openapi::api::storage::v1::VolumeAttachment| {
        let named = source.spec.source.persistent_volume_name.clone();
        named.unwrap_or_else(|| format!("inline volume of {}", source.spec.attacher))
    };
    of_node.map(name).collect()
}
