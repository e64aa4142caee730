//! The objects of a cluster that are looked at.

use iotax_record::machine::Unseen;
use k8s_openapi::Resource;
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
    /// Objects that could not be read, each with why.
    pub(super) broken: Vec<(String, String)>,
}

/// Objects that could not be read and are named.
const NAMED: usize = 8;

impl Objects {
    /// Objects and lists of them, as `kubectl get -o json` prints them, one after the other. One that
    /// cannot be read is named, and the others are read.
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        let mut objects = Self::default();
        let mut taken = 0_usize;
        for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
            match value {
                Ok(value) => taken += objects.take(value),
                Err(error) => objects.broken.push(("what follows".to_owned(), error.to_string())),
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

    /// Says which objects could not be read.
    fn name_broken(&mut self) {
        let more = self.broken.len().saturating_sub(NAMED);
        for (what, why) in self.broken.drain(..).take(NAMED) {
            self.unseen.push(Unseen { what, how: format!("could not be read: {why}") });
        }
        if more > 0 {
            let how = "could not be read either".to_owned();
            self.unseen.push(Unseen { what: format!("{more} more objects"), how });
        }
    }

    /// Takes an object, or those of a list; how many were read.
    fn take(&mut self, mut value: Value) -> usize {
        let kind = value["kind"].as_str().unwrap_or_default().to_owned();
        if let Some(Value::Array(items)) = value.get_mut("items").map(Value::take) {
            // A list of one kind does not say it again of each.
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
            "" => Err("something in it has no `kind`".to_owned()),
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

/// Reads an object of whichever version its cluster serves: fields that are looked at have the same
/// names in all of them.
pub(super) fn of_any_version<K: DeserializeOwned + Resource>(value: Value) -> Result<K, String> {
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
