//! Where I/O goes: a path, a disk, the far end of a network path.

mod names;
mod namespace;
mod peer;

use std::fmt;
use std::path::Path;

use iotax_vdisk::VirtualDisk;

pub(crate) use names::{shown, with_flags, within};
pub use namespace::{enter_namespace, within_namespace};
pub use peer::{Peer, PeerSecret, PeerSecrets, Tls, TlsBy, TlsCipher};

/// What load can be driven at.
#[derive(Debug, Clone, Copy)]
pub enum IoTarget<'a> {
    /// A directory, in which test files are laid out; or the user's file or block device, which is
    /// only read.
    Path(&'a Path),
    /// A device, or the file of a virtual disk, that was made for this run or by iotax, and may be
    /// written.
    Own(&'a Path),
    /// A virtual disk of this process.
    Disk(&'a VirtualDisk),
    /// The far end of a network path.
    Peer(&'a Peer),
    /// Several at the same time, by the names that the jobs of a workload have for theirs.
    Several(&'a [(&'a str, IoTarget<'a>)]),
}

impl<'a> IoTarget<'a> {
    /// The path; `None` for what has none.
    pub fn path(self) -> Option<&'a Path> {
        match self {
            Self::Path(path) | Self::Own(path) => Some(path),
            Self::Disk(_) | Self::Peer(_) | Self::Several(_) => None,
        }
    }

    /// Whether all of it may be written, whatever it holds.
    pub fn may_be_overwritten(self) -> bool {
        match self {
            Self::Path(_) => false,
            Self::Own(_) | Self::Disk(_) | Self::Peer(_) => true,
            Self::Several(targets) => targets.iter().all(|(_, one)| one.may_be_overwritten()),
        }
    }
}

/// What people call it.
impl fmt::Display for IoTarget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) | Self::Own(path) => shown(path).display().fmt(f),
            Self::Disk(disk) => disk.fmt(f),
            Self::Peer(peer) => peer.fmt(f),
            Self::Several(targets) => {
                for (at, (name, target)) in targets.iter().enumerate() {
                    write!(f, "{}{name}={target}", if at == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
        }
    }
}
