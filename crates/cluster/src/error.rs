//! What a cluster does not do, and what to do then.

use std::fmt;
use std::net::IpAddr;

use iotax_experiment::{Blame, Fault};
use iotax_run::AgentError;
use kube::core::Status;

use crate::pending::Pending;

/// What a cluster did not do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not known what an arm is to be.
    #[error(
        "`{text}` is no target in a cluster; write one of these, with @NODE behind it for the node \
         that it is to be used from:\n\
         \x20 class:NAME      a new volume of a storage class\n\
         \x20 block:NAME      the same without a file system\n\
         \x20 ephemeral:NAME  one that lives as long as its pod\n\
         \x20 emptydir        a directory of the node's own disk\n\
         \x20 pvc:NAME        a claim that is there, with --write-to\n\
         \x20 hostpath:/PATH  a directory of the node, with --write-to"
    )]
    Target { text: String },
    /// What is to be added to pods cannot be.
    #[error("this cannot be added to pods: {why}")]
    PodOverrides { why: String },
    /// It is not known which node's directory is meant.
    #[error("`{text}` is a directory of which node? Write {text}@NODE")]
    NoNode { text: String },
    /// A pod uses the claims of its own namespace only.
    #[error(
        "pods in namespace {namespace} cannot use a claim in {theirs}; run this there: \
         --namespace {theirs}"
    )]
    OtherNamespace { namespace: String, theirs: String },
    /// There is no way to a cluster.
    #[error(
        "no cluster is known: {why}\nset KUBECONFIG, name one of its contexts with --context, or \
         run this in a pod with a service account"
    )]
    NoCluster { why: String },
    /// The cluster does not answer.
    #[error("the cluster does not answer ({doing}): {why}")]
    Unreachable { doing: String, why: String },
    /// The user lacks a right; the message is in the cluster's words.
    #[error(
        "not allowed to {verb} {resource} in namespace {namespace}: {message}\n\
         `iotax kube manifest --namespace {namespace}` prints a role that allows all of it"
    )]
    Forbidden { verb: String, resource: String, namespace: String, message: String },
    /// The user may not see which nodes there are.
    #[error(
        "not allowed to list nodes, which takes a right in the whole cluster: {message}\n\
         name them instead, as in --nodes a,b, or have the right given: `kubectl create clusterrole \
         iotax-nodes --verb=list --resource=nodes`, and a binding to it"
    )]
    NodesForbidden { message: String },
    /// The user may not make a namespace.
    #[error(
        "not allowed to {verb} {resource}, which takes a right in the whole cluster: {message}\n\
         leave --create-namespace out, and name a namespace that is there with --namespace"
    )]
    NamespaceForbidden { verb: String, resource: String, message: String },
    /// A namespace that was just made cannot be used.
    #[error(
        "namespace {namespace} has no service account after {}, so that no pod can be made",
        iotax_quantity::span(*seconds)
    )]
    NoServiceAccount { namespace: String, seconds: u64 },
    /// What was asked for breaks a rule of the cluster: quota, limits, Pod Security, a webhook.
    #[error("the cluster refuses to {doing}: {message}\n{advice}")]
    Refused { doing: String, message: String, advice: &'static str },
    /// A pod does not start.
    #[error("{whose}: pod {pod} does not start: {pending}")]
    Pending { whose: String, pod: String, pending: Box<Pending> },
    /// A pod is gone, though nobody of this run removed it.
    #[error("{whose}: pod {pod} is gone; somebody else, or the cluster, has removed it")]
    Gone { whose: String, pod: String },
    /// A pod that ended is not gone, so that no other can have its name.
    #[error("{whose}: pod {pod} is still being deleted; does its node answer?")]
    StillDeleted { whose: String, pod: String },
    /// A claim that the user named is not there.
    #[error("there is no claim {claim} in namespace {namespace}")]
    NoClaim { claim: String, namespace: String },
    /// A claim of the user's has no file system, so that there is no folder to be in.
    #[error(
        "claim {claim} is a raw block volume: all that is on it would be overwritten; measure a new \
         one of its class, with block:NAME"
    )]
    RawClaim { claim: String },
    /// It is not known what path is meant.
    #[error(
        "`{text}` is no path in a cluster; there are these:\n\
         \x20 node       from node to node, on the hosts' network\n\
         \x20 pod        from pod to pod on the other node\n\
         \x20 same-node  from pod to pod on one node\n\
         \x20 service    from pod to Service (ClusterIP)\n\
         \x20 dns        from pod to Service by its name"
    )]
    Path { text: String },
    #[error(
        "both ends are on node {node}; name two nodes with --from and --to, or measure the path \
         within it with --paths same-node"
    )]
    OneNode { node: String },
    /// There is no peer at the far end.
    #[error("`iotax peer` in pod {pod} does not listen: {why}\n--port names another port")]
    NoPeer { pod: String, why: String },
    /// A pod was made again, and paths lead to where it was.
    #[error(
        "pod {pod} was made again and has another address ({now}, before {before}): paths to it end \
         here; measure again"
    )]
    Moved { pod: String, before: IpAddr, now: IpAddr },
    /// Something that this run made is still there.
    #[error(
        "in namespace {namespace}, not everything of run {run} is gone: {what}\n\
         `iotax undo --cluster --namespace {namespace}` removes it"
    )]
    Left { namespace: String, run: String, what: String },
    #[error("stopped while pods were starting")]
    Interrupted,
    /// A file is not what `kubectl get -o json` prints.
    #[error("this is not what `kubectl get -o json` prints: {why}")]
    NoObjects { why: String },
    /// This machine does not allow it.
    #[error("cannot speak with a cluster from here: {0}")]
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
            | Self::NoObjects { .. } => Fault::Usage,
            Self::NoCluster { .. }
            | Self::Unreachable { .. }
            | Self::Forbidden { .. }
            | Self::NodesForbidden { .. }
            | Self::NamespaceForbidden { .. }
            | Self::NoServiceAccount { .. }
            | Self::Refused { .. }
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
    /// Whether the same question may have an answer a little later: an API server, or the kubelet
    /// behind it, that is being restarted.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }
}

/// Codes of servers, and of what is before them, that cannot answer now.
const OVERLOADED: [u16; 4] = [429, 502, 503, 504];

/// Something that is asked of a cluster.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) verb: &'static str,
    pub(crate) resource: &'static str,
}

impl Call {
    pub(crate) const fn new(verb: &'static str, resource: &'static str) -> Self {
        Self { verb, resource }
    }

    /// The error that a failure of it is.
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
        // Admission says no with the same code as authorization, which names what is missing.
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

/// What helps against a refusal, by its words.
fn advice(message: &str) -> &'static str {
    let says = |words: &str| message.contains(words);
    match () {
        () if says("exceeded quota") => {
            "ask for less with --size, --cpu and --memory, or have the quota raised"
        }
        () if says("privileged=true") => {
            "a namespace allows privileged pods with the label \
             pod-security.kubernetes.io/enforce=privileged.\nA new volume of a class can be looked at \
             in a namespace of its own, with --namespace; a claim in its own alone. Without \
             --privileged nothing has to be allowed, and less is seen"
        }
        () if says("Privileged containers are not allowed") => {
            "--privileged takes an account that may use the security context constraint privileged; \
             without it, less is seen"
        }
        () if says("violates PodSecurity") => {
            "the namespace asks for more than Pod Security `restricted`; choose another one"
        }
        () if says("namespaces ") && says(" not found") => {
            "make it with --create-namespace, or name another one with --namespace"
        }
        () if says("is being terminated") => "choose a namespace that stays",
        () if says("maximum ") || says("minimum ") => {
            "a limit range bounds what pods may ask for: choose --cpu and --memory within it"
        }
        () => "ask whoever runs the cluster which rule this is",
    }
}

/// An error and its causes, each said once.
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
