//! Facts about a cluster, read without changing anything.
//!
//! | module | idea |
//! |---|---|
//! | `look` | asks a cluster for its objects, and reports what is not visible |
//! | `storage` | classes, volumes, claims |
//! | `network` | the network between pods |

mod look;
mod network;
mod storage;

use std::collections::BTreeMap;

use iotax_record::cluster::{CLUSTER_FORMAT, ClusterSeen, NodeSeen, Trouble};
use iotax_record::machine::Unseen;
use k8s_openapi::Resource;
use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1::{
    ConfigMap, Node, NodeCondition, PersistentVolume, PersistentVolumeClaim, Pod, Taint,
};
use k8s_openapi::api::storage::v1::{
    CSIDriver, CSINode, StorageClass, VolumeAttachment, VolumeAttributesClass,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use self::look::READS;
use self::look::look;
use crate::connect::Cluster;
use crate::error::Error;
use crate::host::ZONE;

/// Examines a cluster, with the claims of one namespace or of all. What is not visible is in
/// [`ClusterSeen::unseen`].
///
/// # Errors
/// If the cluster does not answer.
pub fn survey(cluster: &Cluster, namespace: Option<&str>) -> Result<ClusterSeen, Error> {
    Ok(described(&look(cluster, namespace)?))
}

/// The same from output of `kubectl get -o json`.
///
/// # Errors
/// If it is not JSON of objects.
pub fn survey_of_file(text: &str) -> Result<ClusterSeen, Error> {
    Ok(described(&Objects::read(text)?))
}

fn described(objects: &Objects) -> ClusterSeen {
    ClusterSeen {
        format: CLUSTER_FORMAT,
        namespace: objects.namespace.clone(),
        knows_classes: objects.knows_classes,
        classes: objects.classes.iter().map(storage::class).collect(),
        drivers: objects.drivers.iter().filter_map(|one| one.metadata.name.clone()).collect(),
        attributes: objects.attributes.iter().map(storage::attributes).collect(),
        nodes: nodes(objects),
        volumes: objects.volumes.iter().map(|one| storage::volume(one, objects)).collect(),
        claims: objects.claims.iter().map(|one| storage::claim(one, &objects.pods)).collect(),
        network: network::network(objects),
        unseen: objects.unseen.clone(),
    }
}

// Nodes: their kind, their state, and what is attached to them.

/// Names of labels; the older ones exist only on older clusters.
const TYPE: [&str; 2] = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];
const ZONES: [&str; 2] = [ZONE, "failure-domain.beta.kubernetes.io/zone"];
const REGION: [&str; 2] =
    ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"];
/// The condition that should be true; all others should be false.
const READY: &str = "Ready";
/// Taints that the cluster adds itself, in addition to a condition or a cordon.
const OF_CONDITIONS: &str = "node.kubernetes.io/";

fn nodes(objects: &Objects) -> Vec<NodeSeen> {
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

/// The maximum number of volumes of each driver on a node.
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

/// Names of volumes; volumes without a name are listed by their driver.
fn attached(node: &str, objects: &Objects) -> Vec<String> {
    let of_node = objects.attachments.iter().filter(|one| {
        one.spec.node_name == node && one.status.as_ref().is_some_and(|status| status.attached)
    });
    let name = |source: &VolumeAttachment| {
        let named = source.spec.source.persistent_volume_name.clone();
        named.unwrap_or_else(|| format!("inline volume of {}", source.spec.attacher))
    };
    of_node.map(name).collect()
}

// The objects of a cluster that are examined.

/// Objects, and those that are not available.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    /// The namespace that was searched for claims; `None` for all.
    pub(crate) namespace: Option<String>,
    pub(crate) knows_classes: bool,
    pub(crate) classes: Vec<StorageClass>,
    pub(crate) attributes: Vec<VolumeAttributesClass>,
    pub(crate) drivers: Vec<CSIDriver>,
    pub(crate) csi_nodes: Vec<CSINode>,
    pub(crate) attachments: Vec<VolumeAttachment>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) volumes: Vec<PersistentVolume>,
    pub(crate) claims: Vec<PersistentVolumeClaim>,
    pub(crate) pods: Vec<Pod>,
    pub(crate) sets: Vec<DaemonSet>,
    pub(crate) maps: Vec<ConfigMap>,
    pub(crate) unseen: Vec<Unseen>,
    /// Objects that could not be read, each with why.
    broken: Vec<(String, String)>,
}

/// Maximum number of unreadable objects that are named.
const NAMED: usize = 8;

impl Objects {
    /// Objects and lists of them, as `kubectl get -o json` prints them, one after the other. One
    /// that cannot be read is named, and the others are read.
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        let mut objects = Self::default();
        let mut taken = 0_usize;
        for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
            match value {
                Ok(value) => taken += objects.take(value),
                Err(error) => objects.broken.push(("the rest".to_owned(), error.to_string())),
            }
        }
        if let Some((_, why)) = objects.broken.first().filter(|_| taken == 0) {
            return Err(Error::NoObjects { why: why.clone() });
        }
        objects.name_broken();
        objects.knows_classes = !objects.classes.is_empty();
        let found = [
            ("storage classes", objects.classes.len()),
            ("nodes", objects.nodes.len()),
            ("persistent volumes", objects.volumes.len()),
            ("claims", objects.claims.len()),
            ("driver limits on nodes", objects.csi_nodes.len()),
            ("network plugin", objects.sets.len()),
        ];
        let missing: Vec<_> =
            found.into_iter().filter(|(_, count)| *count == 0).map(|(what, _)| what).collect();
        if !missing.is_empty() {
            objects.unseen.push(Unseen::new(
                missing.join(", "),
                "not in this file; iotax kube doctor --help shows the commands that print these \
                 objects",
            ));
        }
        Ok(objects)
    }

    /// Reports the objects that could not be read.
    fn name_broken(&mut self) {
        let more = self.broken.len().saturating_sub(NAMED);
        for (what, why) in self.broken.drain(..).take(NAMED) {
            self.unseen.push(Unseen { what, how: format!("could not be read: {why}") });
        }
        if more > 0 {
            let what = format!("{more} more objects");
            self.unseen.push(Unseen::new(what, "could not be read"));
        }
    }

    /// Adds an object, or those of a list; returns how many were read.
    fn take(&mut self, mut value: Value) -> usize {
        let kind = value["kind"].as_str().unwrap_or_default().to_owned();
        if let Some(Value::Array(items)) = value.get_mut("items").map(Value::take) {
            // In a list of one kind, the items have no `kind`.
            let of_one = kind.strip_suffix("List").filter(|kind| !kind.is_empty());
            let with_kind = |mut item: Value| {
                if item["kind"].is_null()
                    && let (Some(kind), Some(fields)) = (of_one, item.as_object_mut())
                {
                    fields.insert("kind".to_owned(), kind.into());
                }
                item
            };
            let items: Vec<Value> = items.into_iter().map(with_kind).collect();
            // An empty list was read, too.
            return 1 + items.into_iter().map(|item| self.take(item)).sum::<usize>();
        }
        let name = value["metadata"]["name"].as_str().unwrap_or("without a name").to_owned();
        let read = match kind.as_str() {
            "StorageClass" => add(&mut self.classes, value),
            "VolumeAttributesClass" => add(&mut self.attributes, value),
            "CSIDriver" => add(&mut self.drivers, value),
            "CSINode" => add(&mut self.csi_nodes, value),
            "VolumeAttachment" => add(&mut self.attachments, value),
            "Node" => add(&mut self.nodes, value),
            "PersistentVolume" => add(&mut self.volumes, value),
            "PersistentVolumeClaim" => add(&mut self.claims, value),
            "Pod" => add(&mut self.pods, value),
            "DaemonSet" => add(&mut self.sets, value),
            "ConfigMap" => add(&mut self.maps, value),
            "" => Err("an object has no `kind`".to_owned()),
            _ => Ok(()),
        };
        match read {
            Ok(()) => 1,
            Err(why) => {
                self.broken.push((format!("{kind} {name}").trim_start().to_owned(), why));
                0
            }
        }
    }
}

/// Reads an object of any version: the fields that are used have the same names in all of them.
fn of_any_version<K: DeserializeOwned + Resource>(value: Value) -> Result<K, String> {
    let mut value = value;
    if let Some(fields) = value.as_object_mut() {
        fields.insert("apiVersion".to_owned(), K::API_VERSION.into());
        fields.insert("kind".to_owned(), K::KIND.into());
    }
    K::deserialize(value).map_err(|error| error.to_string())
}

fn add<K: DeserializeOwned + Resource>(objects: &mut Vec<K>, value: Value) -> Result<(), String> {
    objects.push(of_any_version(value)?);
    Ok(())
}
