//! What a run makes in a cluster: a lease that owns everything, claims, pods.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use serde_json::{Value, json};

use crate::place::{Place, Volume};

/// The label of everything that iotax makes.
pub(crate) const MANAGED: &str = "app.kubernetes.io/managed-by=iotax";
/// The label that says whose it is.
pub(crate) const RUN: &str = "iotax/run";
/// The container of a pod.
pub(crate) const CONTAINER: &str = "iotax";
/// A lease that was not renewed for so long is that of a dead run.
pub(crate) const LEASE: Duration = Duration::from_mins(1);
/// Journals of agents: they live and die with the pod, and nobody else may write there.
const STATE: &str = "/dev/shm/iotax";
/// What a pod calls its volume.
const VOLUME: &str = "volume";
/// Of the hash that tells runs apart.
const ID_LETTERS: usize = 10;
/// A pod gets so long to end by itself.
const GRACE_SECONDS: u32 = 2;
/// No pod lives longer, whatever happens to everything else.
const LONGEST_SECONDS: u64 = 24 * 60 * 60;
/// The first size that Kubernetes has a letter for, and the letters.
const UNITS: [(u64, &str); 3] = [(1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];

/// What pods are like.
#[derive(Debug, Clone)]
pub struct PodOptions {
    /// The image: iotax of the same version as this one.
    pub image: String,
    /// Secrets to pull it with.
    pub pull_secrets: Vec<String>,
    /// Size of each volume.
    pub size_bytes: u64,
    /// CPUs, as Kubernetes writes them: request and limit.
    pub cpu: String,
    /// Memory likewise, in bytes.
    pub memory_bytes: u64,
    /// Labels that nodes must have.
    pub node_selector: BTreeMap<String, String>,
    /// Taints of nodes that do not keep them off.
    pub tolerations: Vec<Toleration>,
    /// The user that everything runs as; `None` if the cluster chooses, as OpenShift does.
    pub user: Option<u32>,
    /// How long pods may take to start.
    pub wait: Duration,
}

/// A taint that pods bear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toleration {
    /// Its key; `None`: whatever it is.
    pub key: Option<String>,
    /// Its value; `None`: whatever it is.
    pub value: Option<String>,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`; `None`: each.
    pub effect: Option<String>,
}

/// A run, and what everything of it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) id: String,
}

impl Run {
    /// One that nobody else has.
    pub(crate) fn new() -> Self {
        let now = Timestamp::now().as_nanosecond();
        let id =
            iotax_record::stable_id("run", &[&now.to_string(), &std::process::id().to_string()]);
        Self { id: id[..ID_LETTERS].to_owned() }
    }

    /// The lease's name.
    pub(crate) fn name(&self) -> String {
        format!("iotax-{}", self.id)
    }

    /// The name of an arm's pod, and of its claim.
    pub(crate) fn arm(&self, arm: usize) -> String {
        format!("iotax-{}-{arm}", self.id)
    }

    /// The name of the claim of an arm.
    pub(crate) fn arm_claim(&self, arm: usize, volume: &Volume) -> Option<String> {
        match volume {
            Volume::Class(_) => Some(self.arm(arm)),
            Volume::Ephemeral(_) => Some(self.ephemeral_claim(arm)),
            Volume::EmptyDir => None,
        }
    }

    /// As Kubernetes names it: POD-VOLUME.
    fn ephemeral_claim(&self, arm: usize) -> String {
        format!("{}-{VOLUME}", self.arm(arm))
    }

    /// The names of whatever may tell why an arm's pod does not start: it, and its claim.
    pub(crate) fn told_of(&self, arm: usize) -> [String; 2] {
        [self.arm(arm), self.ephemeral_claim(arm)]
    }

    /// Selects what belongs to it.
    pub(crate) fn selector(&self) -> String {
        format!("{MANAGED},{RUN}={}", self.id)
    }

    fn labels(&self) -> Value {
        json!({
            "app.kubernetes.io/name": "iotax",
            "app.kubernetes.io/managed-by": "iotax",
            RUN: self.id,
            // A proxy beside the agent would keep the pod alive, and take CPU from it.
            "sidecar.istio.io/inject": "false",
        })
    }

    /// The object that owns all others, so that the cluster removes them with it.
    pub(crate) fn lease(&self, now: Timestamp) -> Lease {
        let lease = json!({
            "metadata": { "name": self.name(), "labels": self.labels() },
            "spec": {
                "holderIdentity": format!("iotax-{}", std::process::id()),
                "leaseDurationSeconds": LEASE.as_secs(),
                "acquireTime": MicroTime(now),
                "renewTime": MicroTime(now),
            },
        });
        serde_json::from_value(lease).expect("it is a lease")
    }

    /// The claim of an arm, if its volume has one that is not made with the pod.
    pub(crate) fn claim(
        &self,
        arm: usize,
        place: &Place,
        size_bytes: u64,
        owner: &Lease,
    ) -> Option<PersistentVolumeClaim> {
        let Volume::Class(class) = &place.volume else { return None };
        let claim = json!({
            "metadata": self.metadata(&self.arm(arm), owner),
            "spec": claim(class, size_bytes),
        });
        Some(serde_json::from_value(claim).expect("it is a claim"))
    }

    /// The pod of an arm. What it runs only waits: agents are started in it, and when there was none
    /// for as long as pods may take to start and some more, it ends. Nothing needs to tell it: an
    /// agent ends with the connection of whoever started it.
    pub(crate) fn pod(
        &self,
        arm: usize,
        place: &Place,
        options: &PodOptions,
        owner: &Lease,
    ) -> Pod {
        let mut volume = match &place.volume {
            Volume::Class(_) => json!({ "persistentVolumeClaim": { "claimName": self.arm(arm) } }),
            Volume::Ephemeral(class) => json!({ "ephemeral": { "volumeClaimTemplate": {
                "metadata": { "labels": self.labels() },
                "spec": claim(class, options.size_bytes),
            }}}),
            Volume::EmptyDir => {
                json!({ "emptyDir": { "sizeLimit": quantity(options.size_bytes) } })
            }
        };
        volume["name"] = json!(VOLUME);
        let amounts = json!({ "cpu": options.cpu, "memory": quantity(options.memory_bytes) });
        let secrets: Vec<Value> =
            options.pull_secrets.iter().map(|name| json!({ "name": name })).collect();
        let tolerations: Vec<Value> = options.tolerations.iter().map(toleration).collect();
        let pod = json!({
            "metadata": self.metadata(&self.arm(arm), owner),
            "spec": {
                "restartPolicy": "Never",
                "activeDeadlineSeconds": LONGEST_SECONDS,
                "terminationGracePeriodSeconds": GRACE_SECONDS,
                "automountServiceAccountToken": false,
                "enableServiceLinks": false,
                "nodeSelector": options.node_selector,
                "imagePullSecrets": secrets,
                "tolerations": tolerations,
                "affinity": self.affinity(place),
                "securityContext": user(options.user),
                "volumes": [volume],
                "containers": [{
                    "name": CONTAINER,
                    "image": options.image,
                    "imagePullPolicy": "IfNotPresent",
                    "command": ["iotax", "agent", "--keep", format!("{}s", keep(options).as_secs())],
                    "env": [{ "name": "IOTAX_STATE_DIR", "value": STATE }],
                    "resources": { "requests": amounts, "limits": amounts },
                    "securityContext": {
                        "allowPrivilegeEscalation": false,
                        "readOnlyRootFilesystem": true,
                        "capabilities": { "drop": ["ALL"] },
                    },
                    "volumeMounts": [{ "name": VOLUME, "mountPath": place.volume.directory() }],
                }],
            },
        });
        serde_json::from_value(pod).expect("it is a pod")
    }

    fn metadata(&self, name: &str, owner: &Lease) -> Value {
        json!({
            "name": name,
            "labels": self.labels(),
            "ownerReferences": [{
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "name": owner.metadata.name,
                "uid": owner.metadata.uid.clone().unwrap_or_default(),
            }],
        })
    }

    /// On the node that was asked for. Others are compared on one where their volumes allow it.
    fn affinity(&self, place: &Place) -> Value {
        if let Some(node) = &place.node {
            // Not by the label of a host name, which need not be the node's.
            return json!({ "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{ "matchFields": [
                    { "key": "metadata.name", "operator": "In", "values": [node] },
                ]}],
            }}});
        }
        json!({ "podAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": [{
            "weight": 100,
            "podAffinityTerm": {
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": { "matchLabels": { RUN: self.id } },
            },
        }]}})
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

fn toleration(taint: &Toleration) -> Value {
    let Toleration { key, value, effect } = taint;
    let operator = if value.is_some() { "Equal" } else { "Exists" };
    json!({ "key": key, "operator": operator, "value": value, "effect": effect })
}

/// The user of a pod, and the group of its volume.
fn user(user: Option<u32>) -> Value {
    let mut context = json!({
        "runAsNonRoot": true,
        "seccompProfile": { "type": "RuntimeDefault" },
    });
    if let Some(user) = user {
        context["runAsUser"] = json!(user);
        context["runAsGroup"] = json!(user);
        context["fsGroup"] = json!(user);
        context["fsGroupChangePolicy"] = json!("OnRootMismatch");
    }
    context
}

/// How long a pod waits for an agent: those of other arms may take their time to start.
fn keep(options: &PodOptions) -> Duration {
    2 * options.wait + LEASE
}

/// Bytes as Kubernetes writes them.
pub(crate) fn quantity(bytes: u64) -> String {
    let unit = UNITS.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| bytes.to_string(), |(unit, letters)| format!("{}{letters}", bytes / unit))
}
