//! The native load engines.

pub(crate) mod access;
pub(crate) mod buffers;
pub(crate) mod clock;
pub(crate) mod counts;
pub(crate) mod drive;
pub(crate) mod engines;
pub(crate) mod flow;
pub(crate) mod gate;
pub(crate) mod io;
pub(crate) mod io_errors;
pub(crate) mod latency_target;
pub(crate) mod merge;
pub(crate) mod pace;
pub(crate) mod priorities;
pub(crate) mod random;
mod ring;
pub(crate) mod setup;
pub(crate) mod shared_state;
pub(crate) mod sigbus;
pub(crate) mod span;
pub(crate) mod tcp_info;
pub(crate) mod trim;
pub(crate) mod usage;
pub(crate) mod window;
mod zero_copy;

mod affinity;
mod calibrate;
mod coordinator;
mod fill;
mod index_threads;
mod memory;
mod placement;
#[cfg(test)]
pub(crate) mod testing;
mod warm;
mod worker;

pub use calibrate::calibrate;
pub use coordinator::Native;
pub use fill::Filler;
pub use ring::io_uring_is_allowed;
