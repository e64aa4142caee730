//! An event as it comes from the ring buffer: `struct event` in `bpf/event.h`.

use iotax_trace::FileKind;

pub(crate) const BYTES: usize = 96;

/// Events for the reader alone, which are not in the file format: `OP_*` in `bpf/event.h`.
pub(crate) const UNMAP: u8 = 128;
pub(crate) const REMAP: u8 = 129;
pub(crate) const EXEC: u8 = 130;
/// Mentions a file that the next event refers to.
pub(crate) const FILE: u8 = 131;
/// A process joined the recorded control group.
pub(crate) const JOIN: u8 = 132;

/// What a descriptor refers to: `KIND_*` in `bpf/event.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    None,
    Regular,
    Block,
    Directory,
}

impl Kind {
    pub(crate) const fn from_number(number: u8) -> Self {
        match number {
            1 => Self::Regular,
            2 => Self::Block,
            3 => Self::Directory,
            _ => Self::None,
        }
    }

    pub(crate) const fn of_file(self) -> FileKind {
        match self {
            Self::Directory => FileKind::Directory,
            Self::Block => FileKind::BlockDevice,
            Self::Regular | Self::None => FileKind::Regular,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawEvent {
    pub start_ns: u64,
    pub end_ns: u64,
    /// Total CPU time of the thread up to this event.
    pub cpu_ns: u64,
    pub offset: u64,
    pub length: u64,
    pub inode: u64,
    pub result: i64,
    pub detail: u64,
    pub device: u32,
    pub thread: u32,
    pub process: u32,
    pub descriptor: i32,
    pub op: u8,
    pub kind: Kind,
    pub flags: u16,
    /// Keyed hash of a path's last component; 0 if there is none.
    pub name: u32,
    /// Generation of the inode; 0 if the file system has none.
    pub generation: u32,
    /// Time that the thread waited for a CPU since its previous event.
    pub run_delay_ns: u32,
}

impl RawEvent {
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let (words, rest) = bytes.get(..BYTES)?.split_at(64);
        let mut words =
            words.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight")));
        let mut word = || words.next().expect("eight of them");
        let half = |at: usize| {
            u32::from_le_bytes(rest[at..at + 4].try_into().expect("four bytes are four bytes"))
        };
        Some(Self {
            start_ns: word(),
            end_ns: word(),
            cpu_ns: word(),
            offset: word(),
            length: word(),
            inode: word(),
            result: word().cast_signed(),
            detail: word(),
            device: half(0),
            thread: half(4),
            process: half(8),
            descriptor: half(12).cast_signed(),
            op: rest[16],
            kind: Kind::from_number(rest[17]),
            flags: u16::from_le_bytes([rest[18], rest[19]]),
            name: half(20),
            generation: half(24),
            run_delay_ns: half(28),
        })
    }
}
