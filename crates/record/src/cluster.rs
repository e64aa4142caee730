//! A Kubernetes cluster as observed: storage, nodes and attachments.
//!
//! Only facts from the objects of the API server; other crates interpret them. An empty field means
//! that nothing is set or that access was denied: [`ClusterSeen::unseen`] tells which.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::machine::Unseen;

/// Version of the format of [`ClusterSeen`] that this program writes.
pub const CLUSTER_FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ClusterSeen {
    pub format: u32,
    /// The observed namespace; `None`: all of them.
    pub namespace: Option<String>,
    /// Whether storage classes could be listed. If not, their absence is not known.
    pub knows_classes: bool,
    /// Storage classes.
    pub classes: Vec<ClassSeen>,
    /// Drivers, by their name in classes and volumes.
    pub drivers: Vec<String>,
    /// Classes of attributes that can be changed while a volume is in use: name, driver,
    /// parameters.
    pub attributes: Vec<AttributesSeen>,
    pub nodes: Vec<NodeSeen>,
    pub volumes: Vec<VolumeSeen>,
    pub claims: Vec<ClaimSeen>,
    /// The pod network, as far as objects describe it.
    pub network: PodNetwork,
    /// What could not be observed.
    pub unseen: Vec<Unseen>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassSeen {
    pub name: String,
    /// The provisioner of its volumes.
    pub provisioner: String,
    /// Its parameters; names of secrets, but never their contents.
    pub parameters: BTreeMap<String, String>,
    /// `Immediate` or `WaitForFirstConsumer`.
    pub binding: String,
    /// `Delete` or `Retain`.
    pub reclaim: String,
    /// Whether claims can grow.
    pub can_grow: bool,
    pub mount_options: Vec<String>,
    /// Whether it is the default class.
    pub is_default: bool,
    /// Creation time, RFC 3339; the newest of several defaults is used.
    pub created: String,
    /// Where its volumes can be, as `KEY in VALUE, VALUE`.
    pub topologies: Vec<String>,
}

/// A `VolumeAttributesClass`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AttributesSeen {
    pub name: String,
    pub driver: String,
    /// The new attributes of volumes.
    pub parameters: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeSeen {
    pub name: String,
    /// Instance type, which is the VM size.
    pub instance_type: Option<String>,
    pub zone: Option<String>,
    pub region: Option<String>,
    /// Provider ID: `aws:///eu-west-1a/i-0123`.
    pub provider: Option<String>,
    /// kubelet version.
    pub kubelet: String,
    /// Container runtime and version.
    pub runtime: String,
    /// Kernel version.
    pub kernel: String,
    /// Whether it is ready; `None`: unknown.
    pub is_ready: Option<bool>,
    /// Conditions that indicate a problem: `DiskPressure`, with their message.
    pub troubles: Vec<Trouble>,
    /// Whether new pods are not scheduled on it.
    pub is_cordoned: bool,
    /// Taints as `kubectl taint` writes them.
    pub taints: Vec<String>,
    /// Drivers on it, with the maximum number of volumes if known.
    pub drivers: BTreeMap<String, Option<u32>>,
    /// Volumes attached to it.
    pub attached: Vec<String>,
}

/// A condition of a node that indicates a problem.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Trouble {
    /// `DiskPressure`.
    pub kind: String,
    /// The message from the cluster.
    pub message: String,
}

/// A persistent volume.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct VolumeSeen {
    pub name: String,
    /// `Bound`, `Available`, `Released`, `Failed`, `Pending`.
    pub phase: String,
    /// Its class; empty if there is none.
    pub class: String,
    /// Its size.
    pub bytes: Option<u64>,
    /// `Filesystem` or `Block`.
    pub mode: String,
    pub access: Vec<String>,
    /// What happens to it when its claim is deleted.
    pub reclaim: String,
    /// The driver, or the type without a driver: `csi`, `hostPath`, `local`, `nfs`.
    pub source: String,
    /// The driver's handle, or its path.
    pub handle: String,
    pub file_system: Option<String>,
    /// Attributes set by the driver.
    pub attributes: BTreeMap<String, String>,
    pub attributes_class: Option<String>,
    pub mount_options: Vec<String>,
    /// Where it can be used, as `KEY in VALUE, VALUE`.
    pub affinity: Vec<String>,
    /// Nodes it is attached to.
    pub attached_to: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ClaimSeen {
    pub namespace: String,
    pub name: String,
    /// `Bound`, `Pending`, `Lost`.
    pub phase: String,
    /// Its class; `None` if it does not name one.
    pub class: Option<String>,
    pub volume: Option<String>,
    /// Requested size.
    pub bytes: Option<u64>,
    /// `Filesystem` or `Block`.
    pub mode: String,
    pub access: Vec<String>,
    /// Pods that use it, and their nodes.
    pub pods: Vec<PodSeen>,
}

/// A pod that uses a claim.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PodSeen {
    pub name: String,
    pub node: Option<String>,
}

/// The pod network.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PodNetwork {
    /// The network plugin: `Cilium`, detected by the objects that run it.
    pub plugins: Vec<PluginSeen>,
    /// kube-proxy mode.
    pub proxy_mode: Option<String>,
}

/// A network plugin.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PluginSeen {
    /// `Cilium`.
    pub name: String,
    /// The object that identified it: `daemonset kube-system/cilium`.
    pub by: String,
    /// Its encryption, if its settings say so: `WireGuard`.
    pub encryption: Option<String>,
    /// MTU, if its settings say so.
    pub mtu: Option<u32>,
    /// The settings that were used.
    pub settings: Vec<PluginSetting>,
}

/// A setting of a plugin: its source, `cilium-config`, and its value, `enable-wireguard: true`.
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
    /// The form used until November 2026: `cilium-config, enable-wireguard: true`.
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

    /// Default classes; more than one is a mistake.
    pub fn defaults(&self) -> Vec<&ClassSeen> {
        self.classes.iter().filter(|class| class.is_default).collect()
    }

    /// Nodes on which a claim is used: where its volume is attached, and where its pods run.
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
