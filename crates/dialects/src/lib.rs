//! The language of other tools: fio and `DiskSpd`.
//!
//! What they are told to do, job files and command lines, becomes workloads ([`fio`], [`diskspd`]);
//! workloads become job files again ([`fio_write`]); and what they measured becomes a record
//! ([`importers`], [`results`]).
#![forbid(unsafe_code)]

pub mod diskspd;
mod error;
pub mod fio;
pub mod fio_write;
pub mod importers;
mod lines;
mod names;
pub mod results;
mod shell;

pub use error::Error;
pub use shell::{Tool, tool};
