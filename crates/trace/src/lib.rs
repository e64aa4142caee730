//! Traces of an application's I/O: what it asked of the kernel, when, and who waited for whom.
//!
//! | module | contents |
//! |---|---|
//! | `event` | one call |
//! | `head` | the trace as a whole: source, files, loss |
//! | `columns` | a chunk of events as bytes |
//! | `file` | the file that holds them |
//! | `profile` | a summary of a trace |
//! | `import` | traces of strace, blktrace, fio and cloud providers |
//! | `export` | traces for other programs |
//!
//! A trace holds no contents and no names. Files and threads are numbers.

mod columns;
mod event;
pub mod export;
mod file;
mod head;
pub mod import;
pub mod profile;
mod varint;

pub use columns::CHUNK;
pub use event::{Call, Event, File, Flags, NO_FILE, Op, TICK_NS, TURNS_OVERLAP_ONE_IN, Thread};
pub use file::{Error, Reader, Writer, is_trace};
pub use head::{
    ChunkPlace, End, EndReason, FileKind, FileState, Gap, Head, Source, Unseen, VERSION,
};
