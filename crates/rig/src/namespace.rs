//! Network namespaces without a name, held by descriptor.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::thread;

use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::error::Error;

/// A namespace: it lasts as long as something is in it or holds it.
#[derive(Debug)]
pub(crate) struct Namespace {
    file: File,
    path: PathBuf,
}

impl Namespace {
    /// A new one, which only has a loopback interface that is down.
    pub(crate) fn new() -> Result<Self, Error> {
        // By a temporary thread, so that this one stays in its namespace.
        let made =
            thread::spawn(unshare).join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
        let file = made.map_err(Error::cannot(
            "create a network namespace",
            Path::new("/proc/thread-self/ns/net"),
        ))?;
        // Under this process's own number: others, such as `ip`, look for it too.
        let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()).into();
        Ok(Self { file, path })
    }

    /// The path by which other programs can enter it while this process holds it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// To enter it.
    pub(crate) fn file(&self) -> impl AsFd + use<'_> {
        &self.file
    }
}

#[expect(unsafe_code, reason = "a separate thread leaves the shared namespace")]
fn unshare() -> io::Result<File> {
    // SAFETY: of a network namespace nothing but sockets depends, and this thread makes none.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
    File::open("/proc/thread-self/ns/net")
}
