//! Recordings of an application's I/O: each call, its timing, and which thread waited for which.
//!
//! | module | contents |
//! |---|---|
//! | `event` | one call |
//! | `head` | facts about a trace: source, files, lost events |
//! | `columns` | a chunk of events as bytes |
//! | `file` | the file that holds them |
//! | `requests` | requests of clients and their answers |
//! | `profile` | a summary of a trace |
//! | `import` | traces of strace, blktrace, fio and cloud providers |
//! | `export` | traces for other programs |
//!
//! A trace contains no file contents and no names. Files and threads are numbered.

mod columns;
mod event;
pub mod export;
mod file;
mod head;
pub mod import;
pub mod profile;
mod requests;
mod varint;

pub use columns::CHUNK;
pub use event::{Call, Event, File, Flags, NO_FILE, Op, TICK_NS, TURNS_OVERLAP_ONE_IN, Thread};
pub use file::{Error, Kept, Reader, Writer, is_trace, keep_whole_blocks};
pub use head::{
    ChunkPlace, End, EndReason, FileKind, FileState, Gap, Head, Source, Unseen, VERSION,
};
pub use requests::{CONNECTIONS, OpenRequests, connection};
