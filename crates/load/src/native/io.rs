//! One I/O, and what became of it.

use rustix::io::Errno;

/// What an I/O does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    /// From the target into the slot's read buffer.
    Read = 0,
    /// From the slot's write buffer to the target.
    Write = 1,
    /// `fdatasync`: everything this thread has seen complete becomes durable.
    Sync = 2,
}

impl Op {
    /// The word used in error messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Sync => "fdatasync",
        }
    }
}

/// One I/O to issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Io {
    /// First byte, counted from the start of the file, device or disk.
    pub offset: u64,
    /// Bytes to move; 0 for a sync.
    pub bytes: u32,
    /// What to do.
    pub op: Op,
}

impl Io {
    /// Makes earlier writes durable.
    pub const SYNC: Self = Self { offset: 0, bytes: 0, op: Op::Sync };
}

/// Bytes moved (fewer than asked is a short I/O), or the error.
pub type Outcome = Result<u32, Errno>;
