//! The engines, each declared once: name, kind of work, and path of the I/O.
//!
//! Validation, keys, explanations, preconditioning, fio jobs and load drivers use these
//! declarations. A new engine needs an entry here and code in `load` that issues its I/O.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineInfo {
    /// The name used in specs and reports.
    pub name: &'static str,
    pub does: Work,
    /// Its possible targets.
    pub at: DrivenAt,
    /// Whether its I/O goes through the page cache.
    pub cache: PageCache,
    /// Whether more than one I/O per thread can be in flight.
    pub is_async: bool,
    /// Whether it has a queue that accepts batches of I/Os and that the kernel can poll.
    pub has_queue: bool,
    /// Whether it can trim.
    pub trims: bool,
    /// Its name in fio, or why fio has none.
    pub fio: Result<&'static str, &'static str>,
}

/// Kind of work of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Nothing: never accesses the target.
    Nothing,
    /// Reads and writes on a span.
    Span,
    /// Operations on a tree of files.
    Tree,
    /// Replay of a recorded application.
    Recording,
    /// Blocks in one direction, as fast as possible.
    Stream,
    /// A request and its response, both of the block size.
    RoundTrips,
    /// A connection for each request and its response.
    Connections,
    /// Datagrams in one direction; some may be lost.
    Datagrams,
}

/// Possible targets of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrivenAt {
    /// Any target.
    Anything,
    /// An in-process virtual disk.
    VirtualDisk,
    Directory,
    /// The far end of a network path.
    Peer,
}

/// Whether I/O goes through the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageCache {
    /// It never does.
    Never,
    UnlessDirect,
    /// Always: it is the cache.
    Always,
}

macro_rules! engines {
    ($($(#[doc = $doc:literal])+ $Engine:ident: $info:expr,)*) => {
        /// How I/O is issued.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Engine {
            $($(#[doc = $doc])+ $Engine,)*
        }

        const EVERY_NAME: &[&str] = &[$(Engine::$Engine.name(),)*];

        impl Engine {
            /// All engines.
            pub const ALL: &[Self] = &[$(Self::$Engine,)*];

            pub const fn info(self) -> &'static EngineInfo {
                match self {
                    $(Self::$Engine => const { &$info },)*
                }
            }
        }
    };
}

/// An engine that only reads and writes a file or device, one I/O after the other.
const PLAIN: EngineInfo = EngineInfo {
    name: "psync",
    does: Work::Span,
    at: DrivenAt::Anything,
    cache: PageCache::UnlessDirect,
    is_async: false,
    has_queue: false,
    trims: true,
    fio: Ok("psync"),
};

/// An engine that needs a peer.
const NETWORK: EngineInfo = EngineInfo {
    at: DrivenAt::Peer,
    cache: PageCache::Never,
    trims: false,
    fio: Err("fio cannot generate network load for iotax; use iotax's own engines"),
    ..PLAIN
};

engines! {
    /// Completes at once: measures the load generator itself.
    Null: EngineInfo {
        name: "null",
        does: Work::Nothing,
        cache: PageCache::Never,
        is_async: true,
        fio: Ok("null"),
        ..PLAIN
    },
    /// `pread` / `pwrite`.
    Psync: PLAIN,
    /// Loads and stores through a shared mapping.
    Mmap: EngineInfo { name: "mmap", cache: PageCache::Always, fio: Ok("mmap"), ..PLAIN },
    /// `io_uring` with registered files and buffers.
    IoUring: EngineInfo {
        name: "io_uring",
        is_async: true,
        has_queue: true,
        fio: Ok("io_uring"),
        ..PLAIN
    },
    /// The kernel's older asynchronous I/O; buffered, one I/O at a time.
    Libaio: EngineInfo { name: "libaio", is_async: true, fio: Ok("libaio"), ..PLAIN },
    /// In-process virtual disk.
    Vdisk: EngineInfo {
        name: "vdisk",
        at: DrivenAt::VirtualDisk,
        cache: PageCache::Never,
        is_async: true,
        trims: false,
        fio: Err("fio has no `vdisk` engine; choose another engine"),
        ..PLAIN
    },
    /// Operations on a tree of files: see [`Tree`](crate::Tree).
    Metadata: EngineInfo {
        name: "metadata",
        does: Work::Tree,
        at: DrivenAt::Directory,
        cache: PageCache::Never,
        trims: false,
        fio: Err("fio has no equivalent for operations on file trees"),
        ..PLAIN
    },
    /// A TCP connection per thread that carries blocks: written to the peer, or read from it.
    TcpStream: EngineInfo {
        name: "tcp_stream",
        does: Work::Stream,
        ..NETWORK
    },
    /// A TCP connection per thread, on which the peer responds to each block with one of the same
    /// size.
    TcpRr: EngineInfo {
        name: "tcp_rr",
        does: Work::RoundTrips,
        is_async: true,
        ..NETWORK
    },
    /// A TCP connection per block; the peer responds with a block of the same size.
    TcpConnect: EngineInfo {
        name: "tcp_connect",
        does: Work::Connections,
        ..NETWORK
    },
    /// Numbered UDP datagrams to the peer, or from it; the receiver counts them.
    UdpStream: EngineInfo {
        name: "udp_stream",
        does: Work::Datagrams,
        ..NETWORK
    },
    /// Replays the recorded I/O of an application: see [`RecordedLoad`](crate::RecordedLoad).
    Replay: EngineInfo {
        name: "replay",
        does: Work::Recording,
        at: DrivenAt::Directory,
        cache: PageCache::Never,
        trims: false,
        fio: Err("fio replays iotax recordings only after `iotax capture export`"),
        ..PLAIN
    },
}

impl Engine {
    /// The engines that a job can have without a recording, which always brings its own engine.
    pub(crate) const CHOICES: &[Self] = {
        let (choices, last) = Self::ALL.split_at(Self::ALL.len() - 1);
        assert!(last[0].replays(), "the engine of recordings is declared last");
        choices
    };
    /// Their names, in the same order.
    pub(crate) const NAMES: &[&str] = EVERY_NAME.split_at(Self::CHOICES.len()).0;

    /// The name used in specs and reports.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// Whether more than one I/O per thread can be in flight.
    pub const fn is_async(self) -> bool {
        self.info().is_async
    }

    /// Whether it never accesses the target.
    pub const fn does_nothing(self) -> bool {
        matches!(self.info().does, Work::Nothing)
    }

    /// Whether it reads and writes a span.
    pub const fn has_span(self) -> bool {
        matches!(self.info().does, Work::Span)
    }

    /// Whether it needs the far end of a network path.
    pub const fn is_network(self) -> bool {
        matches!(self.info().at, DrivenAt::Peer)
    }

    /// Whether it is measured by throughput: blocks in one direction.
    pub const fn is_stream(self) -> bool {
        matches!(self.info().does, Work::Stream)
    }

    /// Whether it sends datagrams; some may be lost.
    pub const fn is_datagrams(self) -> bool {
        matches!(self.info().does, Work::Datagrams)
    }

    /// Whether it opens a connection per request.
    pub const fn is_connections(self) -> bool {
        matches!(self.info().does, Work::Connections)
    }

    /// Whether it is measured by the time until the response to a request.
    pub const fn is_round_trips(self) -> bool {
        matches!(self.info().does, Work::RoundTrips)
    }

    /// Name of its unit of work: an I/O, or a request over a network path.
    pub const fn unit(self) -> &'static str {
        match self.info().does {
            Work::Nothing | Work::Span | Work::Tree | Work::Recording => "I/O",
            Work::Stream => "block",
            Work::RoundTrips => "request",
            Work::Connections => "connection",
            Work::Datagrams => "datagram",
        }
    }

    /// Whether its connections to a peer stay open for the whole trial.
    pub const fn keeps_connections(self) -> bool {
        self.is_stream() || self.is_round_trips()
    }

    /// Whether it replays a recording.
    pub const fn replays(self) -> bool {
        matches!(self.info().does, Work::Recording)
    }

    /// Whether it works on a tree of files.
    pub const fn has_tree(self) -> bool {
        matches!(self.info().does, Work::Tree)
    }
}
