//! Records the I/O of running programs: what they ask of the kernel, when, and who waits for whom.
//!
//! BPF programs on the kernel's tracepoints write events to a ring buffer (`bpf/record.bpf.c`). A
//! [`Recorder`] reads them, numbers files and threads, and writes a trace. No contents and no names
//! leave the kernel.
//!
//! | module | contents |
//! |---|---|
//! | `calls` | which system calls are recorded, and which of their arguments |
//! | `probes` | loads and attaches the BPF programs |
//! | `btf` | what the kernel says about its tracepoints |
//! | `raw` | an event as it comes from the ring buffer |
//! | `translate` | raw events as events of a trace |
//! | `start_state` | size, holes and cached pages of a file before it is used |
//! | `processes` | what to record: processes, control groups, a command |
//! | `sink` | where the trace goes |
//! | `recorder` | the loop, its limits and its own cost |

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
