//! What is planted, by the place where it acts.

mod crypt;
mod encryption;
mod groups;
mod limits;
mod memory;
mod nfs;
mod others;
mod queue;

use crate::situation::Situation;

/// All of them.
pub(crate) const SITUATIONS: [Situation; 36] = [
    limits::IOPS,
    limits::BYTES,
    limits::VM,
    limits::DISK,
    limits::SHARED,
    limits::BURST,
    limits::BYTES_BURST,
    limits::CACHE,
    groups::READS,
    groups::WRITES,
    groups::CPU,
    groups::MEMORY,
    memory::SHORT_READ_AHEAD,
    memory::LONG_READ_AHEAD,
    memory::DIRTY,
    memory::DOUBLE_CACHE,
    queue::SPLIT,
    queue::SHORT,
    queue::SHALLOW,
    queue::FLUSHES,
    queue::SYNC_MOUNT,
    queue::SYNC_DIRECTORIES,
    others::READER,
    others::WRITER,
    others::CPU,
    encryption::ONCE,
    encryption::TWICE,
    crypt::QUEUES,
    crypt::SMALL_SECTORS,
    crypt::ONCE,
    crypt::TWICE,
    nfs::PRIVACY,
    nfs::INTEGRITY,
    nfs::SLOTS,
    nfs::SHORT_READ_AHEAD,
    nfs::NO_ATTRIBUTES,
];
