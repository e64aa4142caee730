//! The mount: a virtual disk as a file that any program can use.
//!
//! # What other programs see
//!
//! A directory with two files. `disk` holds the disk's bytes: of fixed size, mode 0600. Its I/O
//! bypasses the page cache, whether opened with `O_DIRECT` or not, so that every I/O reaches the
//! layers; reads and writes need no alignment (a write of part of a block becomes read, modify,
//! write), up to 1 MiB is one I/O, and `fsync` is a flush. Truncating it is refused with `EPERM`
//! (`dd` needs `conv=notrunc`), writing beyond its end with `ENOSPC`, discarding with
//! `EOPNOTSUPP`. `stats.json` is [`VirtualDisk::stats_json`] at the time it was opened.
//!
//! `mmap` goes through the page cache: private mappings work everywhere, shared ones since Linux
//! 6.6 and fail with `ENODEV` before. The process that mounts must not map the file itself: the
//! kernel locks its address space while a page is read or written back, and a thread that serves
//! the request may need that lock, for instance to allocate memory; both then wait for ever.
//! Reading and writing the file in the same process is fine.
//!
//! # How requests are served
//!
//! | module | idea |
//! |---|---|
//! | `kernel` | mounting and unmounting |
//! | `files` | the directory, the two files, their attributes |
//! | `server` | from requests to I/Os of whole blocks, and back |
//! | `slots` | one preallocated I/O for each request in flight |
//! | `ranges` | which reads and writes may be in flight together |
//! | `held` | finished I/Os whose simulated time is not over yet |
//!
//! Several threads receive requests and walk the stack with them. None of them waits for simulated
//! time: so hundreds of delayed or throttled requests can be in flight, and only the real work of
//! the layers, such as reading the backing file, occupies a thread.

#![expect(clippy::vec_box, reason = "I/Os stay boxed while layers and vectors pass them on")]

mod files;
mod held;
mod kernel;
mod ranges;
mod server;
mod slots;

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use fuser::{Config, Session, SessionACL};

use self::files::Files;
use self::kernel::Attached;
use self::server::Server;
use crate::disk::VirtualDisk;
use crate::error::Error;
use crate::handoff::Handoff;

/// How long after unmounting requests may still come before it is clear that the mount lives on
/// in another mount namespace, and has to be cut off there.
const ELSEWHERE: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountOptions {
    /// What the first column of `/proc/mounts` shows; the third shows `fuse.iotax`.
    pub name: String,
    /// Threads that receive requests, at least 1. Each walks one request at a time through the
    /// stack, so this many reads of the backing file can be under way together. `None`: as many as
    /// suit the disk.
    pub threads: Option<usize>,
    /// Refuse to write.
    pub read_only: bool,
}

impl Default for MountOptions {
    /// `iotax`, for reading and writing, with as many threads as suit the disk.
    fn default() -> Self {
        Self { name: "iotax".to_owned(), threads: None, read_only: false }
    }
}

/// A file on a device gets one thread for each of many reads under way. Where threads keep CPUs
/// busy instead, more of them only wake each other up: the kernel wakes the one that has slept
/// longest, whose data is the coldest.
fn suitable_threads(disk: &VirtualDisk) -> usize {
    if disk.0.base().waits() {
        return 32;
    }
    std::thread::available_parallelism().map_or(4, |cpus| cpus.get().clamp(4, 16))
}

/// A mounted disk. Dropping it unmounts.
///
/// Then everything that was written is on the disk, if no file of the mount is open any more. A
/// program that still has a file open is cut off: its present and future I/O fails, and data that
/// it only stored in a mapping and did not sync is lost.
pub struct Mounted {
    attached: Attached,
    disk: VirtualDisk,
    server: Arc<Server>,
    /// Closed when requests have ended.
    ended: Arc<Handoff<Infallible>>,
    session: Option<JoinHandle<()>>,
    holder: Option<JoinHandle<()>>,
}

/// Mounts `disk` at the directory `at`.
///
/// Needs `/dev/fuse`, and root or the helper `fusermount3` (package fuse3).
pub fn mount(disk: &VirtualDisk, at: &Path, options: &MountOptions) -> Result<Mounted, Error> {
    let (attached, channel) = kernel::attach(at, &options.name, options.read_only)?;
    let server = Arc::new(Server::new(disk, options.read_only));
    let ended = Arc::new(Handoff::with_capacity(0));
    // From here on dropping it undoes everything that has been done.
    let mut mounted = Mounted {
        attached,
        disk: disk.clone(),
        server: Arc::clone(&server),
        ended: Arc::clone(&ended),
        session: None,
        holder: None,
    };
    mounted
        .start(channel, options)
        .map_err(|source| Error::Mount { path: mounted.attached.at().to_owned(), source })?;
    Ok(mounted)
}

/// Unmounts the disk at `at`. If a program has a file on it open, the error is
/// [`io::ErrorKind::ResourceBusy`], and nothing has changed. Its server notices the end.
pub fn unmount_unused(at: &Path) -> io::Result<()> {
    kernel::detach_unused(at)
}

impl Mounted {
    fn start(&mut self, channel: std::os::fd::OwnedFd, options: &MountOptions) -> io::Result<()> {
        let server = Arc::clone(&self.server);
        let holder = Builder::new().name("vdisk-held".to_owned());
        self.holder = Some(holder.spawn(move || server.hold())?);

        let mut config = Config::default();
        let threads = options.threads.unwrap_or_else(|| suitable_threads(&self.disk));
        config.n_threads = Some(threads.max(1));
        config.clone_fd = true;
        let files = Files::new(&self.disk, &self.server);
        let session = Session::from_fd(files, channel, SessionACL::All, config)?;
        let ended = Arc::clone(&self.ended);
        let receiver = Builder::new().name("vdisk-fuse".to_owned());
        self.session = Some(receiver.spawn(move || {
            // Ends when the mount does; an error here is the connection's end by another name.
            let _ = session.run();
            ended.close();
        })?);
        Ok(())
    }

    /// The directory it is mounted at, absolute and without links.
    pub fn at(&self) -> &Path {
        self.attached.at()
    }

    pub fn disk(&self) -> &VirtualDisk {
        &self.disk
    }

    /// Sleeps until another program has unmounted it (`umount`, `fusermount3 -u`).
    pub fn wait(&self) {
        let _: Option<Infallible> = self.ended.take();
    }

    /// Whether another program has unmounted it.
    pub fn has_ended(&self) -> bool {
        self.ended.is_closed()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        self.attached.detach();
        // Requests that wait for simulated time, and threads that wait for these, need not any
        // more: nobody is there to be answered, or all have been.
        self.server.release_held();
        if let Some(holder) = self.holder.take() {
            let _ = holder.join();
        }
        if let Some(session) = self.session.take() {
            let _: Option<Infallible> = self.ended.take_within(ELSEWHERE);
            if !self.has_ended() && !self.attached.abort() {
                // Requests can still come, so the threads stay until that mount ends as well.
                return;
            }
            let _ = session.join();
        }
        self.server.leave(&self.disk);
    }
}

impl std::fmt::Debug for Mounted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mounted")
            .field("at", &self.attached.at())
            .field("disk", &self.disk)
            .finish_non_exhaustive()
    }
}
