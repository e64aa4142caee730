//! System calls that the importer understands.

use crate::event::Op;

/// How the name of a file is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    Path,
    /// A directory descriptor (`dirfd`) precedes each path.
    At,
}

impl Naming {
    /// Arguments that a name takes.
    pub(super) const fn width(self) -> usize {
        match self {
            Self::Path => 1,
            Self::At => 2,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Moves data between a file and memory.
    Transfer {
        op: Op,
        is_vector: bool,
        is_positional: bool,
    },
    /// Position of the flags after the path; `None` for `creat`.
    Open {
        naming: Naming,
        flags: Option<usize>,
    },
    Close,
    CloseRange,
    Duplicate,
    Control,
    /// The result is a descriptor, but not of a file.
    OtherDescriptor,
    /// So are the two in this argument.
    DescriptorPair(usize),
    Seek,
    /// A call on a descriptor with no other relevant arguments.
    Sync(Op),
    SyncRange,
    SyncAll,
    Allocate,
    Truncate,
    TruncatePath,
    Rename(Naming),
    Unlink(Naming),
    RemoveDirectory,
    MakeDirectory(Naming),
    Link(Naming),
    /// The result (`struct stat`) is this many arguments after the path, if strace shows it.
    Stat {
        naming: Naming,
        answer: Option<usize>,
    },
    StatDescriptor,
    ReadDirectory,
    Map,
    Unmap,
    Remap,
    SyncMapping,
    Advise,
    SendFile,
    CopyRange,
    Splice,
    ChangeDirectory,
    ChangeDirectoryDescriptor,
    WorkingDirectory,
    Clone,
    Execute,
    Unshare,
    /// Submits requests that strace does not show.
    Submit(usize),
    Enter(usize),
}

impl Kind {
    pub(super) fn of(name: &str) -> Option<Self> {
        use Naming::{At, Path};
        let transfer =
            |op, is_vector, is_positional| Self::Transfer { op, is_vector, is_positional };
        Some(match name {
            "read" => transfer(Op::Read, false, false),
            "readv" => transfer(Op::Read, true, false),
            "pread64" | "pread" => transfer(Op::Read, false, true),
            "preadv" | "preadv2" => transfer(Op::Read, true, true),
            "write" => transfer(Op::Write, false, false),
            "writev" => transfer(Op::Write, true, false),
            "pwrite64" | "pwrite" => transfer(Op::Write, false, true),
            "pwritev" | "pwritev2" => transfer(Op::Write, true, true),
            "open" => Self::Open { naming: Path, flags: Some(0) },
            "creat" => Self::Open { naming: Path, flags: None },
            "openat" | "openat2" => Self::Open { naming: At, flags: Some(0) },
            "close" => Self::Close,
            "close_range" => Self::CloseRange,
            "dup" | "dup2" | "dup3" => Self::Duplicate,
            "fcntl" | "fcntl64" => Self::Control,
            "socket"
            | "accept"
            | "accept4"
            | "eventfd"
            | "eventfd2"
            | "epoll_create"
            | "epoll_create1"
            | "timerfd_create"
            | "signalfd"
            | "signalfd4"
            | "inotify_init"
            | "inotify_init1"
            | "memfd_create"
            | "memfd_secret"
            | "pidfd_open"
            | "pidfd_getfd"
            | "perf_event_open"
            | "io_uring_setup"
            | "userfaultfd"
            | "fanotify_init"
            | "fsopen"
            | "fsmount"
            | "fspick"
            | "open_tree"
            | "landlock_create_ruleset" => Self::OtherDescriptor,
            "pipe" | "pipe2" => Self::DescriptorPair(0),
            "socketpair" => Self::DescriptorPair(3),
            "lseek" | "_llseek" => Self::Seek,
            "fsync" => Self::Sync(Op::Fsync),
            "fdatasync" => Self::Sync(Op::Fdatasync),
            "syncfs" => Self::Sync(Op::SyncAll),
            "sync" => Self::SyncAll,
            "sync_file_range" | "sync_file_range2" => Self::SyncRange,
            "fallocate" => Self::Allocate,
            "ftruncate" | "ftruncate64" => Self::Truncate,
            "truncate" | "truncate64" => Self::TruncatePath,
            "rename" => Self::Rename(Path),
            "renameat" | "renameat2" => Self::Rename(At),
            "unlink" => Self::Unlink(Path),
            "unlinkat" => Self::Unlink(At),
            "rmdir" => Self::RemoveDirectory,
            "mkdir" => Self::MakeDirectory(Path),
            "mkdirat" => Self::MakeDirectory(At),
            "link" => Self::Link(Path),
            "linkat" => Self::Link(At),
            "stat" | "stat64" | "lstat" | "lstat64" => Self::Stat { naming: Path, answer: Some(0) },
            "newfstatat" | "fstatat64" => Self::Stat { naming: At, answer: Some(0) },
            "statx" => Self::Stat { naming: At, answer: Some(2) },
            "access" => Self::Stat { naming: Path, answer: None },
            "faccessat" | "faccessat2" => Self::Stat { naming: At, answer: None },
            "fstat" | "fstat64" => Self::StatDescriptor,
            "getdents" | "getdents64" => Self::ReadDirectory,
            "mmap" | "mmap2" => Self::Map,
            "munmap" => Self::Unmap,
            "mremap" => Self::Remap,
            "msync" => Self::SyncMapping,
            "fadvise64" | "fadvise64_64" => Self::Advise,
            "sendfile" | "sendfile64" => Self::SendFile,
            "copy_file_range" => Self::CopyRange,
            "splice" => Self::Splice,
            "chdir" => Self::ChangeDirectory,
            "fchdir" => Self::ChangeDirectoryDescriptor,
            "getcwd" => Self::WorkingDirectory,
            "clone" | "clone2" | "clone3" | "fork" | "vfork" => Self::Clone,
            "execve" | "execveat" => Self::Execute,
            "unshare" => Self::Unshare,
            "io_submit" => Self::Submit(1),
            "io_uring_enter" => Self::Enter(1),
            _ => return None,
        })
    }
}
