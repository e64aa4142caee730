//! The virtual disk: composable in-process block layers.
//!
//! A stack is a list of layers from bottom to top. An I/O goes *down* through them, top to
//! bottom, until one answers, and comes *up* again, as a bio does in the kernel:
//!
//! ```
//! use iotax_layers::Stack;
//! use iotax_vdisk::{ManualClock, Request, Session, Submitted, VirtualDisk};
//! use std::sync::Arc;
//!
//! let stack = Stack::parse("mem(size=1M) + delay(latency=200us)").expect("a stack");
//! let disk = VirtualDisk::open(&stack.layers, Arc::new(ManualClock::starting_at(1_000)))?;
//! let mut session = Session::new(&disk, 1, 4096)?;
//! session.buffer_mut(0).fill(7);
//! let Submitted::Done(completion) = session.submit(0, Request::write(4096, 4096)) else {
//!     unreachable!("no layer of this stack hands work to another thread");
//! };
//! assert_eq!(completion.result, Ok(4096));
//! assert_eq!(completion.ready_at_ns, 201_000);
//! # Ok::<(), iotax_vdisk::Error>(())
//! ```
//!
//! # Time
//!
//! Layers never sleep. Real work (copying, AES, reading a file) takes real time. Simulated time
//! (`delay`, `throttle`, `flash`, stalls) is added up in the I/O, and the completion says from
//! which instant on it counts ([`Completion::ready_at_ns`]). The submitter waits for that instant,
//! for instance with [`Clock::sleep_until`]. So one thread can have hundreds of delayed I/Os in
//! flight, and every rate can be tested to the nanosecond with a [`ManualClock`].
//!
//! # Table of contents
//!
//! | module | idea |
//! |---|---|
//! | `disk`, `session` | the public face: open a stack, fill it, submit I/O to it |
//! | `stack` | the walk down and up |
//! | `io` | the I/O on its way, and the promise that none is lost |
//! | `layer`, `layers/*` | what an open layer is; one file per layer |
//! | `bucket` | the token bucket behind `throttle` |
//! | `clock` | time, injected; waiting for an instant precisely |
//! | `handoff` | handing an I/O to another thread |
//! | `memory`, `shared_memory` | is there enough for what a layer asks? what a `mem` is |
//! | [`fuse`] | the disk as a file that any program can use |
//! | `chance` | repeatable randomness |
//! | `xts` | AES-XTS-256 |

mod available;
mod bucket;
mod chance;
mod clock;
mod disk;
mod error;
pub mod fuse;
mod handoff;
mod io;
mod layer;
mod layers;
mod memory;
mod names;
mod session;
mod shared_memory;
mod stack;
mod stats;
mod sync;
mod xts;

pub use rustix::io::Errno;

pub use available::{AvailableMemory, MemoryLimit, available_memory};
pub use clock::{Clock, ManualClock, MonotonicClock, sleep_until, sleep_until_about};
pub use disk::VirtualDisk;
pub use error::Error;
pub use io::{Completion, Op, Request};
pub use names::shown;
pub use session::{Session, Submitted};
pub use stats::{BackingFacts, LayerStats};
