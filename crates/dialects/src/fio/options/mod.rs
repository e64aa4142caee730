//! Every option of fio: its names, how its value is read, since when it is there, what iotax makes
//! of it, and whether it can reach beyond the target.
//!
//! The table follows `options.c` and the engines' own option lists of fio 3.33, and is compared
//! with `fio --cmdhelp` and `fio --enghelp` by a test; what came after, up to the state of August
//! 2026, is from the tags of fio's repository. What no release has yet is of the one that follows.

mod info;
mod table;
#[cfg(test)]
mod tests;
mod version;

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub(crate) use info::{Class, Reach};
pub use info::{OptionInfo, Unit, ValueKind};
use table::OPTIONS;
pub(crate) use version::{NEWEST_KNOWN, gone};
pub use version::{Version, came};

/// All options: those of every job, then those of engines.
pub fn every() -> impl Iterator<Item = &'static OptionInfo> {
    OPTIONS.iter()
}

/// The options that every job may have.
pub fn all() -> impl Iterator<Item = &'static OptionInfo> {
    every().filter(|option| option.engines.is_empty())
}

/// The option of that name or alias that every job may have, whatever its engine.
pub fn option_named(name: &str) -> Option<&'static OptionInfo> {
    static BY_NAME: LazyLock<BTreeMap<&str, &OptionInfo>> = LazyLock::new(|| {
        all().flat_map(|option| option.names().map(move |name| (name, option))).collect()
    });
    BY_NAME.get(name).copied()
}

/// What `engine` adds to the options of every job; nothing for an engine that is not known.
pub fn of_engine(engine: &str) -> impl Iterator<Item = &'static OptionInfo> + use<'_> {
    every().filter(move |option| option.engines.contains(&engine))
}

/// The option of that name or alias that `engine` adds.
pub(crate) fn find_of_engine(engine: &str, name: &str) -> Option<&'static OptionInfo> {
    of_engine(engine).find(|option| option.is_called(name))
}

/// Engines that have an option of that name; most of them need hardware or a library.
pub(crate) fn engines_with(name: &str) -> impl Iterator<Item = &'static str> {
    named(name).flat_map(|option| &option.engines).copied()
}

/// All options of that name or alias: several if engines have each their own.
pub(crate) fn named(name: &str) -> impl Iterator<Item = &'static OptionInfo> {
    every().filter(move |option| option.is_called(name))
}
