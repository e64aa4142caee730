//! The objects of a cluster that are looked at.

use iotax_record::machine::Unseen;
use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1::{ConfigMap, Node, PersistentVolume, PersistentVolumeClaim, Pod};
use k8s_openapi::api::storage::v1::{
    CSIDriver, CSINode, StorageClass, VolumeAttachment, VolumeAttributesClass,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Error;

/// Objects, and which could not be had.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    /// Where claims were looked for; `None`: everywhere.
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
}

impl Objects {
    /// Objects and lists of them, as `kubectl get -o json` prints them, one after the other.
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        let mut objects = Self::default();
        for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
            objects.take(value.map_err(|error| unreadable(&error))?)?;
        }
        objects.knows_classes = !objects.classes.is_empty();
        let found = [
            ("storage classes", objects.classes.len()),
            ("nodes", objects.nodes.len()),
            ("persistent volumes", objects.volumes.len()),
            ("claims", objects.claims.len()),
            ("limits of drivers on nodes", objects.csi_nodes.len()),
            ("what network plugin there is", objects.sets.len()),
        ];
        let missing: Vec<_> =
            found.into_iter().filter(|(_, count)| *count == 0).map(|(what, _)| what).collect();
        if !missing.is_empty() {
            objects.unseen.push(Unseen {
                what: missing.join(", "),
                how: "none in this file; iotax kube doctor --help has what prints them".to_owned(),
            });
        }
        Ok(objects)
    }

    fn take(&mut self, value: Value) -> Result<(), Error> {
        let kind = value["kind"].as_str().unwrap_or_default().to_owned();
        if let Value::Array(items) = &value["items"] {
            // A list of one kind does not say it again of each.
            let of_one = kind.strip_suffix("List").filter(|kind| !kind.is_empty());
            for item in items {
                let mut item = item.clone();
                if item["kind"].is_null()
                    && let (Some(kind), Some(fields)) = (of_one, item.as_object_mut())
                {
                    fields.insert("kind".to_owned(), kind.into());
                }
                self.take(item)?;
            }
            return Ok(());
        }
        match kind.as_str() {
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
            "" => Err(Error::NoObjects { why: "something in it has no `kind`".to_owned() }),
            _ => Ok(()),
        }
    }
}

fn add<K: DeserializeOwned>(objects: &mut Vec<K>, value: Value) -> Result<(), Error> {
    objects.push(K::deserialize(value).map_err(|error| unreadable(&error))?);
    Ok(())
}

fn unreadable(error: &serde_json::Error) -> Error {
    Error::NoObjects { why: error.to_string() }
}
