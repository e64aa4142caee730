//! What an arm's target turned out to be.

use std::path::{Path, PathBuf};

use iotax_inspect::{Facts, site};

use crate::error::Obstacle;

/// What an arm's target is, after its paths were examined.
#[derive(Debug, Clone)]
pub(crate) enum ResolvedTarget {
    /// A directory: test files go into a private directory in it.
    Directory(Box<Facts>),
    /// A regular file or block device, which is only read.
    Existing(Box<Facts>),
    /// A virtual disk that iotax has mounted, which may be written.
    OwnDisk(Box<Facts>),
    /// A block device of the user that will be overwritten.
    Device(Box<Facts>),
    /// A stack in memory, or one whose base is made by the system.
    Memory,
    /// A stack on an anonymous file in the working directory. Arms with the same key share the
    /// file. The key is not an absolute path, so it differs from every path that an arm can name.
    Anonymous { facts: Box<Facts>, key: PathBuf },
    /// A stack on its own sparse file without a name, in the working directory.
    Thin(Box<Facts>),
    /// A stack on a file or block device of the user, which is only read.
    OnExisting(Box<Facts>),
    /// A stack on a file that does not exist yet: where it will be, absolute, without symbolic
    /// links, and the directory it will be in.
    OnNew { path: PathBuf, parent: Box<Facts> },
}

impl ResolvedTarget {
    /// The place on a file system or device; `None` for memory.
    pub(crate) fn facts(&self) -> Option<&Facts> {
        match self {
            Self::Memory => None,
            Self::Directory(facts)
            | Self::Existing(facts)
            | Self::OwnDisk(facts)
            | Self::Device(facts)
            | Self::Anonymous { facts, .. }
            | Self::Thin(facts)
            | Self::OnExisting(facts)
            | Self::OnNew { parent: facts, .. } => Some(facts),
        }
    }

    /// The file that has to be made: its path, or the key of an anonymous one.
    pub(crate) fn file_to_make(&self) -> Option<&Path> {
        match self {
            Self::Anonymous { key, .. } => Some(key),
            Self::OnNew { path, .. } => Some(path),
            _ => None,
        }
    }
}

/// The facts about the path of a target or its base, with links followed.
pub(crate) fn look(path: &Path) -> Result<Facts, Obstacle> {
    site(path).map_err(|error| {
        let missing = error.is_not_found();
        let iotax_inspect::Error::Path { source, .. } = error else {
            return Obstacle::Missing;
        };
        if missing { Obstacle::Missing } else { Obstacle::Unreachable(source) }
    })
}
