//! Records the I/O of running programs with BPF: each call, its timing, and which thread waits for
//! which.
//!
//! BPF programs on the kernel's tracepoints write events to a ring buffer (`bpf/record.bpf.c`). A
//! [`Recorder`] reads them, numbers files and threads, and writes a trace. File contents and names
//! stay in the kernel; only keyed hashes of paths leave it.
//!
//! | module | contents |
//! |---|---|
//! | `calls` | which system calls are recorded, and which of their arguments |
//! | `probes` | loads and attaches the BPF programs |
//! | `btf` | parameter counts of the kernel's tracepoints (BTF) |
//! | `raw` | layout of an event in the ring buffer |
//! | `translate` | converts raw events to trace events |
//! | `start_state` | size, holes and cached pages of a file before it is used |
//! | `processes` | what to record: processes, cgroups, a command |
//! | `sink` | writes the trace to a file, or holds it in memory |
//! | `recorder` | the recording loop, its limits and its overhead |

mod btf;
mod calls;
mod error;
mod probes;
mod processes;
mod raw;
mod recorder;
mod sink;
mod start_state;
mod translate;

pub use error::Error;
pub use processes::{Subject, find_unit};
pub use recorder::{Limits, Progress, Recorded, Recorder, Request};
