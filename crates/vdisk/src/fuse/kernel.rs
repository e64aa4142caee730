//! Mounting and unmounting.

use std::ffi::CString;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags, open, openat, statx};
use rustix::io::{Errno, IoSliceMut};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{getgid, getuid};

use crate::error::Error;

const DEVICE: &str = "/dev/fuse";
const SUBTYPE: &str = "iotax";
/// Mounts for users without the privilege; installed setuid root.
const HELPER: &str = "fusermount3";
/// From the kernel's `uapi/linux/stat.h`.
const STATX_MNT_ID_UNIQUE: u32 = 0x4000;

/// A mount of ours.
pub(super) struct Attached {
    /// Where, absolute and without links.
    at: PathBuf,
    /// The directory that the mount point is in, whatever becomes of its name. What is a mount
    /// point cannot be renamed, but what leads there can.
    parent: OwnedFd,
    identity: Identity,
}

/// Tells a mount from another one at the same place.
#[derive(PartialEq, Eq)]
struct Identity {
    /// Also the name of the connection. The kernel uses the number again later.
    device_minor: u32,
    /// Unique since Linux 6.8; the number of a mount that is gone may come back before that.
    mount: u64,
}

/// Mounts at `at`, with `name` in the first column of `/proc/mounts`. Returns the mount and the
/// kernel's end of it.
pub(super) fn attach(at: &Path, name: &str, read_only: bool) -> Result<(Attached, OwnedFd), Error> {
    let failed = |source| Error::Mount { path: at.to_owned(), source };
    // From here on by descriptor: somebody who may rename it may put a link in its place.
    let directory = open(at, PLACE, Mode::empty()).map_err(|errno| failed(errno.into()))?;
    let held = entry_of(&directory);
    let channel = match by_system_call(&held, name, read_only)? {
        Ok(channel) => channel,
        Err(Errno::PERM) => {
            by_helper(&named(&directory).map_err(failed)?, name, read_only).map_err(failed)?
        }
        Err(errno) => return Err(failed(errno.into())),
    };
    let attached = || {
        let at = named(&directory)?;
        let parent = openat(&directory, "..", PLACE, Mode::empty())?;
        let identity = identity_at(&parent, &at)?;
        Ok(Attached { at, parent, identity })
    };
    Ok((attached().map_err(failed)?, channel))
}

/// Flags of a descriptor that is only a place.
const PLACE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Where it lies, absolute and without links, as the kernel tells.
fn named(directory: &OwnedFd) -> io::Result<PathBuf> {
    std::fs::read_link(entry_of(directory))
}

/// How a descriptor is used where the kernel takes paths only.
fn entry_of(place: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", place.as_raw_fd()))
}

fn by_system_call(at: &Path, name: &str, read_only: bool) -> Result<Result<OwnedFd, Errno>, Error> {
    let device = OpenOptions::new().read(true).write(true).open(DEVICE);
    let device = device.map_err(|source| Error::NoFuse { source })?;
    // The mode is that of a directory, octal. Everybody may come in, and the kernel checks the
    // files' modes: `disk` is for its owner and root.
    let data = format!(
        "fd={},rootmode=40000,user_id={},group_id={},default_permissions,allow_other",
        device.as_raw_fd(),
        getuid().as_raw(),
        getgid().as_raw(),
    );
    let data = CString::new(data).expect("numbers and words contain no NUL");
    let mut flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOATIME;
    flags.set(MountFlags::RDONLY, read_only);
    let mounted = mount(name, at, format!("fuse.{SUBTYPE}"), flags, data.as_c_str());
    Ok(mounted.map(|()| device.into()))
}

/// The protocol of libfuse: the helper sends the device over the socket whose number is in the
/// environment. Its standard input is that socket, because a descriptor handed on that way needs
/// no change to its flags.
fn by_helper(at: &Path, name: &str, read_only: bool) -> io::Result<OwnedFd> {
    let (ours, theirs) = UnixStream::pair()?;
    let name = name.replace('\\', "\\\\").replace(',', "\\,");
    let access = if read_only { "ro" } else { "rw" };
    let mut helper = Command::new(HELPER)
        .arg("-o")
        .arg(format!("{access},nosuid,nodev,default_permissions,fsname={name},subtype={SUBTYPE}"))
        .arg("--")
        .arg(at)
        .env("_FUSE_COMMFD", "0")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Errno::PERM.into(),
            _ => error,
        })?;
    let received = receive_descriptor(&ours);
    let mut complaint = String::new();
    if let Some(stderr) = &mut helper.stderr {
        stderr.read_to_string(&mut complaint)?;
    }
    helper.wait()?;
    received?.ok_or_else(|| {
        let complaint = complaint.trim().trim_start_matches(HELPER).trim_start_matches(": ");
        io::Error::new(io::ErrorKind::PermissionDenied, complaint.to_owned())
    })
}

/// `None` if the other end closed without sending one.
fn receive_descriptor(socket: &UnixStream) -> io::Result<Option<OwnedFd>> {
    let mut byte = [0];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    loop {
        let mut data = [IoSliceMut::new(&mut byte)];
        match recvmsg(socket, &mut data, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
            Ok(_) => break,
        }
    }
    let descriptor = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    Ok(descriptor)
}

/// What is mounted at the last part of `at`, which is in `parent`, without asking its server, who
/// may be gone.
fn identity_at(parent: &OwnedFd, at: &Path) -> Result<Identity, Errno> {
    let flags = AtFlags::STATX_DONT_SYNC | AtFlags::SYMLINK_NOFOLLOW;
    let mount = StatxFlags::MNT_ID | StatxFlags::from_bits_retain(STATX_MNT_ID_UNIQUE);
    let found = statx(parent, at.file_name().unwrap_or_default(), flags, mount)?;
    Ok(Identity { device_minor: found.stx_dev_minor, mount: found.stx_mnt_id })
}

/// Unmounts what is mounted at `at`. If a file on it is open, the error is
/// [`io::ErrorKind::ResourceBusy`].
pub(super) fn detach_unused(at: &Path) -> io::Result<()> {
    match unmount(at, UnmountFlags::NOFOLLOW) {
        Err(Errno::PERM) if helper_detaches(at, &[]) => Ok(()),
        // The helper does not report why it failed.
        Err(Errno::PERM) => Err(Errno::BUSY.into()),
        other => Ok(other?),
    }
}

/// For the user who mounted it.
fn helper_detaches(at: &Path, how: &[&str]) -> bool {
    let mut command = Command::new(HELPER);
    command.arg("-u").args(how).arg("--").arg(at);
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

impl Attached {
    pub(super) fn at(&self) -> &Path {
        &self.at
    }

    /// Unmounts it, after all writes. If a file on it is still open, its I/O is aborted. Does
    /// nothing if it was already unmounted.
    pub(super) fn detach(&self) {
        if identity_at(&self.parent, &self.at).as_ref() != Ok(&self.identity) {
            return;
        }
        let held = entry_of(&self.parent).join(self.at.file_name().unwrap_or_default());
        match unmount(&held, UnmountFlags::NOFOLLOW) {
            Ok(()) => return,
            Err(Errno::PERM) if helper_detaches(&self.at, &[]) => return,
            Err(_) => {}
        }
        // Forced: requests under way fail instead of waiting for a server that leaves.
        let flags = UnmountFlags::FORCE | UnmountFlags::DETACH | UnmountFlags::NOFOLLOW;
        if unmount(&held, flags) == Err(Errno::PERM) {
            helper_detaches(&self.at, &["-z"]);
        }
    }

    /// Aborts the I/O of programs that still use files of the mount, wherever it is still visible.
    /// Works for the user who mounted, if the kernel's control file system is mounted; returns
    /// whether it did.
    pub(super) fn abort(&self) -> bool {
        let minor = self.identity.device_minor;
        std::fs::write(format!("/sys/fs/fuse/connections/{minor}/abort"), "1").is_ok()
    }
}
