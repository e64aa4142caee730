//! Experiments in Kubernetes: what is asked for, and their hosts.
//!
//! | module | idea |
//! |---|---|
//! | `pods` | what pods are like, by the options |
//! | `volumes` | arms on volumes |
//! | `net` | arms that are network paths |

mod net;
mod pods;
mod volumes;

use iotax_cluster::Cluster;

pub(crate) use self::net::NetInCluster;
pub(crate) use self::pods::options;
pub(crate) use self::volumes::{InCluster, usable_bytes};
use crate::args::{ClusterArgs, LoadArgs};
use crate::exit::{Result, usage};

/// The cluster, and the namespace in it, that are asked for.
pub(crate) fn connect(args: &ClusterArgs) -> Result<Cluster> {
    Ok(Cluster::connect(args.context.as_deref(), args.namespace.as_deref())?)
}

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
