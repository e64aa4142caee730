//! The layers of the system: one file for each, which says what it needs, makes it and unmakes it.
//!
//! To add one: its file here with a type that implements [`System`], one arm in [`steps`], and, if
//! it makes something of a new kind, one variant of [`Entry`](crate::entry::Entry) that says how to
//! undo it. Its word and parameters are in `spec`'s catalogue.

pub(crate) mod cgroup_io;
pub(crate) mod dmcrypt;
mod file_system;
mod fscrypt;
mod gocryptfs;
pub(crate) mod loop_device;
mod luks;
pub(crate) mod nfs;
mod served;
mod tmpfs;

use std::path::PathBuf;

use iotax_spec::{Form, Layer, Stack};

use crate::device;
use crate::error::Error;
use crate::needs::Need;
use crate::workshop::Workshop;

pub(crate) use file_system::names_another;

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
    /// What this machine must have. Looked at before anything is made.
    fn needs(&self) -> Vec<Need>;

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

    /// Makes the layer on top of `below` and says what it gives. Everything it makes that would
    /// outlive this process is announced to the journal before.
    fn make(&self, below: Top, workshop: &mut Workshop<'_>) -> Result<Top, Error>;
}

/// What holds only while load is driven at its arm: from the arm's first turn, or from when it is
/// made, until the end of its turn.
pub(crate) trait Turn: std::fmt::Debug + Send + Sync {
    /// Begins the turn; does nothing if it has begun.
    fn begin(&self) -> Result<(), Error>;

    /// Ends it; does nothing if it has ended.
    fn end(&self) -> Result<(), Error>;
}

/// The layers above the base from bottom to top, in the steps in which they are made: neighbours
/// that one program serves together are one step.
pub(crate) fn steps(layers: &[Layer]) -> Vec<Box<dyn System>> {
    let mut steps: Vec<Box<dyn System>> = Vec::new();
    let mut rest = layers;
    while let Some((layer, above)) = rest.split_first() {
        if let Some((chain, above)) = luks::Luks::leading(rest) {
            steps.push(Box::new(chain));
            rest = above;
            continue;
        }
        rest = above;
        match layer {
            Layer::Loop { direct } => steps.push(Box::new(loop_device::Loop { direct: *direct })),
            Layer::FileSystem(file_system) => steps.push(Box::new(file_system.clone())),
            Layer::Fscrypt => steps.push(Box::new(fscrypt::Fscrypt)),
            Layer::Gocryptfs { cipher } => {
                steps.push(Box::new(gocryptfs::Gocryptfs { cipher: cipher.clone() }));
            }
            Layer::Throttle(throttle) => {
                steps.push(Box::new(served::Limits { throttle: throttle.clone() }));
            }
            Layer::Dmcrypt(crypt) => steps.push(Box::new(crypt.clone())),
            Layer::CgroupIo(limits) => steps.push(Box::new(limits.clone())),
            _ => {}
        }
    }
    steps
}

/// The base, where it is a layer of the system and not a file or directory of the user's.
pub(crate) fn base(layer: &Layer) -> Option<Box<dyn System>> {
    match layer {
        Layer::Vdisk { stack } => Some(Box::new(served::Vdisk { stack: stack.clone() })),
        Layer::Tmpfs { size_bytes } => Some(Box::new(tmpfs::Tmpfs { size_bytes: *size_bytes })),
        Layer::Nfs(nfs) => Some(Box::new(nfs.clone())),
        _ => None,
    }
}

/// What all layers of a stack need.
pub(crate) fn needs(stack: &Stack) -> Vec<Need> {
    let (bottom, above) = stack.layers.split_first().expect("a stack has a base");
    let above = steps(above).into_iter().flat_map(|layer| layer.needs());
    needs_of(bottom).into_iter().chain(above).collect()
}

/// What one layer needs.
pub(crate) fn needs_of(layer: &Layer) -> Vec<Need> {
    if matches!(layer, Layer::Dev { .. }) {
        return device::NEEDS.to_vec();
    }
    let all = base(layer).into_iter().chain(steps(std::slice::from_ref(layer)));
    all.flat_map(|layer| layer.needs()).collect()
}

/// What no other arm may have up while this one is.
pub(crate) fn exclusive(stack: &Stack) -> Vec<String> {
    let (bottom, above) = stack.layers.split_first().expect("a stack has a base");
    let all = base(bottom).into_iter().chain(steps(above));
    all.filter_map(|layer| layer.exclusive()).collect()
}
