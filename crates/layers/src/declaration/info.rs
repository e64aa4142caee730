//! What the declaration of a layer says.

use super::need::Need;
use crate::units::Unit;

/// One layer as users know it.
pub struct LayerInfo {
    /// The word in stack text.
    pub name: &'static str,
    /// One line for listings.
    pub about: &'static str,
    /// Text that parses.
    pub example: &'static str,
    /// Where the layer lives.
    pub world: World,
    /// The forms of what it can stand on, the one that needs nothing in between first; empty for
    /// bases.
    pub takes: &'static [Form],
    /// The form of what stands on it; `None`: the form it stands on itself.
    pub gives: Option<Form>,
    /// What it does with the I/O that reaches it.
    pub does: Does,
    /// Who submits to a block device what I/O at it leads to there.
    pub submitter: Submitter,
    /// What it needs of the machine when it lives in the system.
    pub needs: &'static [Need],
    /// What can stand between its brackets, in canonical order.
    pub parameters: &'static [Parameter],
}

/// What the layers of this process above its bases have in common.
pub(crate) const IN_PROCESS: LayerInfo = LayerInfo {
    name: "",
    about: "",
    example: "",
    world: World::InProcess,
    takes: &[Form::File],
    gives: None,
    does: Does::Passes,
    submitter: Submitter::Caller,
    needs: &[],
    parameters: &[],
};

/// What the layers of a network path above its bases have in common.
pub(crate) const ON_NETWORK: LayerInfo = LayerInfo {
    world: World::System,
    takes: &[Form::Ethernet, Form::Network],
    needs: &[Need::Root, Need::IP],
    submitter: Submitter::Nobody,
    ..IN_PROCESS
};

/// What the layers of the system have in common.
pub(crate) const IN_SYSTEM: LayerInfo = LayerInfo { world: World::System, ..IN_PROCESS };

/// What the bases of storage have in common.
pub(crate) const BASE: LayerInfo = LayerInfo { takes: &[], does: Does::Holds, ..IN_SYSTEM };

/// What the bases of network paths have in common.
pub(crate) const NETWORK_BASE: LayerInfo =
    LayerInfo { takes: &[], does: Does::Holds, ..ON_NETWORK };

/// One parameter of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// The word before the `=`.
    pub name: &'static str,
    /// How its value is written.
    pub unit: Unit,
    /// Its value when left out, as text; `None`: absent, or required where the layer says so.
    pub default: Option<&'static str>,
    /// One line for listings.
    pub about: &'static str,
}

/// Where a layer lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// In this process: nothing to install, no root.
    InProcess,
    /// In the system: kernel and other programs.
    System,
    /// In the one or the other, as the layers around it.
    Both,
}

/// What a layer is to the one above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A file of fixed size.
    File,
    Block,
    Directory,
    /// A network path of Ethernet frames: an interface of iotax's own at the near end and at the far
    /// one.
    Ethernet,
    /// A network path of IP packets, likewise.
    Network,
    /// An address at the end of a network path: for load, and not for further interfaces.
    Service,
    /// Connections over a network path that load encrypts itself: no datagrams, nothing above.
    Connections,
}

/// What a layer does with I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// Is a base, in which the bytes live.
    Holds,
    /// Only turns what is below into another form: a file into a block device, a block device into
    /// a directory. Without it the load could not be the same, so a peel keeps it.
    Carries,
    /// Computes on the data.
    Encrypts,
    /// May answer instead of what is below.
    Caches,
    /// Holds it back when it is too much.
    Limits,
    /// Passes it on, at some cost.
    Passes,
}

/// Who submits I/O to a block device; the kernel's limits hold for processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submitter {
    /// Whoever drives the load.
    Caller,
    /// Another process.
    Process,
    /// Nobody: there is no block device in the path.
    Nobody,
}

impl LayerInfo {
    /// Whether it is of a network path, or of storage.
    pub fn is_network(&self) -> bool {
        self.gives.or(self.takes.first().copied()).is_some_and(Form::is_network)
    }

    /// Whether bytes live in such a layer.
    pub const fn is_base(&self) -> bool {
        matches!(self.does, Does::Holds)
    }
}

impl Form {
    /// For messages.
    pub const fn with_article(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Block => "a block device",
            Self::Directory => "a directory",
            Self::Ethernet => "an Ethernet path",
            Self::Network => "an IP path",
            Self::Service => "a service address",
            Self::Connections => "a path for TCP connections only",
        }
    }

    /// Whether load over a network is driven at it.
    pub const fn is_network(self) -> bool {
        matches!(self, Self::Ethernet | Self::Network | Self::Service | Self::Connections)
    }
}

pub(crate) const fn parameter(
    name: &'static str,
    unit: Unit,
    default: Option<&'static str>,
    about: &'static str,
) -> Parameter {
    Parameter { name, unit, default, about }
}
