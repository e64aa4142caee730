//! Storage classes, volumes and claims.

use std::collections::BTreeMap;

use iotax_record::cluster::{AttributesSeen, ClaimSeen, ClassSeen, PodSeen, VolumeSeen};
use k8s_openapi::api::core::v1::{
    NodeSelector, NodeSelectorRequirement, PersistentVolume, PersistentVolumeClaim,
    PersistentVolumeSpec, Pod, TopologySelectorTerm,
};
use k8s_openapi::api::storage::v1::{StorageClass, VolumeAttributesClass};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use serde_json::Value;

use super::Objects;
use crate::objects::bytes_of;

/// Annotations of the default class; the older name still counts.
const DEFAULT: [&str; 2] = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];

pub(super) fn class(class: &StorageClass) -> ClassSeen {
    let says = |key: &&str| {
        class
            .metadata
            .annotations
            .iter()
            .flatten()
            .any(|(name, value)| name == *key && value == "true")
    };
    let topologies = class.allowed_topologies.iter().flatten().flat_map(topology).collect();
    ClassSeen {
        name: class.metadata.name.clone().unwrap_or_default(),
        provisioner: class.provisioner.clone(),
        parameters: class.parameters.clone().unwrap_or_default(),
        binding: class.volume_binding_mode.clone().unwrap_or_else(|| "Immediate".to_owned()),
        reclaim: class.reclaim_policy.clone().unwrap_or_else(|| "Delete".to_owned()),
        can_grow: class.allow_volume_expansion.unwrap_or(false),
        mount_options: class.mount_options.clone().unwrap_or_default(),
        is_default: DEFAULT.iter().any(says),
        created: class
            .metadata
            .creation_timestamp
            .as_ref()
            .map(|at| at.0.to_string())
            .unwrap_or_default(),
        topologies,
    }
}

fn topology(term: &TopologySelectorTerm) -> Vec<String> {
    let said = term.match_label_expressions.iter().flatten();
    said.map(|one| format!("{} in {}", one.key, one.values.join(", "))).collect()
}

pub(super) fn attributes(class: &VolumeAttributesClass) -> AttributesSeen {
    AttributesSeen {
        name: class.metadata.name.clone().unwrap_or_default(),
        driver: class.driver_name.clone(),
        parameters: class.parameters.clone().unwrap_or_default(),
    }
}

pub(super) fn volume(volume: &PersistentVolume, objects: &Objects) -> VolumeSeen {
    let name = volume.metadata.name.clone().unwrap_or_default();
    let spec = volume.spec.clone().unwrap_or_default();
    let csi = spec.csi.as_ref();
    let (source, handle) = source(&spec);
    let attached = objects.attachments.iter().filter(|one| {
        one.spec.source.persistent_volume_name.as_ref() == Some(&name)
            && one.status.as_ref().is_some_and(|status| status.attached)
    });
    let affinity = spec.node_affinity.as_ref().and_then(|affinity| affinity.required.as_ref());
    VolumeSeen {
        phase: volume.status.as_ref().and_then(|status| status.phase.clone()).unwrap_or_default(),
        class: spec.storage_class_name.clone().unwrap_or_default(),
        bytes: storage(spec.capacity.as_ref()),
        mode: spec.volume_mode.clone().unwrap_or_else(|| "Filesystem".to_owned()),
        access: spec.access_modes.clone().unwrap_or_default(),
        reclaim: spec.persistent_volume_reclaim_policy.clone().unwrap_or_default(),
        file_system: csi.and_then(|csi| csi.fs_type.clone()),
        attributes: csi.and_then(|csi| csi.volume_attributes.clone()).unwrap_or_default(),
        attributes_class: spec.volume_attributes_class_name.clone(),
        mount_options: spec.mount_options.clone().unwrap_or_default(),
        affinity: affinity.map(required).unwrap_or_default(),
        attached_to: attached.map(|one| one.spec.node_name.clone()).collect(),
        name,
        source,
        handle,
    }
}

/// The driver of a volume, or its kind if it has no driver, and the handle there.
fn source(spec: &PersistentVolumeSpec) -> (String, String) {
    if let Some(csi) = &spec.csi {
        return (csi.driver.clone(), csi.volume_handle.clone());
    }
    if let Some(nfs) = &spec.nfs {
        return ("nfs".to_owned(), format!("{}:{}", nfs.server, nfs.path));
    }
    // The others are identified by one field of the specification.
    let known = [
        "hostPath",
        "local",
        "awsElasticBlockStore",
        "azureDisk",
        "azureFile",
        "gcePersistentDisk",
        "iscsi",
        "rbd",
        "cephfs",
        "fc",
        "cinder",
        "vsphereVolume",
        "portworxVolume",
        "glusterfs",
        "flexVolume",
    ];
    let fields = serde_json::to_value(spec).unwrap_or_default();
    let handle = |of: &Value| {
        let named = ["path", "volumeID", "diskName", "shareName", "pdName", "volumePath", "image"];
        named.iter().find_map(|key| of[key].as_str()).unwrap_or_default().to_owned()
    };
    let found = known.into_iter().find(|name| !fields[name].is_null());
    found.map_or_else(Default::default, |name| (name.to_owned(), handle(&fields[name])))
}

pub(super) fn claim(claim: &PersistentVolumeClaim, pods: &[Pod]) -> ClaimSeen {
    let namespace = claim.metadata.namespace.clone().unwrap_or_default();
    let name = claim.metadata.name.clone().unwrap_or_default();
    let spec = claim.spec.clone().unwrap_or_default();
    let asked = spec.resources.as_ref().and_then(|resources| resources.requests.as_ref());
    let users = pods.iter().filter(|pod| {
        pod.metadata.namespace.as_ref() == Some(&namespace) && uses(pod, &name) && is_alive(pod)
    });
    let user = |pod: &Pod| PodSeen {
        name: pod.metadata.name.clone().unwrap_or_default(),
        node: pod.spec.as_ref().and_then(|spec| spec.node_name.clone()),
    };
    ClaimSeen {
        phase: claim.status.as_ref().and_then(|status| status.phase.clone()).unwrap_or_default(),
        class: spec.storage_class_name.clone(),
        volume: spec.volume_name.clone().filter(|name| !name.is_empty()),
        bytes: storage(asked),
        mode: spec.volume_mode.clone().unwrap_or_else(|| "Filesystem".to_owned()),
        access: spec.access_modes.clone().unwrap_or_default(),
        pods: users.map(user).collect(),
        namespace,
        name,
    }
}

/// Whether a volume of the pod is this claim; the claim of an ephemeral volume has both names.
fn uses(pod: &Pod, claim: &str) -> bool {
    let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    let pod_name = pod.metadata.name.as_deref().unwrap_or_default();
    volumes.into_iter().any(|volume| {
        let named = volume.persistent_volume_claim.as_ref();
        named.is_some_and(|named| named.claim_name == claim)
            || volume.ephemeral.is_some() && claim == format!("{pod_name}-{}", volume.name)
    })
}

fn is_alive(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    !matches!(phase, Some("Succeeded" | "Failed"))
}

fn storage(amounts: Option<&BTreeMap<String, Quantity>>) -> Option<u64> {
    bytes_of(&amounts?.get("storage")?.0)
}

/// `topology.kubernetes.io/zone in eu-1a, eu-1b`, of each term.
fn required(selector: &NodeSelector) -> Vec<String> {
    let said = |one: &NodeSelectorRequirement| {
        let values = one.values.clone().unwrap_or_default().join(", ");
        let operator = match one.operator.as_str() {
            "In" => "in".to_owned(),
            other => other.to_owned(),
        };
        format!("{} {operator} {values}", one.key).trim_end().to_owned()
    };
    let terms = selector.node_selector_terms.iter();
    terms
        .flat_map(|term| {
            let labels = term.match_expressions.iter().flatten();
            labels.chain(term.match_fields.iter().flatten())
        })
        .map(said)
        .collect()
}
