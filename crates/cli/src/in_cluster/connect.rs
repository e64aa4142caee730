use iotax_cluster::Cluster;

use crate::args::ClusterArgs;
use crate::exit::Result;

/// The cluster, and the namespace in it, that are asked for.
pub(crate) fn connect(args: &ClusterArgs) -> Result<Cluster> {
    let ClusterArgs { context, namespace } = args;
    let connected = Cluster::connect(context.as_deref(), namespace.as_deref());
    Ok(connected?)
}
