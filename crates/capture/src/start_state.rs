//! Reads the state of a file before its first use: size, holes, unwritten extents and cached bytes,
//! so that a replay can lay it out again.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use iotax_trace::{FileKind, FileState, Gap};
use libc::c_ulong;

/// Beyond this many gaps, the rest of the file is recorded as data.
const MOST_GAPS: usize = 4096;

/// `_IOWR('f', 11, struct fiemap)`.
const FIEMAP: c_ulong = 0xC020_660B;
const EXTENTS: u32 = 64;
const FLAG_LAST: u32 = 1;
const FLAG_UNWRITTEN: u32 = 0x800;
/// System call number of `cachestat`, the same on every architecture.
const CACHESTAT: libc::c_long = 451;

/// The state of the file or block device at this path, without changing it.
pub(crate) fn state_of(path: &Path) -> io::Result<FileState> {
    let facts = fs::metadata(path)?;
    let kind = facts.file_type();
    if kind.is_dir() {
        return Ok(FileState { kind: FileKind::Directory, ..FileState::default() });
    }
    if !kind.is_file() && !kind.is_block_device() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let flags = libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOATIME;
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if kind.is_block_device() {
        let size_bytes = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0))?;
        return Ok(FileState { kind: FileKind::BlockDevice, size_bytes, ..FileState::default() });
    }
    let size_bytes = facts.size();
    let gaps = if facts.blocks() * 512 == 0 && size_bytes > 0 {
        vec![Gap { offset: 0, bytes: size_bytes, is_unwritten: false }]
    } else {
        gaps(&file, size_bytes).unwrap_or_default()
    };
    Ok(FileState { size_bytes, gaps, cached_bytes: cached_bytes(&file), ..FileState::default() })
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    bytes: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct Map {
    start: u64,
    bytes: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [Extent; EXTENTS as usize],
}

/// Holes and unwritten extents, sorted; extents may be beyond EOF.
fn gaps(file: &File, size_bytes: u64) -> io::Result<Vec<Gap>> {
    let mut gaps: Vec<Gap> = Vec::new();
    let mut at = 0;
    while gaps.len() < MOST_GAPS {
        let mut map = Map {
            start: at,
            bytes: u64::MAX - at,
            flags: 0,
            mapped: 0,
            count: EXTENTS,
            reserved: 0,
            extents: [Extent::default(); EXTENTS as usize],
        };
        // SAFETY: the kernel writes at most `count` extents, which are there.
        let result = unsafe { libc::ioctl(file.as_raw_fd(), FIEMAP, &raw mut map) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        let found = map.extents.get(..map.mapped as usize).unwrap_or_default();
        for extent in found {
            if extent.logical > at && at < size_bytes {
                let bytes = extent.logical.min(size_bytes) - at;
                gaps.push(Gap { offset: at, bytes, is_unwritten: false });
            }
            if extent.flags & FLAG_UNWRITTEN != 0 {
                let (offset, bytes) = (extent.logical, extent.bytes);
                gaps.push(Gap { offset, bytes, is_unwritten: true });
            }
            at = extent.logical.saturating_add(extent.bytes);
        }
        if found.is_empty() || found.last().is_some_and(|last| last.flags & FLAG_LAST != 0) {
            break;
        }
    }
    if at < size_bytes {
        gaps.push(Gap { offset: at, bytes: size_bytes - at, is_unwritten: false });
    }
    gaps.truncate(MOST_GAPS);
    Ok(gaps)
}

#[repr(C)]
struct Range {
    offset: u64,
    bytes: u64,
}

#[repr(C)]
#[derive(Default)]
struct Cached {
    pages: u64,
    dirty: u64,
    in_writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Bytes of the file in the page cache; `None` before Linux 6.5.
fn cached_bytes(file: &File) -> Option<u64> {
    let range = Range { offset: 0, bytes: 0 };
    let mut cached = Cached::default();
    // SAFETY: both structures are as the system call expects them, and outlive it.
    let result =
        unsafe { libc::syscall(CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut cached, 0) };
    let page_bytes = rustix::param::page_size() as u64;
    (result == 0).then(|| cached.pages * page_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open_files::descriptor_path;
    use std::os::unix::fs::FileExt as _;

    #[test]
    fn holes_and_unwritten_extents_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let file = File::create(&path).unwrap();
        file.write_all_at(&vec![7; 65536], 0).unwrap();
        file.write_all_at(&vec![7; 65536], 1 << 20).unwrap();
        file.set_len(2 << 20).unwrap();
        file.sync_all().unwrap();
        let state = state_of(&path).unwrap();
        assert_eq!(state.size_bytes, 2 << 20);
        let holes: u64 =
            state.gaps.iter().filter(|gap| !gap.is_unwritten).map(|gap| gap.bytes).sum();
        assert_eq!(holes, (2 << 20) - 2 * 65536);
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 1 << 21, 1 << 20)
            .unwrap();
        let state = state_of(&path).unwrap();
        assert_eq!(state.size_bytes, 3 << 20);
        let unwritten = state.gaps.iter().find(|gap| gap.is_unwritten).unwrap();
        assert_eq!((unwritten.offset, unwritten.bytes), (1 << 21, 1 << 20));
    }

    #[test]
    fn a_pipe_has_no_state() {
        let (reader, _writer) = io::pipe().unwrap();
        let path = descriptor_path(std::process::id(), reader.as_raw_fd());
        assert_eq!(state_of(&path).unwrap_err().kind(), io::ErrorKind::Unsupported);
    }
}
