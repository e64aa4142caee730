//! Where threads of `vdisk` and `load` meet, and where their code is unsafe without calling the
//! kernel: the sources themselves, without the crates around them.
//!
//! They say `crate::sync` where they would say `std::sync`. Here that is loom's, which tries every
//! order in which threads can get on, and everything that the memory model allows a thread to see.
//! Under miri it is std's, and the sources' own tests run.

#![allow(dead_code, clippy::all)]

#[cfg(not(miri))]
mod sync;
#[cfg(miri)]
use std::sync;

// With the tests in its files under miri alone.
#[cfg(any(miri, not(test)))]
mod threads;

#[cfg(not(any(miri, test)))]
#[path = "../../../crates/vdisk/src/bucket/mod.rs"]
mod bucket;

#[cfg(miri)]
mod memory;

#[cfg(not(any(miri, test)))]
pub mod models;
#[cfg(not(any(miri, test)))]
pub use sync::Fault;
