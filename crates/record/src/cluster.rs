//! A Kubernetes cluster as it was seen: its storage, its nodes, what they are attached to.
//!
//! Facts only, from the objects that its API server has; what they mean is decided elsewhere. Empty
//! fields mean that nothing is set, or that it was not allowed to be looked at:
//! [`ClusterSeen::unseen`] says which.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::machine::Unseen;

/// Version of the format of [`ClusterSeen`] that this program writes.
pub const CLUSTER_FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ClusterSeen {
    pub format: u32,
    /// The namespace that was looked at; `None`: all of them.
    pub namespace: Option<String>,
    /// Whether storage classes could be listed: else it is not known that there are none.
    pub knows_classes: bool,
    /// Storage classes.
    pub classes: Vec<ClassSeen>,
    /// Drivers, by the name that classes and volumes have for them.
    pub drivers: Vec<String>,
    /// Classes of what can be changed of a volume while it is used: name, driver, parameters.
    pub attributes: Vec<AttributesSeen>,
    pub nodes: Vec<NodeSeen>,
    pub volumes: Vec<VolumeSeen>,
    pub claims: Vec<ClaimSeen>,
    /// The network between pods, as far as objects tell.
    pub network: PodNetwork,
    /// What could not be looked at.
    pub unseen: Vec<Unseen>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassSeen {
    pub name: String,
    /// What makes its volumes.
    pub provisioner: String,
    /// What that is told; names of secrets, never what is in them.
    pub parameters: BTreeMap<String, String>,
    /// `Immediate` or `WaitForFirstConsumer`.
    pub binding: String,
    /// `Delete` or `Retain`.
    pub reclaim: String,
    /// Whether claims may grow.
    pub can_grow: bool,
    pub mount_options: Vec<String>,
    /// Whether claims without a class get this one.
    pub is_default: bool,
    /// When it was made, RFC 3339: of several defaults the newest is taken.
    pub created: String,
    /// Where its volumes may be, as `KEY in VALUE, VALUE`.
    pub topologies: Vec<String>,
}

/// A `VolumeAttributesClass`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AttributesSeen {
    pub name: String,
    pub driver: String,
    /// What volumes become.
    pub parameters: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeSeen {
    pub name: String,
    /// Type of instance: the VM's size.
    pub instance_type: Option<String>,
    pub zone: Option<String>,
    pub region: Option<String>,
    /// Where it comes from: `aws:///eu-west-1a/i-0123`.
    pub provider: Option<String>,
    /// Version of the kubelet.
    pub kubelet: String,
    /// Container runtime and its version.
    pub runtime: String,
    /// Version of the kernel.
    pub kernel: String,
    /// Whether it is ready; `None`: nobody knows.
    pub is_ready: Option<bool>,
    /// Conditions that should not hold, and do: `DiskPressure`, with what is said of them.
    pub troubles: Vec<Trouble>,
    /// Whether new pods are kept off it.
    pub is_cordoned: bool,
    /// Taints as `kubectl taint` writes them.
    pub taints: Vec<String>,
    /// Drivers on it: how many volumes they may attach, if they say so.
    pub drivers: BTreeMap<String, Option<u32>>,
    /// Volumes that are attached to it.
    pub attached: Vec<String>,
}

/// A condition of a node that should not hold.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Trouble {
    /// `DiskPressure`.
    pub kind: String,
    /// In the cluster's words.
    pub message: String,
}

/// A persistent volume.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct VolumeSeen {
    pub name: String,
    /// `Bound`, `Available`, `Released`, `Failed`, `Pending`.
    pub phase: String,
    /// Its class; empty if it has none.
    pub class: String,
    /// Its size.
    pub bytes: Option<u64>,
    /// `Filesystem` or `Block`.
    pub mode: String,
    pub access: Vec<String>,
    /// What becomes of it without its claim.
    pub reclaim: String,
    /// The driver, or what it is without one: `csi`, `hostPath`, `local`, `nfs`.
    pub source: String,
    /// What the driver knows it by, or its path.
    pub handle: String,
    pub file_system: Option<String>,
    /// What the driver notes of it.
    pub attributes: BTreeMap<String, String>,
    pub attributes_class: Option<String>,
    pub mount_options: Vec<String>,
    /// Where it may be used, as `KEY in VALUE, VALUE`.
    pub affinity: Vec<String>,
    /// Nodes that it is attached to.
    pub attached_to: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ClaimSeen {
    pub namespace: String,
    pub name: String,
    /// `Bound`, `Pending`, `Lost`.
    pub phase: String,
    /// Its class; `None` if it names none.
    pub class: Option<String>,
    pub volume: Option<String>,
    /// What it asks for.
    pub bytes: Option<u64>,
    /// `Filesystem` or `Block`.
    pub mode: String,
    pub access: Vec<String>,
    /// Pods that use it, and the nodes that these are on.
    pub pods: Vec<PodSeen>,
}

/// A pod that uses a claim.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PodSeen {
    pub name: String,
    pub node: Option<String>,
}

/// The network between pods.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PodNetwork {
    /// What makes it: `Cilium`, by the objects that it runs as.
    pub plugins: Vec<PluginSeen>,
    /// Mode of kube-proxy.
    pub proxy_mode: Option<String>,
}

/// A network plugin.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PluginSeen {
    /// `Cilium`.
    pub name: String,
    /// What it was known by: `daemonset kube-system/cilium`.
    pub by: String,
    /// What it encrypts with, where its settings say so: `WireGuard`.
    pub encryption: Option<String>,
    /// Size of packets, where its settings say so.
    pub mtu: Option<u32>,
    /// The settings that told.
    pub settings: Vec<PluginSetting>,
}

/// A setting of a plugin: where it stands, `cilium-config`, and what it is, `enable-wireguard: true`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "WrittenSetting")]
pub struct PluginSetting {
    pub place: String,
    pub key: String,
    pub value: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenSetting {
    /// As it was until November 2026: `cilium-config, enable-wireguard: true`.
    Text(String),
    Parts {
        place: String,
        key: String,
        value: String,
    },
}

impl From<WrittenSetting> for PluginSetting {
    fn from(written: WrittenSetting) -> Self {
        match written {
            WrittenSetting::Parts { place, key, value } => Self { place, key, value },
            WrittenSetting::Text(text) => {
                let (place, rest) = text.split_once(", ").unwrap_or((&text, ""));
                let (key, value) = rest.split_once(": ").unwrap_or((rest, ""));
                let [place, key, value] = [place, key, value].map(str::to_owned);
                Self { place, key, value }
            }
        }
    }
}

impl ClaimSeen {
    /// `bench/data`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

impl ClusterSeen {
    pub fn class(&self, name: &str) -> Option<&ClassSeen> {
        self.classes.iter().find(|class| class.name == name)
    }

    pub fn volume(&self, name: &str) -> Option<&VolumeSeen> {
        self.volumes.iter().find(|volume| volume.name == name)
    }

    pub fn node(&self, name: &str) -> Option<&NodeSeen> {
        self.nodes.iter().find(|node| node.name == name)
    }

    /// Classes that claims without one get; more than one is a mistake.
    pub fn defaults(&self) -> Vec<&ClassSeen> {
        self.classes.iter().filter(|class| class.is_default).collect()
    }

    /// Nodes that a claim is used on: where its volume is attached, and where its pods are.
    pub fn nodes_of(&self, claim: &ClaimSeen) -> Vec<&NodeSeen> {
        let volume = claim.volume.as_deref().and_then(|name| self.volume(name));
        let attached = volume.into_iter().flat_map(|volume| &volume.attached_to);
        let pods = claim.pods.iter().filter_map(|pod| pod.node.as_ref());
        let mut names: Vec<&String> = attached.chain(pods).collect();
        names.sort();
        names.dedup();
        names.into_iter().filter_map(|name| self.node(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_earlier_files_are_read() {
        let read = |text: &str| serde_json::from_str::<PluginSetting>(text).unwrap();
        let now = read(r#"{"place": "cilium-config", "key": "mtu", "value": "1450"}"#);
        assert_eq!(read(r#""cilium-config, mtu: 1450""#), now);
        assert_eq!((&*now.place, &*now.key, &*now.value), ("cilium-config", "mtu", "1450"));
    }
}
