//! One I/O, and what became of it.

use rustix::io::Errno;

/// What an I/O does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Op {
    /// From the target into the slot's read buffer.
    Read = 0,
    /// From the slot's write buffer to the target.
    Write = 1,
    /// Gives back the space of a range.
    Trim = 2,
    /// `fdatasync`: everything of the file that this thread has seen complete becomes durable.
    Sync = 3,
    /// Not an I/O: wait until nothing is in flight, and then for the job's think time.
    Pause = 4,
    /// Not an I/O: the cached pages of so many bytes are to go; of the whole span, once a pass over
    /// it is over, where there are 0.
    Forget = 5,
}

impl Op {
    /// The word used in error messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Sync => "fdatasync",
            Self::Pause => "pause",
            Self::Forget => "drop of cached pages",
        }
    }
}

/// One I/O to issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Io {
    /// First byte, counted from the start of the file, device or disk.
    pub offset: u64,
    /// Bytes to move or to trim; 0 for a sync.
    pub bytes: u32,
    /// Which of the thread's files.
    pub file: u16,
    pub op: Op,
    /// What it reads is to be what was written there last.
    pub check: bool,
}

impl Io {
    /// Makes earlier writes durable.
    pub(crate) const SYNC: Self = Self { offset: 0, bytes: 0, file: 0, op: Op::Sync, check: false };
    /// See [`Op::Pause`].
    pub(crate) const PAUSE: Self = Self { op: Op::Pause, ..Self::SYNC };
    /// See [`Op::Forget`].
    pub(crate) const FORGET: Self = Self { op: Op::Forget, ..Self::SYNC };
}

/// Bytes moved (fewer than asked is a short I/O), or the error.
pub(crate) type Outcome = Result<u32, Errno>;
