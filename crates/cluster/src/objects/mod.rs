//! What a run makes in a cluster.
//!
//! | module | idea |
//! |---|---|
//! | `run` | the lease that owns everything, labels and names |
//! | `namespace` | where it is all, if a run makes that, too |
//! | `options` | what is asked of pods |
//! | `overrides` | what users add to them |
//! | `volume` | their volumes, and claims |
//! | `pod` | the pods themselves |
//! | `sight` | those that only look |
//! | `service` | what their network ports are reached by |
//! | `quantity` | sizes as Kubernetes writes them |

mod namespace;
mod options;
mod overrides;
mod pod;
mod quantity;
mod run;
mod service;
mod sight;
mod volume;

pub(crate) use namespace::PodSecurity;
pub use options::{Amounts, PodOptions, Toleration};
pub use overrides::PodOverrides;
pub(crate) use pod::{Apart, Container, Member};
pub(crate) use quantity::bytes_of;
pub(crate) use run::{LEASE, MANAGED, Run, run_of};
pub(crate) use sight::{NODE_ROOT, Sight};
