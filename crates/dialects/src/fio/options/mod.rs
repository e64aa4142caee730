//! Every option of fio: its names, how its value is read, since when it is there, what iotax makes
//! of it, and whether it can reach beyond the target.
//!
//! The table follows `options.c` and the engines' own option lists of fio 3.33, and is compared
//! with `fio --cmdhelp` and `fio --enghelp` by a test; what came after, up to the state of August
//! 2026, is from the tags of fio's repository. What no release has yet is of the one that follows.

mod info;
mod lookup;
mod table;
#[cfg(test)]
mod tests;
mod version;

pub(crate) use info::{Class, Reach};
pub use info::{Kind, OptionInfo, Unit};
pub use lookup::{all, every, find, of_engine};
pub(crate) use lookup::{engines_with, find_of_engine, named};
pub(crate) use version::{NEWEST_KNOWN, gone};
pub use version::{Version, came};
