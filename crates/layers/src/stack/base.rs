//! The base of a stack, which holds its bytes.

use std::path::{Path, PathBuf};

use super::vdisk::Vdisk;
use super::{Layer, Stack};
use crate::each::dev::Dev;
use crate::each::dir::Dir;
use crate::each::file::File;
use crate::each::mem::Mem;
use crate::each::nfs::Nfs;
use crate::each::tmpfs::Tmpfs;

/// Where the bytes of a stack are.
#[derive(Debug, Clone, PartialEq)]
pub enum Base<'a> {
    /// In memory, of this process or of the system.
    Memory {
        size_bytes: u64,
    },
    File(&'a File),
    /// In a directory of the user.
    Directory(&'a Path),
    /// On a block device of the user.
    Device(&'a Path),
    /// On a server; the text names the export.
    Server(String),
    /// Nowhere: the base is a network path.
    Network,
    /// In the base of another stack, inside this process.
    Disk(&'a Stack),
}

impl Base<'_> {
    /// Its capacity; `None` if only the machine knows it.
    pub fn size_bytes(&self) -> Option<u64> {
        match self {
            Self::Memory { size_bytes } | Self::File(File { size_bytes, .. }) => Some(*size_bytes),
            Self::Disk(stack) => stack.size_bytes(),
            Self::Directory(_) | Self::Device(_) | Self::Server(_) | Self::Network => None,
        }
    }

    pub fn is_in_memory(&self) -> bool {
        match self {
            Self::Memory { .. } => true,
            Self::Disk(stack) => stack.base().is_some_and(|base| base.is_in_memory()),
            Self::File(_)
            | Self::Directory(_)
            | Self::Device(_)
            | Self::Server(_)
            | Self::Network => false,
        }
    }
}

impl Stack {
    /// Its base.
    pub fn base(&self) -> Option<Base<'_>> {
        self.layers.first()?.base()
    }

    /// Paths that the user gave.
    pub fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        self.layers.iter_mut().flat_map(Layer::paths_mut).collect()
    }
}

impl Layer {
    /// The base that it is, if it is one.
    pub fn base(&self) -> Option<Base<'_>> {
        match self {
            Self::Mem(Mem { size_bytes }) | Self::Tmpfs(Tmpfs { size_bytes }) => {
                Some(Base::Memory { size_bytes: *size_bytes })
            }
            Self::File(file) => Some(Base::File(file)),
            Self::Cloud(cloud) => cloud.made.file().map(Base::File),
            Self::Dir(Dir { path }) => Some(Base::Directory(path)),
            Self::Dev(Dev { path }) => Some(Base::Device(path)),
            Self::Nfs(Nfs { server, export, .. }) => {
                Some(Base::Server(format!("{server}:{export}")))
            }
            Self::Netns(_) | Self::Loopback(_) | Self::Peer(_) | Self::Remote(_) => {
                Some(Base::Network)
            }
            Self::Vdisk(Vdisk { stack }) => Some(Base::Disk(stack)),
            _ => None,
        }
    }

    /// Paths that the user gave.
    pub fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        match self {
            Self::File(file) => file.path.iter_mut().collect(),
            Self::Dir(Dir { path }) | Self::Dev(Dev { path }) => vec![path],
            Self::Peer(peer) => peer.token.iter_mut().collect(),
            Self::Vdisk(Vdisk { stack }) => stack.paths_mut(),
            _ => Vec::new(),
        }
    }
}
