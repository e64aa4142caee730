//! Builds a container image of the program for one or several architectures.
//!
//! | module | purpose |
//! |---|---|
//! | `program` | programs, their architecture and their libraries |
//! | `archive` | the archive for registries and nodes |
#![forbid(unsafe_code)]

mod archive;
mod program;

pub use archive::{File, Platform, digest, name, write};
pub use program::{of_file, this_program};
