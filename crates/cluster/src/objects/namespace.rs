//! The namespace of a run, if it makes one.

use k8s_openapi::api::core::v1::Namespace;
use serde_json::json;

use super::run::Run;

/// The label that says what pods in it may be.
const ENFORCED: &str = "pod-security.kubernetes.io/enforce";

/// What pods in it may be (Pod Security Standards).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PodSecurity {
    /// No more than iotax usually needs.
    Restricted,
    /// Directories and networks of nodes as well.
    Privileged,
}

impl PodSecurity {
    /// What is enough for pods, of which some need what is their node's.
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

impl Run {
    /// A namespace of its own. Nothing in it can own it: its label says whose it is.
    pub(crate) fn namespace(&self, security: PodSecurity) -> Namespace {
        let mut namespace = json!({ "metadata": { "name": self.name(), "labels": self.labels() } });
        namespace["metadata"]["labels"][ENFORCED] = json!(security.name());
        serde_json::from_value(namespace).expect("it is a namespace")
    }
}
