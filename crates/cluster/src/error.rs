//! Errors of a cluster, and what to do about them.

use std::fmt;
use std::net::IpAddr;

use iotax_experiment::{Blame, Fault};
use iotax_run::AgentError;
use kube::core::Status;

use crate::pending::Pending;

/// Errors of a cluster.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An invalid target.
    #[error(
        "`{text}` is not a cluster target; use one of these, with @NODE at the end to choose the \
         pod's node:\n\
         \x20 class:NAME      a new volume of a storage class\n\
         \x20 block:NAME      the same, but without a file system\n\
         \x20 ephemeral:NAME  a new volume that is deleted with its pod\n\
         \x20 emptydir        a directory on the node's disk\n\
         \x20 pvc:NAME        an existing claim (requires --write-to)\n\
         \x20 hostpath:/PATH  a directory on the node (requires --write-to)"
    )]
    Target { text: String },
    /// Invalid overrides of pods.
    #[error("these settings cannot be added to pods: {why}")]
    PodOverrides { why: String },
    /// A directory of a node without the node.
    #[error("`{text}` needs a node name: {text}@NODE")]
    NoNode { text: String },
    /// A pod can only use claims of its own namespace.
    #[error(
        "pods in namespace {namespace} cannot use a claim in {theirs}; use that namespace: \
         --namespace {theirs}"
    )]
    OtherNamespace { namespace: String, theirs: String },
    /// There is no usable configuration of a cluster.
    #[error(
        "no cluster is configured: {why}\nset KUBECONFIG, choose one of its contexts with \
         --context, or run iotax in a pod with a service account"
    )]
    NoCluster { why: String },
    /// The cluster does not answer.
    #[error("the cluster does not respond ({doing}): {why}")]
    Unreachable { doing: String, why: String },
    /// The user lacks a right; the message is in the cluster's words.
    #[error(
        "not allowed to {verb} {resource} in namespace {namespace}: {message}\n\
          `iotax kube manifest --namespace {namespace}` prints a role with all required permissions"
    )]
    Forbidden { verb: String, resource: String, namespace: String, message: String },
    /// The user may not list nodes.
    #[error(
        "not allowed to list nodes, which requires a cluster-wide permission: {message}\nname the \
         nodes, for example --nodes a,b, or ask an administrator to create this role and bind it \
         to you: `kubectl create clusterrole iotax-nodes --verb=list --resource=nodes`"
    )]
    NodesForbidden { message: String },
    /// The user may not make a namespace.
    #[error(
        "not allowed to {verb} {resource}, which requires a cluster-wide permission: {message}\n\
         leave out --create-namespace, and name an existing namespace with --namespace"
    )]
    NamespaceForbidden { verb: String, resource: String, message: String },
    /// A namespace that was just made cannot be used.
    #[error(
        "namespace {namespace} still has no service account after {}, so no pod can be created",
        iotax_quantity::span(*seconds)
    )]
    NoServiceAccount { namespace: String, seconds: u64 },
    /// The request breaks a rule of the cluster: quota, limits, Pod Security, a webhook.
    #[error("the cluster refuses to {doing}: {message}\n{advice}")]
    Refused { doing: String, message: String, advice: &'static str },
    /// There is no such pod to record.
    #[error("there is no pod {pod} in namespace {namespace}; {}", meant(similar))]
    NoPod { pod: String, namespace: String, similar: Vec<String> },
    #[error(
        "pod {pod} is not running (phase {phase}), so it cannot be recorded; see \
         `kubectl describe pod {pod}`"
    )]
    PodNotRunning { pod: String, phase: String },
    #[error(
        "pod {pod} has several containers; choose the one to record: --container {}",
        containers.join(", --container ")
    )]
    SeveralContainers { pod: String, containers: Vec<String> },
    #[error("pod {pod} has no container {container}; it has: {}", containers.join(", "))]
    NoContainer { pod: String, container: String, containers: Vec<String> },
    #[error("container {container} of pod {pod} is not running: {why}")]
    ContainerNotRunning { pod: String, container: String, why: String },
    /// A recorder must be privileged.
    #[error(
        "recording needs a privileged pod on the node, and the cluster does not allow it in \
         namespace {namespace}: {message}\n\
         choose a namespace that allows privileged pods with --recorder-namespace, create one for \
         this recording with --create-namespace, or allow them in this one: \
         `kubectl label namespace {namespace} --overwrite \
         pod-security.kubernetes.io/enforce=privileged`. On OpenShift, the pod needs a service \
         account that can use the security context constraint `privileged` (--pod-overrides)"
    )]
    RecorderRefused { namespace: String, message: String },
    /// A pod does not start.
    #[error("{whose}: pod {pod} does not start: {pending}")]
    Pending { whose: String, pod: String, pending: Box<Pending> },
    /// A pod is gone, although this run did not remove it.
    #[error("{whose}: pod {pod} is gone; the cluster or another user removed it")]
    Gone { whose: String, pod: String },
    /// A pod that ended is not gone, so no other can have its name.
    #[error("{whose}: pod {pod} is still being deleted; check that its node responds")]
    StillDeleted { whose: String, pod: String },
    /// A claim that the user named does not exist.
    #[error("there is no claim {claim} in namespace {namespace}")]
    NoClaim { claim: String, namespace: String },
    /// A claim of the user has no file system, so there is no directory for test files.
    #[error(
        "claim {claim} is a raw block volume, and all data on it would be overwritten; measure a \
         new volume of its class with block:NAME"
    )]
    RawClaim { claim: String },
    /// An invalid path.
    #[error(
        "`{text}` is not a cluster path; use one of these:\n\
         \x20 node       from node to node, on the host network\n\
         \x20 pod        from pod to pod on another node\n\
         \x20 same-node  from pod to pod on one node\n\
         \x20 service    from pod to Service (ClusterIP)\n\
         \x20 dns        from pod to Service, reached by name"
    )]
    Path { text: String },
    #[error(
        "both ends are on node {node}; name two nodes with --from and --to, or measure the path \
         within that node with --paths same-node"
    )]
    OneNode { node: String },
    /// The peer at the far end does not listen.
    #[error("`iotax peer` in pod {pod} is not listening: {why}\nchoose another port with --port")]
    NoPeer { pod: String, why: String },
    /// A pod was recreated, and paths lead to its old address.
    #[error(
        "pod {pod} was recreated with another address ({now}, previously {before}), so paths to it \
         can no longer be measured; start a new run"
    )]
    Moved { pod: String, before: IpAddr, now: IpAddr },
    /// Something that this run created still exists.
    #[error(
        "run {run} left resources behind in namespace {namespace}: {what}\n\
         `iotax undo --cluster --namespace {namespace}` removes them"
    )]
    Left { namespace: String, run: String, what: String },
    #[error("stopped while pods were starting")]
    Interrupted,
    /// A file is not what `kubectl get -o json` prints.
    #[error("this is not the output of `kubectl get -o json`: {why}")]
    NoObjects { why: String },
    /// This machine does not allow it.
    #[error("cannot connect to a cluster from here: {0}")]
    Here(#[from] std::io::Error),
}

impl Blame for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::Target { .. }
            | Self::PodOverrides { .. }
            | Self::NoNode { .. }
            | Self::OtherNamespace { .. }
            | Self::NoClaim { .. }
            | Self::Path { .. }
            | Self::OneNode { .. }
            | Self::RawClaim { .. }
            | Self::NoPod { .. }
            | Self::SeveralContainers { .. }
            | Self::NoContainer { .. }
            | Self::NoObjects { .. } => Fault::Usage,
            Self::NoCluster { .. }
            | Self::Unreachable { .. }
            | Self::Forbidden { .. }
            | Self::NodesForbidden { .. }
            | Self::NamespaceForbidden { .. }
            | Self::NoServiceAccount { .. }
            | Self::Refused { .. }
            | Self::RecorderRefused { .. }
            | Self::PodNotRunning { .. }
            | Self::ContainerNotRunning { .. }
            | Self::Pending { .. }
            | Self::Gone { .. }
            | Self::StillDeleted { .. }
            | Self::NoPeer { .. }
            | Self::Moved { .. }
            | Self::Left { .. }
            | Self::Here(_) => Fault::Environment,
            Self::Interrupted => Fault::Interrupted,
        }
    }
}

impl From<Error> for iotax_run::Error {
    fn from(error: Error) -> Self {
        AgentError::Failed { error: error.to_string(), fault: error.fault() }.into()
    }
}

impl Error {
    /// For the pod of a recorder: says what it means if privileged pods are refused.
    pub(crate) fn of_recorder(self, namespace: &str) -> Self {
        // Of Pod Security, and of OpenShift's security context constraints.
        const REFUSALS: [&str; 3] = [
            "violates PodSecurity",
            "Privileged containers are not allowed",
            "Host PID is not allowed",
        ];
        match self {
            Self::Refused { message, .. } if REFUSALS.iter().any(|one| message.contains(one)) => {
                Self::RecorderRefused { namespace: namespace.to_owned(), message }
            }
            other => other,
        }
    }

    /// Whether the same request may succeed a little later, because an API server or a kubelet is
    /// being restarted.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }
}

/// Pods that the user may have meant, as many as can be read at a glance.
fn meant(similar: &[String]) -> String {
    const MOST: usize = 8;
    match similar {
        [] => "choose another namespace with --namespace".to_owned(),
        _ if similar.len() <= MOST => format!("similar names: {}", similar.join(", ")),
        _ => {
            let more = similar.len() - MOST;
            format!("similar names: {} and {more} more", similar[..MOST].join(", "))
        }
    }
}

/// Status codes of overloaded servers and proxies.
const OVERLOADED: [u16; 4] = [429, 502, 503, 504];

/// A request to a cluster.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) verb: &'static str,
    pub(crate) resource: &'static str,
}

impl Call {
    pub(crate) const fn new(verb: &'static str, resource: &'static str) -> Self {
        Self { verb, resource }
    }

    /// Its error if it fails.
    pub(crate) fn failed(self, namespace: &str, error: &kube::Error) -> Error {
        let doing = self.to_string();
        match error {
            kube::Error::Api(status) if OVERLOADED.contains(&status.code) => {
                Error::Unreachable { doing, why: status.message.clone() }
            }
            kube::Error::Api(status) => self.refused(namespace, status),
            other => Error::Unreachable { doing, why: causes(other) },
        }
    }

    fn refused(self, namespace: &str, status: &Status) -> Error {
        let (namespace, message) = (namespace.to_owned(), status.message.clone());
        // Admission fails with the same code as authorization, whose message names what is missing.
        if let Some((verb, resource)) = missing(&message) {
            return Error::Forbidden { verb, resource, namespace, message };
        }
        Error::Refused { doing: self.to_string(), advice: advice(&message), message }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)
    }
}

/// The verb and resource that a user lacks: `User "eve" cannot create resource "pods" in ...`.
fn missing(message: &str) -> Option<(String, String)> {
    let (verb, rest) = message.split_once(" cannot ")?.1.split_once(" resource \"")?;
    let (resource, _) = rest.split_once('"')?;
    Some((verb.to_owned(), resource.to_owned()))
}

/// Advice for a refusal, by its message.
fn advice(message: &str) -> &'static str {
    let says = |words: &str| message.contains(words);
    match () {
        () if says("exceeded quota") => {
            "request less with --size, --cpu and --memory, or ask for a higher quota"
        }
        () if says("privileged=true") => {
            "to allow privileged pods, set the namespace label \
             pod-security.kubernetes.io/enforce=privileged.\nA new volume of a class can be \
             examined in any namespace (--namespace), a claim only in its own. Without \
             --privileged, no label is needed, but iotax sees less"
        }
        () if says("Privileged containers are not allowed") => {
            "--privileged requires an account that can use the security context constraint \
             `privileged`; without --privileged, iotax sees less"
        }
        () if says("violates PodSecurity") => {
            "the namespace has stricter rules than Pod Security `restricted`; choose another \
             namespace"
        }
        () if says("namespaces ") && says(" not found") => {
            "create the namespace with --create-namespace, or name another with --namespace"
        }
        () if says("is being terminated") => "choose a namespace that is not being deleted",
        () if says("maximum ") || says("minimum ") => {
            "a limit range restricts what pods can request; choose --cpu and --memory within its \
             limits"
        }
        () => "ask the cluster administrator which rule rejects this",
    }
}

/// An error and its causes, each once.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_said = cause.to_string();
        if !said.contains(&cause_said) {
            said = format!("{said}: {cause_said}");
        }
        next = cause.source();
    }
    said
}
