//! Which pods paths need, and which node each is on; whether a namespace allows them on their nodes'
//! network.

use std::collections::BTreeSet;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use kube::api::PostParams;

use super::path::{NetPath, Role};
use crate::connect::Cluster;
use crate::error::{Call, Error};
use crate::objects::{Apart, Container, Member, PodOptions, Run};
use crate::placed::ZONE;

const OF_NODES: &str = "kubernetes.io/hostname";

/// Where the two ends are to be.
#[derive(Debug, Clone, Default)]
pub struct Ends {
    /// The node of the near end; `None`: whichever the cluster chooses.
    pub from: Option<String>,
    /// The node of the far end.
    pub to: Option<String>,
    /// Whether they must not be in one zone.
    pub are_across_zones: bool,
}

/// The pods that paths need, each once: first those for which the cluster chooses nodes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// One at each end, which decide where the others are.
    pub(super) leaders: Vec<Role>,
    pub(super) others: Vec<Role>,
}

impl Layout {
    pub(super) fn of(paths: &[NetPath]) -> Self {
        let all: BTreeSet<Role> = paths.iter().flat_map(|path| [path.near(), path.far()]).collect();
        let first = |is_far| all.iter().copied().find(|role| role.is_far() == is_far);
        let leaders: Vec<Role> = [false, true].into_iter().filter_map(first).collect();
        let others = all.into_iter().filter(|role| !leaders.contains(role)).collect();
        Self { leaders, others }
    }

    /// The pods for which the cluster chooses nodes, unless the user did.
    pub(super) fn leaders(&self, ends: &Ends, options: &PodOptions) -> Vec<Member> {
        let topology = if ends.are_across_zones { ZONE } else { OF_NODES };
        let of = |role: &Role| {
            let node = if role.is_far() { &ends.to } else { &ends.from };
            let mut member = member(*role, node.clone(), options);
            let other = self.leaders.iter().find(|other| *other != role);
            member.apart = other.map(|other| Apart { from: *other as usize, topology });
            member
        };
        self.leaders.iter().map(of).collect()
    }
}

pub(super) fn member(role: Role, node: Option<String>, options: &PodOptions) -> Member {
    Member {
        number: role as usize,
        told_as: role.told_as().to_owned(),
        volume: None,
        node,
        apart: None,
        is_on_host_network: role.is_on_host_network(),
        sight: None,
        containers: vec![Container::only(&options.amounts)],
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pod_is_made_once_and_one_at_each_end_decides_where() {
        let of = |paths: &[NetPath]| Layout::of(paths);
        let all = of(&NetPath::ALL);
        assert_eq!(all.leaders, [Role::Near, Role::Far]);
        assert_eq!(all.others, [Role::Beside, Role::NearNode, Role::FarNode]);
        assert_eq!(of(&[NetPath::Node]).leaders, [Role::NearNode, Role::FarNode]);
        // On one node, there is no far one.
        let same = of(&[NetPath::SameNode]);
        assert_eq!((same.leaders, same.others), (vec![Role::Near], vec![Role::Beside]));
        let through = of(&[NetPath::Service, NetPath::Dns]);
        assert_eq!((through.leaders.len(), through.others.len()), (2, 0));
    }
}
