//! The objects that a run creates in a cluster.
//!
//! | module | idea |
//! |---|---|
//! | `overrides` | fields of pods that users set |
//! | `volume` | volumes and claims; sizes in Kubernetes' syntax |
//! | `pod` | the pods themselves |

mod overrides;
mod pod;
mod volume;

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Namespace, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use serde_json::{Value, json};

pub use self::overrides::PodOverrides;
pub use self::pod::{Amounts, PodOptions, Toleration};
pub(crate) use self::pod::{Apart, Container, Member, NODE_ROOT, RECORDING, Recording, Sight};
pub(crate) use self::volume::bytes_of;

// A run: the lease that owns everything it creates, labels and names; its own namespace, if any,
// and the Services of its pods.

/// The label of everything that iotax creates.
pub(crate) const MANAGED: &str = "app.kubernetes.io/managed-by=iotax";
/// The label with the run.
pub(crate) const RUN: &str = "iotax/run";
/// The label with the number of a pod in its run.
pub(crate) const MEMBER: &str = "iotax/member";
/// If a lease was not renewed for this long, its run is dead.
pub(crate) const LEASE: Duration = Duration::from_mins(1);
/// Length of a run's id, which is a hash.
const ID_LETTERS: usize = 10;

/// The label of a namespace for its Pod Security level.
const ENFORCED: &str = "pod-security.kubernetes.io/enforce";

/// The level of a namespace (Pod Security Standards).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PodSecurity {
    /// Enough for what iotax usually needs.
    Restricted,
    /// Allows directories and networks of nodes, too.
    Privileged,
}

impl PodSecurity {
    /// The lowest level that is enough, depending on whether pods need something of their node.
    pub(crate) fn enough_for(needs_node: bool) -> Self {
        if needs_node { Self::Privileged } else { Self::Restricted }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Restricted => "restricted",
            Self::Privileged => "privileged",
        }
    }
}

/// The run that an object belongs to.
pub(crate) fn run_of(metadata: &ObjectMeta) -> Option<String> {
    metadata.labels.as_ref()?.get(RUN).cloned()
}

/// A run, and the names of its objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) id: String,
}

impl Run {
    /// A new, unique run.
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

    /// The name of a pod by its number, and of its claim.
    pub(crate) fn member(&self, number: usize) -> String {
        format!("{}-{number}", self.name())
    }

    /// Selects its objects.
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

    /// A namespace of its own. No object in it can own it, so its label names the run.
    pub(crate) fn namespace(&self, security: PodSecurity) -> Namespace {
        let mut namespace = json!({ "metadata": { "name": self.name(), "labels": self.labels() } });
        namespace["metadata"]["labels"][ENFORCED] = json!(security.name());
        serde_json::from_value(namespace).expect("it is a namespace")
    }

    /// A Service with an address of the cluster's own, for one port of a pod, with both protocols.
    pub(crate) fn service(&self, member: &Member, port: u16, owner: &Lease) -> Service {
        let number = member.number;
        let port_of = |protocol: &str| {
            let name = protocol.to_lowercase();
            json!({ "name": name, "protocol": protocol, "port": port, "targetPort": port })
        };
        let service = json!({
            "metadata": self.metadata(&self.member(number), owner),
            "spec": {
                "type": "ClusterIP",
                "selector": { RUN: self.id, MEMBER: number.to_string() },
                "ports": [port_of("TCP"), port_of("UDP")],
            },
        });
        serde_json::from_value(service).expect("it is a service")
    }
}
