//! How a layer of the system is made on top of the layer below.

use std::path::PathBuf;

use iotax_experiment::Form;

use crate::build_context::BuildContext;
use crate::error::{Error, Obstacle};
use crate::needs::Missing;

/// Imports for the files of layers.
pub(crate) mod prelude {
    pub(crate) use crate::build_context::{BuildContext, Key, Turn, new_token};
    pub(crate) use crate::entry::Entry;
    pub(crate) use crate::error::{Error, Obstacle};
    pub(crate) use crate::layers::maker::{System, Top};
    pub(crate) use crate::mounts;
    pub(crate) use crate::network::{Base, End, Link, Network, NetworkBase, Rate};
    pub(crate) use crate::programs::Program;
}

/// The top of a stack: what the next layer is made on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Top {
    pub(crate) form: Form,
    /// A file, the node of a block device, or a directory. Absolute, without symbolic links.
    pub(crate) path: PathBuf,
    /// Its inode number, if other users could replace it.
    pub(crate) inode: Option<u64>,
}

impl Top {
    pub(crate) fn file(path: impl Into<PathBuf>) -> Self {
        Self { form: Form::File, path: path.into(), inode: None }
    }

    pub(crate) fn block(path: impl Into<PathBuf>) -> Self {
        Self { form: Form::Block, path: path.into(), inode: None }
    }

    pub(crate) fn directory(path: impl Into<PathBuf>) -> Self {
        Self { form: Form::Directory, path: path.into(), inode: None }
    }
}

/// A layer of the system.
pub(crate) trait System {
    /// A resource of the layer that can exist only once at a time, such as a server that uses the
    /// options of the first mount for all. Arms with the same resource are never up together.
    fn exclusive(&self) -> Option<String> {
        None
    }

    /// Bytes that the layer uses itself of the layer below, such as a header.
    fn overhead_bytes(&self) -> u64 {
        0
    }

    /// The minimum size of the layer below, in bytes.
    fn least_bytes(&self) -> u64 {
        0
    }

    /// Bytes for files, with `below_bytes` below the layer. Never more than there will be, with any
    /// version of the tools.
    fn left_for_files(&self, below_bytes: u64) -> u64 {
        below_bytes
    }

    /// A reason why it cannot be made on any machine.
    fn obstacle(&self) -> Option<Obstacle> {
        None
    }

    /// What this machine lacks for the requested options, beyond the general needs of the layer.
    fn lacks(&self) -> Vec<Missing> {
        Vec::new()
    }

    /// Makes the layer on top of `below` and returns the new top. Everything that would outlive
    /// this process is announced to the journal first.
    fn make(&self, below: Top, context: &mut BuildContext<'_>) -> Result<Top, Error>;
}
