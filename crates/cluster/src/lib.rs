//! Arms in Kubernetes: a pod with a volume for each, an agent in it, and nothing left of either.
//!
//! | module | idea |
//! |---|---|
//! | `place` | what an arm may be in a cluster, as it is written |
//! | `placed` | where a pod is: node, zone, cluster |
//! | `connect` | a cluster and a namespace in it; the one place where anything is awaited |
//! | `objects` | what is made: lease, claims, pods; labels and names |
//! | `rights` | what a run must be allowed to do, as a role |
//! | `claims` | claims as the cluster has them: those of the user, and the volumes of all |
//! | `nodes` | the nodes of a cluster, and which of them take a pod |
//! | `job` | a run from inside of the cluster, as YAML |
//! | `pending` | why a pod does not start, from its status and events |
//! | `wait` | waits for pods, and says why while it does |
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
mod claims;
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
mod placed;
mod remove;
mod rights;
mod session;
mod survey;
#[cfg(test)]
mod tests;
mod undo;
mod wait;

pub use connect::Cluster;
pub use error::Error;
pub use host::{ArmsRequest, ClusterHost, Opened, open};
pub use job::{JobOptions, job};
pub use look::{LookRequest, Looked, View, look};
pub use net::{Ends, NetOpened, NetPath, NetRequest, PORT, host_network_refused, open_net};
pub use nodes::{FleetNode, nodes};
pub use objects::{Amounts, PodOptions, PodOverrides, Toleration};
pub use pending::{Cause, Pending};
pub use place::{ArmPlace, Volume};
pub use rights::{manifest, reader_manifest};
pub use session::Note;
pub use survey::{survey, survey_of_file};
pub use undo::{Undone, undo};
