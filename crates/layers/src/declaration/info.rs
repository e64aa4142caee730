//! The declaration of a layer.

use super::need::Need;
use crate::units::Unit;

/// A layer as users know it.
pub struct LayerInfo {
    /// Its name in stack text.
    pub name: &'static str,
    /// One line for listings.
    pub about: &'static str,
    /// Stack text that parses.
    pub example: &'static str,
    /// Where the layer runs.
    pub world: World,
    /// The forms that it accepts below it, the one that needs no conversion first; empty for bases.
    pub takes: &'static [Form],
    /// The form that it gives to the layer above; `None` if it passes on the form below it.
    pub gives: Option<Form>,
    /// What it does with the I/O that reaches it.
    pub does: Does,
    /// Who submits the resulting I/O to a block device.
    pub submitter: Submitter,
    /// What it requires of the machine when it runs in the system.
    pub needs: &'static [Need],
    /// Its parameters, in canonical order.
    pub parameters: &'static [Parameter],
}

/// Defaults of in-process layers, except bases.
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

/// Defaults of layers of a network path, except bases.
pub(crate) const ON_NETWORK: LayerInfo = LayerInfo {
    world: World::System,
    takes: &[Form::Ethernet, Form::Network],
    needs: &[Need::Root, Need::IP],
    submitter: Submitter::Nobody,
    ..IN_PROCESS
};

/// Defaults of layers of the system.
pub(crate) const IN_SYSTEM: LayerInfo = LayerInfo { world: World::System, ..IN_PROCESS };

/// Defaults of storage bases.
pub(crate) const BASE: LayerInfo = LayerInfo { takes: &[], does: Does::Holds, ..IN_SYSTEM };

/// Defaults of network bases.
pub(crate) const NETWORK_BASE: LayerInfo =
    LayerInfo { takes: &[], does: Does::Holds, ..ON_NETWORK };

/// One parameter of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// The word before the `=`.
    pub name: &'static str,
    /// How its value is written.
    pub unit: Unit,
    /// Default value as text; `None` if it has none, or is required where the layer says so.
    pub default: Option<&'static str>,
    /// One line for listings.
    pub about: &'static str,
}

/// Where a layer runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// In this process: nothing to install, no root.
    InProcess,
    /// In the system: kernel and other programs.
    System,
    /// Either, the same as the layers around it.
    Both,
}

/// What a layer is to the layer above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A file of fixed size.
    File,
    Block,
    Directory,
    /// A network path of Ethernet frames: iotax's own interfaces at the near end and the far end.
    Ethernet,
    /// A network path of IP packets, with iotax's own interfaces.
    Network,
    /// An address at the end of a network path: usable for load, not for further interfaces.
    Service,
    /// Connections that the load generator itself encrypts: no datagrams, nothing above.
    Connections,
}

/// What a layer does with I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// A base, which holds the bytes.
    Holds,
    /// Only changes the form: a file to a block device, a block device to a directory. The load
    /// needs it, so a peel keeps it.
    Carries,
    /// Encrypts the data.
    Encrypts,
    /// May answer instead of the layers below.
    Caches,
    /// Holds I/O back above a limit.
    Limits,
    /// Passes I/O on, at some cost.
    Passes,
}

/// Who submits I/O to a block device; the kernel applies limits per process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submitter {
    /// The process that drives the load.
    Caller,
    /// Another process.
    Process,
    /// Nobody: the path has no block device.
    Nobody,
}

impl LayerInfo {
    /// Whether it belongs to a network path, not to storage.
    pub fn is_network(&self) -> bool {
        self.gives.or(self.takes.first().copied()).is_some_and(Form::is_network)
    }

    /// Whether it is a base.
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

    /// Whether it is driven with network load.
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
