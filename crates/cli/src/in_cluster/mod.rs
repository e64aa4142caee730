//! Experiments in Kubernetes: what is asked for, and their hosts.
//!
//! | module | idea |
//! |---|---|
//! | `connect` | the cluster |
//! | `pods` | what pods are like, by the options |
//! | `volumes` | arms on volumes |
//! | `net` | arms that are network paths |

mod connect;
mod net;
mod pods;
mod volumes;

pub(crate) use self::connect::connect;
pub(crate) use self::net::NetInCluster;
pub(crate) use self::pods::options;
pub(crate) use self::volumes::{InCluster, usable_bytes};
use crate::args::LoadArgs;
use crate::exit::{Result, usage};

/// Refuses options of this machine and of other hosts.
pub(crate) fn refuse_elsewhere(load: &LoadArgs) -> Result<()> {
    if load.agent.is_empty() && load.destroy.is_empty() {
        return Ok(());
    }
    Err(usage(
        "in a cluster, agents are started in pods, and volumes are made: leave out --agent and \
         --destroy",
    ))
}
