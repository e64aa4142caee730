//! Where the bytes of a stack live.

use std::path::Path;

use super::File;
use crate::stack::Stack;

/// Where bytes live.
#[derive(Debug, Clone, PartialEq)]
pub enum Base<'a> {
    /// In memory, of this process or of the system.
    Memory {
        /// Capacity.
        size_bytes: u64,
    },
    /// In a file.
    File(&'a File),
    /// In a directory of the user's.
    Directory(&'a Path),
    /// On a block device of the user's.
    Device(&'a Path),
    /// On a server: what of it, however it is reached.
    Server(String),
    /// Where those of another stack live, which is of this process.
    Disk(&'a Stack),
}

impl Base<'_> {
    /// Its capacity; `None` if only the machine knows it.
    pub(crate) fn size_bytes(&self) -> Option<u64> {
        match self {
            Self::Memory { size_bytes } | Self::File(File { size_bytes, .. }) => Some(*size_bytes),
            Self::Disk(stack) => stack.size_bytes(),
            Self::Directory(_) | Self::Device(_) | Self::Server(_) => None,
        }
    }

    pub(crate) fn is_in_memory(&self) -> bool {
        match self {
            Self::Memory { .. } => true,
            Self::Disk(stack) => stack.base().is_some_and(|base| base.is_in_memory()),
            Self::File(_) | Self::Directory(_) | Self::Device(_) | Self::Server(_) => false,
        }
    }
}
