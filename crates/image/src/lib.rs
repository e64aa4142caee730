//! An image for containers, of programs for one machine or several.
//!
//! | module | idea |
//! |---|---|
//! | `program` | programs, for which machine they are, which libraries they take |
//! | `archive` | the archive that registries and nodes take |
#![forbid(unsafe_code)]

mod archive;
mod program;

pub use archive::{File, Platform, digest, name, write};
pub use program::{of_file, this_program};
