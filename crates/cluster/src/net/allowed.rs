//! Whether a namespace allows pods on their nodes' network.

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use kube::api::PostParams;

use super::layout::member;
use super::path::Role;
use crate::connect::Cluster;
use crate::error::{Call, Error};
use crate::objects::{PodOptions, Run};

/// Why pods must not be on their nodes' network; `None` if they may, or it is not known. Nothing is
/// made: the cluster is asked what it would say.
///
/// # Errors
/// Whatever keeps the cluster from being asked.
pub fn host_network_refused(
    cluster: &Cluster,
    options: &PodOptions,
) -> Result<Option<String>, Error> {
    let refused = |role| would_refuse(cluster, role, options);
    // What any pod is refused for is told when one is made.
    Ok(match (refused(Role::NearNode)?, refused(Role::Near)?) {
        (Some(why), None) => Some(why),
        _ => None,
    })
}

fn would_refuse(
    cluster: &Cluster,
    role: Role,
    options: &PodOptions,
) -> Result<Option<String>, Error> {
    let mut pod = Run::new().pod(&member(role, None, options), options, &Lease::default());
    pod.metadata.owner_references = None;
    let how = PostParams { dry_run: true, ..PostParams::default() };
    let pods = cluster.api::<Pod>();
    match cluster.ask(Call::new("create", "pods"), pods.create(&how, &pod)) {
        Ok(_) => Ok(None),
        Err(Error::Refused { message, .. }) => Ok(Some(message)),
        Err(error) => Err(error),
    }
}
