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
//! | `btf` | the tracepoints and BPF helpers of the kernel, and the layout of btrfs (BTF) |
//! | `raw` | layout of an event in the ring buffer |
//! | `translate` | converts raw events to trace events |
//! | `names` | which file has which name, by keyed hashes |
//! | `mappings` | which file is mapped where in the memory of a process |
//! | `start_state` | size, holes and cached pages of a file before it is used |
//! | `open_files` | files that a process has open or mapped |
//! | `processes` | what to record: processes, cgroups, a command |
//! | `groups` | control groups and systemd units |
//! | `containers` | containers, found by their IDs |
//! | `sink` | writes the trace to a file, or holds it in memory |
//! | `by_strace` | records with strace instead, without BPF |
//! | `recorder` | attaches, records and ends a recording |
//! | `session` | the recording loop |
//! | `overhead` | the CPU time that recording takes |

mod btf;
mod by_strace;
mod calls;
mod containers;
mod error;
mod groups;
mod mappings;
mod names;
mod open_files;
mod overhead;
mod probes;
mod processes;
mod raw;
mod recorder;
mod session;
mod sink;
mod start_state;
mod translate;

pub use by_strace::record_with_strace;
pub use containers::find_container;
pub use error::Error;
pub use groups::find_unit;
pub use processes::Subject;
pub use recorder::{Limits, Progress, Recorded, Recorder, Request};
