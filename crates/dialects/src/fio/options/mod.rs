//! Every option of fio: its names, how its value is read, and since when it is there.
//!
//! The tables follow `options.c` and the engines' own option lists of fio 3.33, and are compared
//! with `fio --cmdhelp` and `fio --enghelp` by a test; `newer` has what came after.

mod engines;
mod info;
mod io;
mod job;
mod lookup;
mod newer;
#[cfg(test)]
mod tests;
mod version;

pub use info::{Kind, OptionInfo, Unit};
pub use lookup::{all, engines, find, of_engine};
pub(crate) use lookup::{engines_with, find_of_engine};
pub(crate) use version::{NEWEST_KNOWN, gone};
pub use version::{Version, came};
