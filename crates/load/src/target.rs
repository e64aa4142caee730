//! Targets of a load: a path, a disk, or the far end of a network path.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::{fmt, io, thread};

use iotax_vdisk::VirtualDisk;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use zeroize::{Zeroize as _, Zeroizing};

pub(crate) use iotax_vdisk::shown;

/// The target of a load.
#[derive(Debug, Clone, Copy)]
pub enum IoTarget<'a> {
    /// A directory, where test files are laid out; or the user's file or block device, which is
    /// only read.
    Path(&'a Path),
    /// A device or the file of a virtual disk, made by iotax or for this run, which may be written.
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

    /// Whether all of it may be written, whatever it contains.
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

/// Makes a socket in a network namespace; `None` is that of this process. The socket stays there,
/// whichever thread uses it.
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

// The far end of a network path.

/// An iotax that listens at the other end of a network path: `iotax peer`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// Where it listens, as seen from the near end.
    pub address: SocketAddr,
    /// The network namespace that the near end is in, as a file; `None` for that of this process.
    pub namespace: Option<PathBuf>,
    /// The same of the far end, where that is another namespace of this machine.
    pub far_namespace: Option<PathBuf>,
    /// The CPUs from which load is driven unless a job names its own; empty means any.
    pub cpus: Vec<u32>,
    /// The secret that both ends know and prove to each other.
    pub secret: PeerSecret,
    /// Encryption of the load itself, if any.
    pub tls: Option<Tls>,
}

impl Peer {
    /// A peer that this process reaches directly.
    pub fn at(address: SocketAddr, secret: PeerSecret) -> Self {
        Self { address, namespace: None, far_namespace: None, cpus: Vec::new(), secret, tls: None }
    }
}

/// TLS between load and its peer, without a program in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tls {
    /// Who encrypts.
    pub by: TlsBy,
    pub cipher: TlsCipher,
}

/// Who encrypts for TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsBy {
    /// The process itself, as most applications do it.
    Process,
    /// The kernel: the socket takes and gives plain text.
    Kernel,
}

/// The ciphers of TLS 1.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsCipher {
    /// AES with 128 bits.
    Aes128Gcm,
    /// AES with 256 bits.
    Aes256Gcm,
    /// What is fast without instructions for AES.
    ChaCha20Poly1305,
}

/// Secrets of peers that were started elsewhere, by their addresses as in targets (`host:port`).
pub type PeerSecrets = BTreeMap<String, PeerSecret>;

/// Random bytes that only the two ends of a network path know. They are never shown, and are wiped
/// after use.
#[derive(Clone, PartialEq, Eq)]
pub struct PeerSecret(pub [u8; PeerSecret::BYTES]);

impl PeerSecret {
    pub const BYTES: usize = 32;

    /// As hexadecimal text: the token that users copy.
    pub fn text(&self) -> Zeroizing<String> {
        use std::fmt::Write as _;
        let mut text = Zeroizing::new(String::with_capacity(2 * Self::BYTES));
        for byte in &self.0 {
            write!(text, "{byte:02x}").expect("writing to a string");
        }
        text
    }

    /// Reads a token; `None` if it is not valid.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_token = text.len() == 2 * Self::BYTES && text.bytes().all(|b| b.is_ascii_hexdigit());
        let byte = |at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok();
        let bytes: Option<Vec<u8>> =
            (0..if is_token { Self::BYTES } else { 0 }).map(byte).collect();
        Some(Self(bytes?.try_into().ok()?))
    }
}

impl Drop for PeerSecret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for PeerSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PeerSecret")
    }
}

/// What people call it.
impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tcp://{}", self.address)
    }
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
