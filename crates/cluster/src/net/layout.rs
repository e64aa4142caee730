//! The pods that paths need and their nodes, and whether a namespace allows them on the network of
//! their nodes.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use kube::api::PostParams;

use crate::connect::Cluster;
use crate::error::{Call, Error};
use crate::host::ZONE;
use crate::objects::{Apart, Container, Member, PodOptions, Run};

const OF_NODES: &str = "kubernetes.io/hostname";

/// The nodes of the two ends.
#[derive(Debug, Clone, Default)]
pub struct Ends {
    /// The node of the near end; with `None`, the cluster chooses.
    pub from: Option<String>,
    /// The node of the far end.
    pub to: Option<String>,
    /// Whether they must not be in one zone.
    pub are_across_zones: bool,
}

/// The pods that paths need, each once. Those for which the cluster chooses nodes come first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// One pod at each end; they determine the nodes of the others.
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
        recording: None,
        containers: vec![Container::only(&options.amounts)],
    }
}

/// Why pods must not use the network of their nodes; `None` if they may, or if that is unknown.
/// This is a dry run, so nothing is created.
///
/// # Errors
/// If the cluster cannot be asked.
pub fn host_network_refused(
    cluster: &Cluster,
    options: &PodOptions,
) -> Result<Option<String>, Error> {
    let refused = |role| would_refuse(cluster, role, options);
    // Reasons that apply to any pod are reported when one is created.
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

// The paths of a pod network, and their syntax.

/// A path between two ends in a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetPath {
    /// From node to node, through the nodes' own network.
    Node,
    /// From pod to pod on the other node.
    Pod,
    /// From pod to pod on one node.
    SameNode,
    /// From pod to Service, whose pod is on the other node.
    Service,
    /// The same, by the Service's name.
    Dns,
}

impl NetPath {
    /// All of them, the most direct one first.
    pub const ALL: [Self; 5] = [Self::Node, Self::Pod, Self::SameNode, Self::Service, Self::Dns];

    /// Its text, which is also the name of its arm.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Pod => "pod",
            Self::SameNode => "same-node",
            Self::Service => "service",
            Self::Dns => "dns",
        }
    }

    /// Whether it leads through a Service, which has one port.
    pub const fn is_through_service(self) -> bool {
        matches!(self, Self::Service | Self::Dns)
    }

    /// The pod that connects.
    pub(super) const fn near(self) -> Role {
        match self {
            Self::Node => Role::NearNode,
            _ => Role::Near,
        }
    }

    /// The pod that is connected to.
    pub(super) const fn far(self) -> Role {
        match self {
            Self::Node => Role::FarNode,
            Self::SameNode => Role::Beside,
            Self::Pod | Self::Service | Self::Dns => Role::Far,
        }
    }
}

impl FromStr for NetPath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let path = Self::ALL.into_iter().find(|path| path.name() == text);
        path.ok_or_else(|| Error::Path { text: text.to_owned() })
    }
}

impl fmt::Display for NetPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The role of a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// The near end of paths of pods.
    Near,
    /// Their far end.
    Far,
    /// The far end on the near end's node.
    Beside,
    /// The near end on its node's own network.
    NearNode,
    /// The far end on its node's own network.
    FarNode,
}

impl Role {
    /// Whether it is on the node of the far end.
    pub(super) const fn is_far(self) -> bool {
        matches!(self, Self::Far | Self::FarNode)
    }

    /// Whether a peer is in it, and no agent.
    pub(super) const fn has_peer(self) -> bool {
        matches!(self, Self::Far | Self::Beside | Self::FarNode)
    }

    /// Whether it uses the network of its node.
    pub(super) const fn is_on_host_network(self) -> bool {
        matches!(self, Self::NearNode | Self::FarNode)
    }

    /// Its name in messages.
    pub(super) const fn told_as(self) -> &'static str {
        match self {
            Self::Near => "near end",
            Self::Far => "far end",
            Self::Beside => "far end on the same node",
            Self::NearNode => "near end on its node's network",
            Self::FarNode => "far end on its node's network",
        }
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
