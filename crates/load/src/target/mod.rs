//! Where I/O goes: a path, a disk, the far end of a network path.

mod peer;

pub(crate) use iotax_vdisk::shown;
pub use peer::{Peer, PeerSecret, PeerSecrets, Tls, TlsBy, TlsCipher};

use std::fs::{File, OpenOptions};
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::{fmt, io, thread};

use iotax_vdisk::VirtualDisk;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

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

/// Options for a file within a directory of ours, to be completed.
pub(crate) fn within() -> OpenOptions {
    with_flags(0)
}

/// The same with further flags of open(2).
pub(crate) fn with_flags(flags: i32) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags(flags | libc::O_NOFOLLOW);
    options
}

/// Moves the calling thread to a network namespace.
///
/// # Errors
/// If there is no namespace of that kind at that path, or this process may not enter it.
pub fn enter_namespace(namespace: &Path) -> io::Result<()> {
    let namespace = File::open(namespace)?;
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
    Ok(())
}

/// Makes a socket in a network namespace, `None` being that of this process. There it stays, whoever
/// uses it; threads that make no other sockets stay where they are.
///
/// # Errors
/// As [`enter_namespace`], and those of `make`.
pub fn within_namespace<T: Send>(
    namespace: Option<&Path>,
    make: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    let Some(namespace) = namespace else { return make() };
    let enter_and_make = || {
        enter_namespace(namespace)?;
        make()
    };
    thread::scope(|scope| scope.spawn(enter_and_make).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn links_in_a_directory_of_ours_are_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let (precious, link) = (directory.path().join("precious"), directory.path().join("job.0"));
        fs::write(&precious, "theirs").unwrap();
        std::os::unix::fs::symlink(&precious, &link).unwrap();
        let refused = within().write(true).create(true).open(&link).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::ELOOP));
    }
}
