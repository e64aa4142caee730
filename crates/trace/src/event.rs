//! One event: a call of the application, or kernel work for it, such as a page fault.

use std::fmt;

use crate::varint::{long, short};

/// Unit in which end times are stored, in nanoseconds.
pub const TICK_NS: u64 = 128;

/// A thread of the traced application, numbered in the order of its first event.
pub type Thread = u32;
/// A file of the trace, numbered in the order of its first event; see `Files`.
pub type File = u32;

/// Several threads that sync a file hold a lock, or share syncs, if at most one in so many syncs
/// starts before an earlier one has ended.
pub const TURNS_OVERLAP_ONE_IN: u64 = 50;

/// File number of events without a file.
pub const NO_FILE: File = u32::MAX;

macro_rules! ops {
    ($($(#[doc = $doc:literal])* $Op:ident = $number:literal $name:literal,)*) => {
        /// The operation. Its numbers are part of the file format and never change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op {
            $($(#[doc = $doc])* $Op = $number,)*
        }

        impl Op {
            pub const ALL: &[Self] = &[$(Self::$Op,)*];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$Op => $name,)* }
            }

            pub const fn from_number(number: u8) -> Option<Self> {
                match number { $($number => Some(Self::$Op),)* _ => None }
            }
        }
    };
}

ops! {
    /// Moves `length` bytes from `offset` of `file`.
    Read = 0 "read",
    Write = 1 "write",
    /// Makes data and metadata of `file` durable.
    Fsync = 2 "fsync",
    /// Makes the data of `file` durable.
    Fdatasync = 3 "fdatasync",
    /// `sync_file_range`; `detail` holds its flags.
    SyncRange = 4 "sync_file_range",
    /// Writes back a mapped range.
    Msync = 5 "msync",
    /// `fallocate`; `detail` holds its mode.
    Allocate = 6 "fallocate",
    /// Sets the size to `offset`.
    Truncate = 7 "truncate",
    /// `detail` holds the open flags, `offset` the size of the file.
    Open = 8 "open",
    Close = 9 "close",
    /// `detail` holds the file that was replaced plus one, or 0.
    Rename = 10 "rename",
    Unlink = 11 "unlink",
    Mkdir = 12 "mkdir",
    /// Any call that only asks for attributes.
    Stat = 13 "stat",
    ReadDir = 14 "readdir",
    /// Maps `length` bytes from `offset`; `detail` holds the protection in its low 8 bits, and the
    /// flags above them.
    Map = 15 "mmap",
    /// A page of a mapping was not in memory, or had to be fetched from the file.
    Fault = 16 "fault",
    /// A page became dirty through a mapping.
    Dirty = 17 "dirty",
    /// `detail` holds the advice.
    Advise = 18 "fadvise",
    /// Moves `length` bytes from `file` to a socket or pipe.
    SendFile = 19 "sendfile",
    /// Moves `length` bytes from `file` to the file whose number is `detail`.
    CopyRange = 20 "copy_file_range",
    /// `sync` or `syncfs`: makes all files (of a file system) durable.
    SyncAll = 21 "sync",
    /// Wakes thread `detail`, which had waited for `latency_ns`. `offset` holds the calls of both
    /// ([`Call::pair`]). `length` and `result` hold the CPU time and the run delay of the thread that
    /// waited, between its previous event and its wait.
    Wake = 22 "wake",
    /// Starts the thread whose number is `detail`.
    Spawn = 23 "spawn",
    /// The thread ends.
    Exit = 24 "exit",
    /// `result` bytes of a client arrive at the socket whose number is `detail`.
    Request = 25 "request",
    /// `result` bytes are sent to a client through the socket whose number is `detail`.
    Answer = 26 "answer",
}

impl Op {
    /// Whether it moves data of a file.
    pub const fn moves_data(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Fault | Self::SendFile | Self::CopyRange)
    }

    /// Whether it is an operation on files, rather than on threads or sockets.
    pub const fn is_io(self) -> bool {
        !matches!(self, Self::Wake | Self::Spawn | Self::Exit | Self::Request | Self::Answer)
    }

    /// Whether the operation returns only when data is durable.
    pub const fn is_sync(self) -> bool {
        matches!(
            self,
            Self::Fsync | Self::Fdatasync | Self::SyncRange | Self::Msync | Self::SyncAll
        )
    }
}

/// The kinds of calls in which threads wake each other and wait. The numbers are the file format's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Call {
    Other = 0,
    Futex = 1,
    /// A write to a pipe, a socket or an event counter.
    Write = 2,
    /// Waits for one of several descriptors.
    Poll = 3,
    /// A read from a pipe, a socket or an event counter.
    Read = 4,
    Sleep = 5,
    Signal = 6,
    /// Waits for a child, or ends.
    Process = 7,
    /// An I/O on a file.
    Io = 8,
    Semaphore = 9,
    /// Waits for completions of asynchronous I/O, or submits it.
    Ring = 10,
    /// Not in a call: the thread computes, or handles a page fault.
    None = 11,
}

impl Call {
    pub fn from_number(number: u64) -> Self {
        match number {
            1 => Self::Futex,
            2 => Self::Write,
            3 => Self::Poll,
            4 => Self::Read,
            5 => Self::Sleep,
            6 => Self::Signal,
            7 => Self::Process,
            8 => Self::Io,
            9 => Self::Semaphore,
            10 => Self::Ring,
            11 => Self::None,
            _ => Self::Other,
        }
    }
}

impl Call {
    /// The `offset` of a wake-up: the call of the thread that wakes, and of the one that waits.
    pub const fn pair(waker: u64, sleeper: u64) -> u64 {
        waker & 0xf | (sleeper & 0xf) << 4
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How an operation was issued.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u16);

impl Flags {
    pub const APPEND: Self = Self(1);
    pub const DIRECT: Self = Self(1 << 1);
    /// Data are durable when the call returns (`O_DSYNC`, `RWF_DSYNC`).
    pub const DATA_SYNC: Self = Self(1 << 2);
    /// Data and metadata are durable when the call returns (`O_SYNC`, `RWF_SYNC`).
    pub const SYNC: Self = Self(1 << 3);
    pub const BLOCK_DEVICE: Self = Self(1 << 4);
    pub const DIRECTORY: Self = Self(1 << 5);
    /// Through `io_uring`.
    pub const URING: Self = Self(1 << 6);
    /// Through `io_submit`.
    pub const AIO: Self = Self(1 << 7);
    /// The next request of the ring waits for this one.
    pub const LINK: Self = Self(1 << 8);
    /// The request waits for all earlier requests, and all later ones wait for it
    /// (`IOSQE_IO_DRAIN`).
    pub const DRAIN: Self = Self(1 << 9);
    /// Submitted by the SQPOLL kernel thread.
    pub const SQ_POLL: Self = Self(1 << 10);
    /// At the position of the descriptor, rather than at a given offset.
    pub const AT_POSITION: Self = Self(1 << 11);
    /// Of a wake-up: since its last event that was no wake-up, the thread that wakes has called
    /// `nanosleep`.
    pub const WAKER_SLEPT: Self = Self(1 << 12);
    /// The same for the thread that is woken.
    pub const WOKEN_SLEPT: Self = Self(1 << 13);

    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// One event. A file keeps its end in whole ticks, and durations to within 1 in 80.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    pub op: Op,
    pub flags: Flags,
    pub thread: Thread,
    /// `NO_FILE` if the event concerns no file.
    pub file: File,
    pub offset: u64,
    /// Bytes asked for.
    pub length: u64,
    /// Bytes moved or another return value; the negative errno if the call failed.
    pub result: i64,
    /// When it returned, since the trace began.
    pub end_ns: u64,
    pub latency_ns: u64,
    /// CPU time of the thread between its previous event and the start of this one.
    pub cpu_ns: u64,
    /// Time in the same interval in which the thread could have run, but waited for a CPU.
    pub run_delay_ns: u64,
    /// Meaning depends on the operation.
    pub detail: u64,
}

impl Event {
    /// An operation of thread 0 without a file, at time 0. All other fields are 0, too.
    pub const fn new(op: Op) -> Self {
        Self {
            op,
            flags: Flags(0),
            thread: 0,
            file: NO_FILE,
            offset: 0,
            length: 0,
            result: 0,
            end_ns: 0,
            latency_ns: 0,
            cpu_ns: 0,
            run_delay_ns: 0,
            detail: 0,
        }
    }

    pub const fn start_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.latency_ns)
    }

    /// Whether the thread that was woken had waited for the other one. A timer interrupt may fire
    /// in the context of an unrelated thread, and a wake-up during an I/O is part of that I/O.
    pub fn is_dependency(&self) -> bool {
        let wakes = matches!(
            Call::from_number(self.offset & 0xf),
            Call::Futex | Call::Write | Call::Signal | Call::Process | Call::Semaphore
        );
        let waits = match Call::from_number(self.offset >> 4) {
            Call::Sleep | Call::Io | Call::Ring => false,
            // Its call began before the trace.
            Call::None => self.latency_ns == 0,
            _ => true,
        };
        self.op == Op::Wake && wakes && waits
    }

    /// Whether a thread that released a lock woke one that waited for it.
    pub fn is_of_locks(&self) -> bool {
        let is_one = |call| matches!(call, Call::Futex | Call::Semaphore);
        self.op == Op::Wake
            && is_one(Call::from_number(self.offset & 0xf))
            && is_one(Call::from_number(self.offset >> 4))
    }

    /// Whether a thread that wrote to a socket, a pipe or an event counter woke one that waited for
    /// what others write.
    pub fn is_of_messages(&self) -> bool {
        self.op == Op::Wake
            && Call::from_number(self.offset & 0xf) == Call::Write
            && matches!(Call::from_number(self.offset >> 4), Call::Poll | Call::Read)
    }

    /// Whether it started before an earlier event ended, at `end_ns`. Durations are rounded to
    /// within 1 in 80, and ends to whole ticks; an overlap within these bounds does not count.
    pub const fn overlaps(&self, end_ns: u64) -> bool {
        let rounding_ns = self.latency_ns / 64 + 2 * TICK_NS;
        self.start_ns().saturating_add(rounding_ns) < end_ns
    }

    /// The event as a file keeps it.
    #[must_use]
    pub fn rounded(self) -> Self {
        let kept = |ns| long(short(ns)).unwrap_or(u64::MAX);
        let end_ns = self.end_ns / TICK_NS * TICK_NS;
        let [latency_ns, cpu_ns, run_delay_ns] =
            [self.latency_ns, self.cpu_ns, self.run_delay_ns].map(kept);
        let rounded = Self { end_ns, latency_ns, cpu_ns, run_delay_ns, ..self };
        if self.op != Op::Wake {
            return rounded;
        }
        let result = kept(self.result.cast_unsigned()).cast_signed();
        Self { length: kept(self.length), result, ..rounded }
    }

    /// Bytes that were moved.
    pub fn moved(&self) -> u64 {
        if self.op.moves_data() { u64::try_from(self.result).unwrap_or(0) } else { 0 }
    }

    /// The error number, if it failed.
    pub fn errno(&self) -> Option<i32> {
        i32::try_from(self.result.checked_neg()?).ok().filter(|number| *number > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_and_devices_are_no_dependencies() {
        let is_dependency = |waker: Call, sleeper: Call| {
            let wake = Event {
                offset: Call::pair(waker as u64, sleeper as u64),
                end_ns: 1,
                latency_ns: 1,
                detail: 1,
                ..Event::new(Op::Wake)
            };
            wake.is_dependency()
        };
        assert!(is_dependency(Call::Futex, Call::Futex));
        assert!(is_dependency(Call::Write, Call::Poll));
        assert!(!is_dependency(Call::Io, Call::Futex), "an interrupt during an I/O");
        assert!(!is_dependency(Call::None, Call::Futex), "an interrupt of a thread that computes");
        assert!(!is_dependency(Call::Futex, Call::Sleep), "a sleeper wakes by its timer");
        assert!(!is_dependency(Call::Futex, Call::Io), "an I/O that is over");
        assert!(!is_dependency(Call::Futex, Call::Ring), "a completion");
        assert!(!is_dependency(Call::Futex, Call::None), "a thread that was in no call");
        let offset = Call::pair(Call::Futex as u64, Call::None as u64);
        assert!(Event { offset, ..Event::new(Op::Wake) }.is_dependency(), "since before the trace");
    }
}
