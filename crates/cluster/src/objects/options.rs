//! What is asked of the pods of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use super::overrides::PodOverrides;

/// What pods are like.
#[derive(Debug, Clone)]
pub struct PodOptions {
    /// The image: iotax of the same version as this one.
    pub image: String,
    pub pull_secrets: Vec<String>,
    /// Size of each volume.
    pub size_bytes: u64,
    /// What each container has.
    pub amounts: Amounts,
    /// If a workload is divided between two containers: what the one that writes has.
    pub driver: Option<Amounts>,
    /// Labels that nodes must have.
    pub node_selector: BTreeMap<String, String>,
    /// What else users have said of them.
    pub overrides: PodOverrides,
    /// Whether the run is to have a namespace of its own.
    pub create_namespace: bool,
    /// Taints of nodes that do not keep them off.
    pub tolerations: Vec<Toleration>,
    /// The user that everything runs as; `None` if the cluster chooses, as OpenShift does.
    pub user: Option<u32>,
    /// How long pods may take to start.
    pub wait: Duration,
}

/// What a container asks for, and is limited to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amounts {
    /// CPUs, as Kubernetes writes them.
    pub cpu: String,
    pub memory_bytes: u64,
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
