//! Arms in Kubernetes: a pod with a volume for each, an agent in it, and nothing left of either.
//!
//! | module | idea |
//! |---|---|
//! | `place` | what an arm may be in a cluster, as it is written |
//! | `connect` | a cluster and a namespace in it; the one place where anything is awaited |
//! | `objects` | what is made: lease, claims, pods; labels and names |
//! | `nodes` | the nodes of a cluster, and which of them take a pod |
//! | `job` | a run from inside of the cluster, as YAML |
//! | `pending` | why a pod does not start, from its status and events |
//! | `session` | makes what a run needs, renews its lease, removes everything |
//! | `remove`, `undo` | removes what belongs to a run; which runs are dead |
//! | `agent` | starts agents in a pod, and the pod again where it is gone |
//! | `exec` | an agent in a pod, as a pair of blocking streams |
//! | `namespace` | one that a run makes for itself |
//! | `net` | paths between pods, nodes and Services |
//! | `survey` | what a cluster is like, for the doctor: read, never changed |
//! | `look` | what a pod, or its node, sees under a volume |
//! | `pair` | two containers of a pod that do a workload together |
//! | `host` | agents in pods as a [`iotax_run::Host`] |
#![forbid(unsafe_code)]

mod agent;
mod connect;
mod error;
mod exec;
mod host;
mod job;
mod look;
mod namespace;
mod net;
mod nodes;
mod objects;
mod pair;
mod pending;
mod place;
mod remove;
mod session;
mod survey;
#[cfg(test)]
mod tests;
mod undo;

pub use connect::Cluster;
pub use error::Error;
pub use host::{ArmsRequest, ClusterHost, Opened, open};
pub use job::{JobOptions, job, manifest, reader_manifest};
pub use look::{LookRequest, Looked, View, look};
pub use net::{Ends, NetOpened, NetPath, NetRequest, PORT, host_network_refused, open_net};
pub use nodes::{FleetNode, nodes};
pub use objects::{Amounts, PodOptions, PodOverrides, Toleration};
pub use pending::{Cause, Pending};
pub use place::{ArmPlace, Volume};
pub use session::Note;
pub use survey::{survey, survey_of_file};
pub use undo::{Undone, undo};
