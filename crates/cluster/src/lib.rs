//! Arms in Kubernetes: a pod with a volume for each arm, and an agent in it. Everything is removed
//! afterwards.
//!
//! | module | idea |
//! |---|---|
//! | `place` | the targets in a cluster, and their syntax |
//! | `connect` | a cluster and a namespace in it; the only place with asynchronous code |
//! | `objects` | the objects of a run: lease, claims, pods; labels and names |
//! | `nodes` | the nodes of a cluster, and which of them accept a pod |
//! | `job` | a run inside the cluster, as YAML |
//! | `pending` | why a pod does not start, from its status and events |
//! | `session` | creates what a run needs, renews its lease, removes everything |
//! | `remove`, `undo` | removes what belongs to a run; finds dead runs |
//! | `agent` | starts agents in a pod, and recreates the pod if it is gone |
//! | `exec` | an agent in a pod, as a pair of blocking streams |
//! | `namespace` | a namespace that a run creates for itself |
//! | `net` | paths between pods, nodes and Services |
//! | `survey` | facts about a cluster for the doctor, without changing anything |
//! | `look` | the storage under a volume, as a pod or its node sees it |
//! | `recorder` | a pod that records a container of another pod |
//! | `pair` | two containers of a pod that share a workload |
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
mod recorder;
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
pub use recorder::{RecordRequest, record};
pub use session::Note;
pub use survey::{survey, survey_of_file};
pub use undo::{Undone, undo};
