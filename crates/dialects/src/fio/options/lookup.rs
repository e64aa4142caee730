//! Options by name and by engine.

use std::cmp::Ordering;
use std::sync::LazyLock;

use super::info::OptionInfo;
use super::{io, job, newer};

/// The option of that name or alias that every job may have, whatever its engine.
pub fn find(name: &str) -> Option<&'static OptionInfo> {
    in_table(&JOB_OPTIONS, name)
}

/// The option of that name or alias that `engine` adds.
pub(crate) fn find_of_engine(engine: &str, name: &str) -> Option<&'static OptionInfo> {
    of_engine(engine).find(|option| option.name == name || option.alias == Some(name))
}

/// Engines that have an option of that name; most of them need hardware or a library.
pub(crate) fn engines_with(name: &str) -> impl Iterator<Item = &'static str> {
    let has = move |options: &[OptionInfo]| {
        options.iter().any(|option| option.name == name || option.alias == Some(name))
    };
    lists().filter(move |(_, options)| has(options)).flat_map(|(names, _)| *names).copied()
}

/// What `engine` adds to the options of every job; nothing for an engine that is not known.
pub fn of_engine(engine: &str) -> impl Iterator<Item = &'static OptionInfo> + use<'_> {
    lists().filter(move |(names, _)| names.contains(&engine)).flat_map(|(_, options)| *options)
}

/// Engines that have options of their own.
pub fn engines() -> impl Iterator<Item = &'static str> {
    lists().flat_map(|(names, _)| *names).copied()
}

/// Engines that share a list of options, and the list.
type List = (&'static [&'static str], &'static [OptionInfo]);

fn lists() -> impl Iterator<Item = &'static List> {
    super::engines::OPTIONS.iter().chain(newer::OF_ENGINES)
}

/// The options that every job may have.
pub fn all() -> impl Iterator<Item = &'static OptionInfo> {
    io::OPTIONS.iter().chain(job::OPTIONS).chain(newer::OPTIONS)
}

pub(super) type Named = (&'static str, &'static OptionInfo);

/// Names and aliases of all options of jobs, in order.
pub(super) static JOB_OPTIONS: LazyLock<Vec<Named>> = LazyLock::new(|| {
    let names = |option: &'static OptionInfo| {
        std::iter::once(option.name).chain(option.alias).map(move |name| (name, option))
    };
    let mut table: Vec<Named> = all().flat_map(names).collect();
    table.sort_by_key(|(name, _)| *name);
    table
});

fn in_table(table: &[Named], name: &str) -> Option<&'static OptionInfo> {
    let at = table.binary_search_by(|(known, _)| -> Ordering { (*known).cmp(name) }).ok()?;
    Some(table[at].1)
}
