//! A step of a stack of the system, on what is below.

use std::path::PathBuf;

use iotax_experiment::Form;

use crate::build_context::BuildContext;
use crate::error::{Error, Obstacle};
use crate::needs::Missing;

/// What a file of a layer makes it with.
pub(crate) mod prelude {
    pub(crate) use crate::build_context::{BuildContext, Key, Turn, new_token};
    pub(crate) use crate::entry::Entry;
    pub(crate) use crate::error::{Error, Obstacle};
    pub(crate) use crate::layers::maker::{System, Top};
    pub(crate) use crate::mounts;
    pub(crate) use crate::network::{Base, End, Link, Network, NetworkBase, Rate};
    pub(crate) use crate::programs::Program;
}

/// What a layer stands on, or what it gives to the one above.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Top {
    pub(crate) form: Form,
    /// A file, the node of a block device, or a directory. Absolute, without symbolic links.
    pub(crate) path: PathBuf,
    /// Its inode number, where others could put something else in its place.
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
    /// What of it there can be only one of at a time, such as a server that takes the options of
    /// the first mount for all: arms in which it is the same are never up side by side.
    fn exclusive(&self) -> Option<String> {
        None
    }

    /// Bytes that the layer takes for itself from what is below, such as a header.
    fn overhead_bytes(&self) -> u64 {
        0
    }

    /// The least size of what is below that it can be made on, in bytes.
    fn least_bytes(&self) -> u64 {
        0
    }

    /// Bytes that it leaves to files, of so many below it; no more than there will be, whatever the
    /// version of what makes it.
    fn left_for_files(&self, below_bytes: u64) -> u64 {
        below_bytes
    }

    /// What keeps it from being made anywhere.
    fn obstacle(&self) -> Option<Obstacle> {
        None
    }

    /// What it lacks of this machine as it is asked for, beyond what such layers need.
    fn lacks(&self) -> Vec<Missing> {
        Vec::new()
    }

    /// Makes the layer on top of `below` and says what it gives. Everything it makes that would
    /// outlive this process is announced to the journal before.
    fn make(&self, below: Top, context: &mut BuildContext<'_>) -> Result<Top, Error>;
}
