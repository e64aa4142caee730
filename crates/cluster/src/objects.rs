//! What a run makes in a cluster: a lease that owns everything, claims, pods.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use serde_json::{Value, json};

use crate::place::Place;

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
    /// The user that everything runs as; `None` if the cluster chooses, as OpenShift does.
    pub user: Option<u32>,
    /// How long pods may take to start.
    pub wait: Duration,
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

    /// The claim of an arm, if its volume has one.
    pub(crate) fn claim(
        &self,
        arm: usize,
        place: &Place,
        size_bytes: u64,
        owner: &Lease,
    ) -> Option<PersistentVolumeClaim> {
        let Place::Class(class) = place else { return None };
        let claim = json!({
            "metadata": self.metadata(&self.arm(arm), owner),
            "spec": {
                "storageClassName": class,
                "accessModes": ["ReadWriteOnce"],
                "resources": { "requests": { "storage": quantity(size_bytes) } },
            },
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
        let mut volume = match place {
            Place::Class(_) => json!({ "persistentVolumeClaim": { "claimName": self.arm(arm) } }),
            Place::EmptyDir => json!({ "emptyDir": { "sizeLimit": quantity(options.size_bytes) } }),
        };
        volume["name"] = json!("volume");
        let amounts = json!({ "cpu": options.cpu, "memory": quantity(options.memory_bytes) });
        let secrets: Vec<Value> =
            options.pull_secrets.iter().map(|name| json!({ "name": name })).collect();
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
                "affinity": self.together(),
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
                    "volumeMounts": [{ "name": "volume", "mountPath": place.directory() }],
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

    /// Arms are compared on one node where their volumes allow it.
    fn together(&self) -> Value {
        json!({ "podAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": [{
            "weight": 100,
            "podAffinityTerm": {
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": { "matchLabels": { RUN: self.id } },
            },
        }]}})
    }
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
