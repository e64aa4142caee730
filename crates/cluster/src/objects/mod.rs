//! What a run makes in a cluster.
//!
//! | module | idea |
//! |---|---|
//! | `run` | the lease that owns everything, labels and names |
//! | `options` | what is asked of pods |
//! | `volume` | their volumes, and claims |
//! | `pod` | the pods themselves |
//! | `sight` | those that only look |
//! | `service` | what their network ports are reached by |
//! | `quantity` | sizes as Kubernetes writes them |

mod options;
mod pod;
mod quantity;
mod run;
mod service;
mod sight;
mod volume;

pub use options::{Amounts, PodOptions, Toleration};
pub(crate) use pod::{Apart, Container, Member};
pub(crate) use quantity::bytes_of;
pub(crate) use run::{LEASE, MANAGED, RUN, Run};
pub(crate) use sight::{NODE_ROOT, Sight};
