//! What is planted, by the place where it acts.

mod encryption;
mod groups;
mod limits;
mod memory;
mod others;
mod queue;

use crate::situation::Situation;

/// All of them.
pub const SITUATIONS: [Situation; 26] = [
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
    others::READER,
    others::WRITER,
    others::CPU,
    encryption::ONCE,
    encryption::TWICE,
];
