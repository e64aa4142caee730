//! The directory: two files, and no others.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate,
    ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request,
    TimeOrNow, WriteFlags,
};
use rustix::process::{getgid, getuid};

use super::server::{MAX_IN_FLIGHT, MAX_REQUEST_BYTES, Server};
use crate::disk::VirtualDisk;

pub(super) const DISK: &str = "disk";
pub(super) const STATS: &str = "stats.json";

const DISK_INODE: INodeNo = INodeNo(2);
const STATS_INODE: INodeNo = INodeNo(3);
const GENERATION: Generation = Generation(0);
/// Names and the disk's attributes never change.
const FOR_LONG: Duration = Duration::from_hours(1);

/// What the kernel calls for each request on the mount.
pub(super) struct Files {
    server: Arc<Server>,
    disk: VirtualDisk,
    born: SystemTime,
    /// The text that each open of `stats.json` reads, by file handle.
    opened: Mutex<HashMap<u64, Arc<str>>>,
    next_handle: AtomicU64,
}

impl Files {
    pub(super) fn new(disk: &VirtualDisk, server: &Arc<Server>) -> Self {
        Self {
            server: Arc::clone(server),
            disk: disk.clone(),
            born: SystemTime::now(),
            opened: Mutex::default(),
            next_handle: AtomicU64::new(1),
        }
    }

    fn opened(&self) -> MutexGuard<'_, HashMap<u64, Arc<str>>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attributes(&self, inode: INodeNo) -> Option<(FileAttr, Duration)> {
        let (kind, perm, size, valid_for) = match inode {
            INodeNo::ROOT => (FileType::Directory, 0o555, 0, FOR_LONG),
            DISK_INODE => (FileType::RegularFile, 0o600, self.disk.size_bytes(), FOR_LONG),
            STATS_INODE => {
                let text = self.disk.stats_json();
                (FileType::RegularFile, 0o444, text.len() as u64, Duration::ZERO)
            }
            _ => return None,
        };
        let attributes = FileAttr {
            ino: inode,
            size,
            blocks: size.div_ceil(512),
            atime: self.born,
            mtime: self.born,
            ctime: self.born,
            crtime: self.born,
            kind,
            perm,
            nlink: if kind == FileType::Directory { 2 } else { 1 },
            uid: getuid().as_raw(),
            gid: getgid().as_raw(),
            rdev: 0,
            blksize: self.disk.block_bytes().max(4096),
            flags: 0,
        };
        Some((attributes, valid_for))
    }

    fn open_stats(&self) -> FileHandle {
        let handle = self.next_handle.fetch_add(1, Ordering::Relaxed);
        self.opened().insert(handle, self.disk.stats_json().into());
        FileHandle(handle)
    }

    fn read_stats(&self, handle: FileHandle, offset: u64, len: u32, reply: ReplyData) {
        let Some(text) = self.opened().get(&handle.0).map(Arc::clone) else {
            return reply.error(Errno::EBADF);
        };
        let start = usize::try_from(offset).map_or(text.len(), |offset| offset.min(text.len()));
        let end = start.saturating_add(len as usize).min(text.len());
        reply.data(&text.as_bytes()[start..end]);
    }
}

impl Filesystem for Files {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let refused = |_| io::Error::from(io::ErrorKind::Unsupported);
        config.set_max_write(MAX_REQUEST_BYTES).map_err(refused)?;
        config.set_max_background(MAX_IN_FLIGHT).map_err(|_| io::ErrorKind::Unsupported)?;
        // Of those that this kernel does not have (the second came with Linux 6.6) the first
        // costs speed and the second shared mappings.
        for flag in [InitFlags::FUSE_ASYNC_DIO, InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP] {
            let _ = config.add_capabilities(flag);
        }
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let inode = match name.to_str() {
            Some(DISK) if parent == INodeNo::ROOT => DISK_INODE,
            Some(STATS) if parent == INodeNo::ROOT => STATS_INODE,
            _ => return reply.error(Errno::ENOENT),
        };
        match self.attributes(inode) {
            Some((attributes, valid_for)) => {
                reply.entry_with_ttls(&valid_for, &FOR_LONG, &attributes, GENERATION);
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(inode) {
            Some((attributes, valid_for)) => reply.attr(&valid_for, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    /// Times may be set, without effect; size, owner and mode are what they are.
    fn setattr(
        &self,
        request: &Request,
        inode: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        handle: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let same_size = size.is_none_or(|size| size == self.disk.size_bytes());
        if !same_size || mode.is_some() || uid.is_some() || gid.is_some() {
            return reply.error(Errno::EPERM);
        }
        self.getattr(request, inode, handle, reply);
    }

    fn open(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let direct = FopenFlags::FOPEN_DIRECT_IO;
        match inode {
            DISK_INODE => {
                let flags = direct | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
                reply.opened(FileHandle(0), flags);
            }
            STATS_INODE => reply.opened(self.open_stats(), direct),
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn release(
        &self,
        _: &Request,
        inode: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        if inode == STATS_INODE {
            self.opened().remove(&handle.0);
        }
        reply.ok();
    }

    fn read(
        &self,
        _: &Request,
        inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match inode {
            DISK_INODE => self.server.read(offset, size, reply),
            STATS_INODE => self.read_stats(handle, offset, size, reply),
            _ => reply.error(Errno::EISDIR),
        }
    }

    fn write(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match inode {
            DISK_INODE => self.server.write(offset, data, reply),
            _ => reply.error(Errno::EPERM),
        }
    }

    /// On close. Nothing is buffered here, and closing a file makes nothing durable.
    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, inode: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        if inode == DISK_INODE { self.server.flush(reply) } else { reply.ok() }
    }

    /// All space is there already. Holes and zeroes are not supported, which is how a device
    /// without discard answers.
    fn fallocate(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let keep_size = rustix::fs::FallocateFlags::KEEP_SIZE.bits().cast_signed();
        let inside = offset.checked_add(length).is_some_and(|end| end <= self.disk.size_bytes());
        match inode {
            DISK_INODE if mode & !keep_size != 0 => reply.error(Errno::EOPNOTSUPP),
            DISK_INODE if inside => reply.ok(),
            DISK_INODE => reply.error(Errno::ENOSPC),
            _ => reply.error(Errno::EPERM),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        if inode != INodeNo::ROOT {
            return reply.error(Errno::ENOTDIR);
        }
        let entries = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (DISK_INODE, FileType::RegularFile, DISK),
            (STATS_INODE, FileType::RegularFile, STATS),
        ];
        // An entry's offset is where the next one is read from.
        for (next, (inode, kind, name)) in (1..).zip(entries) {
            if next > offset && reply.add(inode, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let unit = self.disk.block_bytes();
        let blocks = self.disk.size_bytes() / u64::from(unit);
        reply.statfs(blocks, 0, 0, 2, 0, unit, 255, unit);
    }

    fn create(
        &self,
        _: &Request,
        _: INodeNo,
        _: &OsStr,
        _: u32,
        _: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        reply.error(Errno::EPERM);
    }

    fn mkdir(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, reply: ReplyEntry) {
        reply.error(Errno::EPERM);
    }

    fn unlink(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        reply.error(Errno::EPERM);
    }

    fn rename(
        &self,
        _: &Request,
        _: INodeNo,
        _: &OsStr,
        _: INodeNo,
        _: &OsStr,
        _: RenameFlags,
        reply: ReplyEmpty,
    ) {
        reply.error(Errno::EPERM);
    }
}
