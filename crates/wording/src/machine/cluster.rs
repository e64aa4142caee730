//! Short descriptions of the objects of a cluster.

use iotax_diagnose::{ClusterSubject, claim_disk, vm_limits};
use iotax_quantity::{count, list, size};
use iotax_record::cluster::{ClaimSeen, ClassSeen, ClusterSeen, NodeSeen, PluginSeen, VolumeSeen};

use crate::cause::{disk_limits, vm_limit};

pub const NOTHING_FOUND: &str = "None of the known causes was found in the cluster's objects.";
pub const NOTHING_SEEN: &str = "Nothing could be inspected.";
pub const NO_PLUGIN: &str =
    "no known network plugin found; iotax cannot see whether traffic is encrypted";

/// Claims that are not shown.
pub fn more_claims(more: usize) -> String {
    let more = count(more as u64, "more claim");
    format!("And {more}. Show all with --all, or one with pvc:NAMESPACE/NAME.")
}

/// Nodes that are not shown.
pub fn more_nodes(more: usize) -> String {
    format!("And {}. Show all with --all.", count(more as u64, "more node"))
}

/// Facts about a claim.
pub fn claim(claim: &ClaimSeen) -> String {
    let pods: Vec<_> = claim.pods.iter().map(|pod| pod.name.as_str()).collect();
    let class = match &claim.class {
        Some(_) => String::new(),
        None => "no class".to_owned(),
    };
    joined([
        claim.bytes.map(size).unwrap_or_default(),
        claim.phase.clone(),
        claim.access.join(", "),
        class,
        if pods.is_empty() { "not in use".to_owned() } else { format!("used by {}", list(&pods)) },
    ])
}

/// Documented limits of the disk under a claim.
fn documented(seen: &ClusterSeen, claim: &ClaimSeen) -> String {
    let Some((name, _)) = claim_disk(seen, claim) else { return String::new() };
    iotax_catalog::disk(&name)
        .map_or(String::new(), |disk| format!("{name}, documented {}", disk_limits(&disk)))
}

/// The class that created a claim's volume.
pub fn under(class: &ClassSeen, claim: &ClaimSeen, seen: &ClusterSeen) -> String {
    joined([parameters(class), documented(seen, claim)])
}

/// Facts about a volume.
pub fn volume(volume: &VolumeSeen) -> String {
    let mounted = volume.mount_options.join(", ");
    joined([
        volume.bytes.map(size).unwrap_or_default(),
        volume.file_system.clone().unwrap_or_else(|| volume.mode.to_lowercase()),
        if mounted.is_empty() { String::new() } else { format!("mounted with {mounted}") },
        volume
            .attributes_class
            .as_ref()
            .map(|name| format!("attributes {name}"))
            .unwrap_or_default(),
        volume.affinity.join(", "),
        format!("{} when released", volume.reclaim),
    ])
}

/// Documented limits of a node's VM.
pub fn vm(seen: &ClusterSeen, claim: &ClaimSeen, node: &NodeSeen) -> String {
    let Some((cloud, limits)) = vm_limits(seen, claim, node) else { return String::new() };
    let limits = limits.iter().map(|limit| vm_limit(limit, cloud));
    limits.collect::<Vec<_>>().join("; ")
}

/// Parameters that a class passes to its driver.
fn parameters(class: &ClassSeen) -> String {
    // Names of secrets do not affect speed.
    let is_shown = |(key, _): &(&String, &String)| {
        !key.starts_with("csi.storage.k8s.io/") || key.ends_with("fstype")
    };
    let short = |key: &str| key.rsplit_once('/').map_or(key, |(_, last)| last).to_owned();
    let shown = class.parameters.iter().filter(is_shown);
    shown.map(|(key, value)| format!("{} {value}", short(key))).collect::<Vec<_>>().join(", ")
}

/// `fast (default)`
pub fn class_name(class: &ClassSeen) -> String {
    let default = if class.is_default { " (default)" } else { "" };
    format!("{}{default}", class.name)
}

/// Facts about a class.
pub fn class(class: &ClassSeen) -> String {
    let mounted = class.mount_options.join(", ");
    joined([
        class.provisioner.clone(),
        parameters(class),
        class.binding.clone(),
        class.reclaim.clone(),
        if class.can_grow { "expandable".to_owned() } else { String::new() },
        if mounted.is_empty() { String::new() } else { format!("mounted with {mounted}") },
        class.topologies.join(", "),
    ])
}

/// Facts about a node.
pub fn node(node: &NodeSeen) -> String {
    let troubles: Vec<_> = node.troubles.iter().map(|one| one.kind.clone()).collect();
    let drivers = node.drivers.iter().map(|(driver, most)| {
        let most = most.map_or_else(String::new, |most| format!(", at most {most}"));
        format!("{driver}{most}")
    });
    let attached = match node.attached.len() {
        0 => String::new(),
        n => format!("{} attached", count(n as u64, "volume")),
    };
    joined([
        troubles.join(", "),
        if node.is_cordoned { "cordoned".to_owned() } else { String::new() },
        node.instance_type.clone().unwrap_or_default(),
        node.zone.clone().unwrap_or_default(),
        format!("kubelet {}", node.kubelet),
        node.runtime.clone(),
        format!("Linux {}", node.kernel),
        attached,
        drivers.collect::<Vec<_>>().join("; "),
        node.taints.join(", "),
    ])
}

/// Facts about a plugin of the pod network.
pub fn plugin(plugin: &PluginSeen) -> String {
    let encryption = plugin.encryption.as_ref();
    let encryption = match encryption {
        Some(by) => format!("encrypts with {by}"),
        None if plugin.settings.is_empty() => {
            "iotax cannot see whether traffic is encrypted".to_owned()
        }
        None => "no encryption configured".to_owned(),
    };
    let mtu =
        plugin.mtu.map_or_else(|| "no MTU setting found".to_owned(), |mtu| format!("MTU {mtu}"));
    joined([plugin.name.clone(), encryption, mtu, plugin.by.clone()])
}

/// Joins the parts that are not empty.
fn joined<const N: usize>(parts: [String; N]) -> String {
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}

/// The subject that a pod or its node inspected.
pub fn probed(subject: &ClusterSubject) -> String {
    match subject {
        ClusterSubject::Claim(name) => format!("claim {name}"),
        ClusterSubject::Class(name) => format!("class {name}"),
        ClusterSubject::Node(name) => format!("node {name}"),
    }
}

/// Where the inspection ran.
pub fn seen_from(node: Option<&str>, is_privileged: bool) -> String {
    match (node, is_privileged) {
        (Some(node), false) => format!("in a pod on node {node}"),
        (None, false) => "in a pod".to_owned(),
        (Some(node), true) => format!("as root on node {node}"),
        (None, true) => "as root on the node".to_owned(),
    }
}

/// Remark for a mount that is read-only only because iotax mounted it to inspect it.
pub const READ_ONLY: &str = "mounted read-only for this inspection";
