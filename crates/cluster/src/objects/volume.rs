//! Volumes of pods, and the claims they need.

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use serde_json::{Value, json};

use super::quantity::quantity;
use super::run::Run;
use crate::place::Volume;

/// What a pod calls its volume.
pub(super) const VOLUME: &str = "volume";

impl Run {
    /// The name of the claim of a pod's volume.
    pub(crate) fn claim_of(&self, number: usize, volume: &Volume) -> Option<String> {
        match volume {
            Volume::Class(_) | Volume::Block(_) => Some(self.member(number)),
            Volume::Ephemeral(_) => Some(self.ephemeral_claim(number)),
            Volume::Claim { name, .. } => Some(name.clone()),
            Volume::EmptyDir | Volume::HostPath(_) => None,
        }
    }

    /// As Kubernetes names it: POD-VOLUME.
    fn ephemeral_claim(&self, number: usize) -> String {
        format!("{}-{VOLUME}", self.member(number))
    }

    /// The names of whatever may tell why a pod does not start: it, and its claim.
    pub(crate) fn told_of(&self, number: usize) -> [String; 2] {
        [self.member(number), self.ephemeral_claim(number)]
    }

    /// The claim to make for a volume; `None` if it has none, is there, or is made with the pod.
    pub(crate) fn claim(
        &self,
        number: usize,
        volume: &Volume,
        size_bytes: u64,
        owner: &Lease,
    ) -> Option<PersistentVolumeClaim> {
        let (class, mode) = match volume {
            Volume::Class(class) => (class, "Filesystem"),
            Volume::Block(class) => (class, "Block"),
            _ => return None,
        };
        let mut claim = json!({
            "metadata": self.metadata(&self.member(number), owner),
            "spec": claim(class, size_bytes),
        });
        claim["spec"]["volumeMode"] = json!(mode);
        Some(serde_json::from_value(claim).expect("it is a claim"))
    }

    /// A volume as its pod names it.
    pub(super) fn volume(&self, number: usize, volume: &Volume, size_bytes: u64) -> Value {
        let mut source = match volume {
            Volume::Class(_) | Volume::Block(_) => {
                json!({ "persistentVolumeClaim": { "claimName": self.member(number) } })
            }
            Volume::Claim { name, .. } => {
                json!({ "persistentVolumeClaim": { "claimName": name } })
            }
            Volume::HostPath(path) => json!({ "hostPath": { "path": path, "type": "Directory" } }),
            Volume::Ephemeral(class) => json!({ "ephemeral": { "volumeClaimTemplate": {
                "metadata": { "labels": self.labels() },
                "spec": claim(class, size_bytes),
            }}}),
            Volume::EmptyDir => json!({ "emptyDir": { "sizeLimit": quantity(size_bytes) } }),
        };
        source["name"] = json!(VOLUME);
        source
    }
}

/// What is asked for of a class.
fn claim(class: &str, size_bytes: u64) -> Value {
    json!({
        "storageClassName": class,
        "accessModes": ["ReadWriteOnce"],
        "resources": { "requests": { "storage": quantity(size_bytes) } },
    })
}
