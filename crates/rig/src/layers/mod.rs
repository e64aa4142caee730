//! The layers of the system: one file for each, which makes it and unmakes it.
//!
//! What a layer is and needs is declared in `spec`. To have one made: its file here, in which its
//! type implements [`System`], and, if it makes something of a new kind, one variant of
//! [`Entry`](crate::entry::Entry) that says how to undo it.

pub(crate) mod cgroup_io;
pub(crate) mod dmcrypt;
mod file_system;
mod fscrypt;
mod given;
mod gocryptfs;
pub(crate) mod loop_device;
mod luks;
pub(crate) mod nfs;
mod served;
mod tmpfs;

use std::path::PathBuf;

use iotax_spec::{Form, Layer, Need, Stack};

use crate::build_context::BuildContext;
use crate::error::{Error, Obstacle};
use crate::vdisk::InProcess;

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

    /// What keeps it from being made anywhere.
    fn obstacle(&self) -> Option<Obstacle> {
        None
    }

    /// Makes the layer on top of `below` and says what it gives. Everything it makes that would
    /// outlive this process is announced to the journal before.
    fn make(&self, below: Top, build_context: &mut BuildContext<'_>) -> Result<Top, Error>;
}

/// Who makes a layer.
pub(crate) enum Maker<'a> {
    /// The user: it is there already.
    Given,
    /// The virtual disk of this process. In the system a file is there already, too.
    InProcess(&'a dyn InProcess),
    /// What this module has for it.
    System(Box<dyn System>),
    /// The one or the other, as the layers around it.
    Both(&'a dyn InProcess, Box<dyn System>),
}

/// What is made: each layer says by whom.
pub(crate) trait Made {
    fn maker(&self) -> Maker<'_>;
}

/// What is a step of its own is made as it was declared.
impl<T: System + Clone + 'static> Made for T {
    fn maker(&self) -> Maker<'_> {
        Maker::System(Box::new(self.clone()))
    }
}

macro_rules! made {
    ($($group:ident { $($module:ident::$Layer:ident,)* })*) => {
        fn made(layer: &Layer) -> &dyn Made {
            match layer {
                $($(Layer::$Layer(layer) => layer,)*)*
            }
        }
    };
}

iotax_spec::each_layer!(made);

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
        if let Some((chain, above)) = luks::Chain::leading(rest) {
            steps.push(Box::new(chain));
            rest = above;
            continue;
        }
        rest = above;
        steps.extend(system(layer));
    }
    steps
}

/// A layer of the system; `None` if it is there already, or lives in this process.
pub(crate) fn system(layer: &Layer) -> Option<Box<dyn System>> {
    match made(layer).maker() {
        Maker::System(system) | Maker::Both(_, system) => Some(system),
        Maker::Given | Maker::InProcess(_) => None,
    }
}

/// A layer of a virtual disk; `None` if it can be none.
pub(crate) fn in_process(layer: &Layer) -> Option<&dyn InProcess> {
    match made(layer).maker() {
        Maker::InProcess(layer) | Maker::Both(layer, _) => Some(layer),
        Maker::Given | Maker::System(_) => None,
    }
}

/// What all layers of a stack need.
pub(crate) fn needs(stack: &Stack) -> impl Iterator<Item = Need> {
    stack.layers.iter().flat_map(|layer| layer.info().needs).copied()
}

/// What no other arm may have up while this one is.
pub(crate) fn exclusive(stack: &Stack) -> Vec<String> {
    let (bottom, above) = stack.layers.split_first().expect("a stack has a base");
    let all = system(bottom).into_iter().chain(steps(above));
    all.filter_map(|layer| layer.exclusive()).collect()
}
