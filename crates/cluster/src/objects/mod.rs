//! What a run makes in a cluster.
//!
//! | module | idea |
//! |---|---|
//! | `run` | the lease that owns everything, labels and names; its namespace and Services |
//! | `options` | what is asked of pods |
//! | `overrides` | what users add to them |
//! | `volume` | their volumes, and claims; sizes as Kubernetes writes them |
//! | `pod` | the pods themselves |
//! | `sight` | those that only look |

mod options;
mod overrides;
mod pod;
mod run;
mod sight;
mod volume;

pub use options::{Amounts, PodOptions, Toleration};
pub use overrides::PodOverrides;
pub(crate) use pod::{Apart, Container, Member};
pub(crate) use run::{LEASE, MANAGED, PodSecurity, Run, run_of};
pub(crate) use sight::{NODE_ROOT, Sight};
pub(crate) use volume::bytes_of;
