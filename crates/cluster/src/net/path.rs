//! The paths of a pod network, as they are written.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

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
    /// All of them: what is least in the way comes first.
    pub const ALL: [Self; 5] = [Self::Node, Self::Pod, Self::SameNode, Self::Service, Self::Dns];

    /// As it is written, and as its arm is called.
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

    /// Who connects.
    pub(super) const fn near(self) -> Role {
        match self {
            Self::Node => Role::NearNode,
            _ => Role::Near,
        }
    }

    /// Who is connected to.
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

/// What a pod is for.
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

    /// Whether its network is its node's.
    pub(super) const fn is_on_host_network(self) -> bool {
        matches!(self, Self::NearNode | Self::FarNode)
    }

    /// What people know it by.
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
