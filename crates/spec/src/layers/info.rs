//! What the declaration of a layer says.

use super::{Layer, Need};
use crate::error::Error;
use crate::text::{Arguments, Parameter, Value};
use crate::units::Unit;

/// Every parameter of a layer in the catalog's order; `None` where it is left out.
pub(crate) type Values = Vec<(&'static str, Option<Value>)>;

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
    pub(crate) read: fn(&Arguments<'_>) -> Result<Layer, Error>,
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
    /// A block device.
    Block,
    /// A directory.
    Directory,
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
        }
    }
}

pub(super) const fn parameter(
    name: &'static str,
    unit: Unit,
    default: Option<&'static str>,
    about: &'static str,
) -> Parameter {
    Parameter { name, unit, default, about }
}

/// Disks consist of whole sectors of this size, so that every encryption sector size fits.
const SECTOR_BYTES: u64 = 4096;

/// Of a base that is made.
pub(super) fn disk_size(arguments: &Arguments<'_>) -> Result<u64, Error> {
    let size_bytes = arguments.whole("size")?;
    if size_bytes == 0 || !size_bytes.is_multiple_of(SECTOR_BYTES) {
        let problem = format!("{size_bytes} bytes are not whole sectors of 4096");
        return Err(arguments.refuse("size", problem, "write a multiple of 4k above 0"));
    }
    Ok(size_bytes)
}

pub(super) fn cache_size(arguments: &Arguments<'_>) -> Result<u64, Error> {
    let size_bytes = arguments.whole("size")?;
    if size_bytes < SECTOR_BYTES {
        return Err(arguments.refuse("size", "holds no sector", "write at least 4k"));
    }
    Ok(size_bytes)
}
