//! Drives I/O and flows: native engines and pacing; or the programs fio and iperf3.
//!
//! A [`Request`] names a workload and a target. A [`LoadDriver`] lays out what the workload needs,
//! runs it, and returns an [`iotax_record::LoadRecord`]. Failing I/Os are part of the record; an
//! [`Error`] means that a load could not run at all.
//!
//! # Table of contents
//!
//! | module | idea |
//! |---|---|
//! | `driver` | the seam: requests, the trait; progress while a load runs |
//! | `target` | what load can be driven at: a path, a disk, the far end of a network path |
//! | `file_assignment`, `layout` | which thread and job uses which target; test files |
//! | `engine` | what an engine is; a thread of a job, its start, pace and window, what it counts |
//! | `engine::engines::*` | one file per engine: null, psync, mmap, `io_uring`, `tcp_stream`, ... |
//! | `engine::access::*` | what comes next: one file per kind of order, sizes, marks between I/Os |
//! | `engine::sigbus`, `native::io_errors` | surviving and describing failures |
//! | `native::coordinator`, `worker` | threads up, common start, threads down |
//! | `native::drive` | the loop that issues I/Os: the hot path |
//! | `native::fill` | one pass over all that a workload uses |
//! | `native::placement` | before the start: CPUs, priority, memory |
//! | `index` | versions of an index, published, loaded and searched beside the jobs |
//! | `tree` | operations on trees of small files |
//! | `verify` | data that neither compresses nor dedupes, read back and compared |
//! | `fio` | the program fio instead of the native engines |
//! | `replay` | the recorded I/O of an application |
//! | `iperf3` | the program iperf3 instead of the native engines, over network paths |
//! | `peer` | the two ends of a network path: handshake, what the far end does, counters |
//! | `sockopt` | options of sockets |
//! | `child` | another program, started, watched and ended |
//! | `pause` | whether load was held up by something else than the storage |
//! | `counters`, `busiest` | the machine's counters over the window, and what had most to do |
//!
//! # To add an engine
//!
//! Its entry in `iotax_experiment::Engine`; one file in `engine/engines` that implements `Engine`,
//! its `mod` line, and an arm in `native::worker`.

#[cfg(not(target_os = "linux"))]
compile_error!("iotax runs only on Linux");

mod busiest;
mod child;
mod counters;
mod driver;
mod engine;
mod error;
mod file_assignment;
mod fio;
mod index;
mod iperf3;
mod layout;
mod native;
mod pause;
mod peer;
mod replay;
mod sockopt;
mod sync;
mod target;
mod tree;
mod verify;

pub use driver::{LayoutProgress, LoadDriver, LoadProgress, Request, WindowState};
pub use engine::io_uring_is_allowed;
pub use error::Error;
pub use fio::{Fio, refuse_with_fio};
pub use iperf3::{Iperf3, refuse_with_iperf3};
pub use native::{Filler, Native, calibrate};
pub use peer::{
    PathEnds, ends as path_ends, handshake as peer_handshake, new_secret as new_peer_secret,
    probe_path, serve as serve_peer,
};
pub use replay::{FioLog, LoggedFile, Options as ReplayOptions, Recording, Replay};
pub use target::{
    IoTarget, Peer, PeerSecret, PeerSecrets, Tls, TlsBy, TlsCipher, enter_namespace,
    within_namespace,
};
