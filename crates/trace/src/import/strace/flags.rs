//! Names of flags that strace prints, and their values on x86-64 and arm64 alike.

use super::line::number;

type Names = &'static [(&'static str, u64)];

pub(super) const O_ACCMODE: u64 = 0o3;
pub(super) const O_CREAT: u64 = 0o100;
pub(super) const O_EXCL: u64 = 0o200;
pub(super) const O_TRUNC: u64 = 0o1000;
pub(super) const O_APPEND: u64 = 0o2000;
pub(super) const O_DSYNC: u64 = 0o10000;
pub(super) const O_DIRECT: u64 = 0o40000;
pub(super) const O_DIRECTORY: u64 = 0o200_000;
pub(super) const O_CLOEXEC: u64 = 0o2_000_000;
pub(super) const O_SYNC: u64 = 0o4_010_000;
pub(super) const O_TMPFILE: u64 = 0o20_200_000;

pub(super) const OPEN: Names = &[
    ("O_RDONLY", 0),
    ("O_WRONLY", 1),
    ("O_RDWR", 2),
    ("O_ACCMODE", O_ACCMODE),
    ("O_CREAT", O_CREAT),
    ("O_EXCL", O_EXCL),
    ("O_NOCTTY", 0o400),
    ("O_TRUNC", O_TRUNC),
    ("O_APPEND", O_APPEND),
    ("O_NONBLOCK", 0o4000),
    ("O_NDELAY", 0o4000),
    ("O_DSYNC", O_DSYNC),
    ("O_DIRECT", O_DIRECT),
    ("O_LARGEFILE", 0o100_000),
    ("O_DIRECTORY", O_DIRECTORY),
    ("O_NOFOLLOW", 0o400_000),
    ("O_NOATIME", 0o1_000_000),
    ("O_CLOEXEC", O_CLOEXEC),
    ("O_SYNC", O_SYNC),
    ("O_PATH", 0o10_000_000),
    ("O_TMPFILE", O_TMPFILE),
];

pub(super) const RWF_DSYNC: u64 = 2;
pub(super) const RWF_SYNC: u64 = 4;
pub(super) const RWF_APPEND: u64 = 16;

pub(super) const READ_WRITE: Names = &[
    ("RWF_HIPRI", 1),
    ("RWF_DSYNC", RWF_DSYNC),
    ("RWF_SYNC", RWF_SYNC),
    ("RWF_NOWAIT", 8),
    ("RWF_APPEND", RWF_APPEND),
    ("RWF_NOAPPEND", 32),
    ("RWF_ATOMIC", 64),
    ("RWF_DONTCACHE", 128),
];

pub(super) const SYNC_RANGE: Names = &[
    ("SYNC_FILE_RANGE_WAIT_BEFORE", 1),
    ("SYNC_FILE_RANGE_WRITE", 2),
    ("SYNC_FILE_RANGE_WAIT_AFTER", 4),
];

pub(super) const ALLOCATE: Names = &[
    ("FALLOC_FL_KEEP_SIZE", 1),
    ("FALLOC_FL_PUNCH_HOLE", 2),
    ("FALLOC_FL_NO_HIDE_STALE", 4),
    ("FALLOC_FL_COLLAPSE_RANGE", 8),
    ("FALLOC_FL_ZERO_RANGE", 16),
    ("FALLOC_FL_INSERT_RANGE", 32),
    ("FALLOC_FL_UNSHARE_RANGE", 64),
];

pub(super) const ADVICE: Names = &[
    ("POSIX_FADV_NORMAL", 0),
    ("POSIX_FADV_RANDOM", 1),
    ("POSIX_FADV_SEQUENTIAL", 2),
    ("POSIX_FADV_WILLNEED", 3),
    ("POSIX_FADV_DONTNEED", 4),
    ("POSIX_FADV_NOREUSE", 5),
];

pub(super) const PROTECTION: Names =
    &[("PROT_NONE", 0), ("PROT_READ", 1), ("PROT_WRITE", 2), ("PROT_EXEC", 4)];

pub(super) const MAP_TYPE: u64 = 0xf;
pub(super) const MAP_PRIVATE: u64 = 2;

pub(super) const MAP: Names = &[
    ("MAP_SHARED", 1),
    ("MAP_PRIVATE", MAP_PRIVATE),
    ("MAP_SHARED_VALIDATE", 3),
    ("MAP_FIXED", 0x10),
    ("MAP_ANONYMOUS", 0x20),
    ("MAP_32BIT", 0x40),
    ("MAP_GROWSDOWN", 0x100),
    ("MAP_DENYWRITE", 0x800),
    ("MAP_EXECUTABLE", 0x1000),
    ("MAP_LOCKED", 0x2000),
    ("MAP_NORESERVE", 0x4000),
    ("MAP_POPULATE", 0x8000),
    ("MAP_NONBLOCK", 0x1_0000),
    ("MAP_STACK", 0x2_0000),
    ("MAP_HUGETLB", 0x4_0000),
    ("MAP_SYNC", 0x8_0000),
    ("MAP_FIXED_NOREPLACE", 0x10_0000),
];

/// The value of `A|B|0x40`. Names that are not known count nothing.
pub(super) fn value(text: &str, names: Names) -> u64 {
    text.split('|')
        .filter_map(|word| {
            let known = names.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
            known.or_else(|| number(word.split(' ').next()?))
        })
        .fold(0, |all, flag| all | flag)
}

/// Whether a flag is among those.
pub(super) fn has(text: &str, flag: &str) -> bool {
    text.split('|').any(|word| word == flag)
}
