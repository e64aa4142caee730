//! Reads and writes the formats of other tools, such as fio and `DiskSpd`.
//!
//! Job files and command lines become workloads ([`fio`], [`diskspd`]); workloads become job files
//! ([`fio_write`]); and results become a record ([`importers`], [`results`]).
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
