//! Every option of fio: its names, how its value is read, and since when it is there.
//!
//! The tables follow `options.c` and the engines' own option lists of fio 3.33, and are compared
//! with `fio --cmdhelp` and `fio --enghelp` by a test; `newer` has what came after.

mod engines;
mod io;
mod job;
mod newer;
#[cfg(test)]
mod tests;
mod version;

use std::cmp::Ordering;
use std::sync::LazyLock;

pub use version::{NEWEST_KNOWN, Version, came, gone};

/// An option of fio.
#[derive(Debug, PartialEq)]
pub struct OptionInfo {
    /// fio's first name of it, by which its results call it.
    pub name: &'static str,
    /// Another name that fio takes for it.
    pub alias: Option<&'static str>,
    /// How its value is read.
    pub kind: Kind,
    /// The release of fio 3 that it came in, or 33 if it was there before: see
    /// [`OptionInfo::came`].
    since: u8,
}

impl OptionInfo {
    const fn since(self, since: u8) -> Self {
        Self { since, ..self }
    }
}

/// How fio reads the value of an option.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Kept as it is, or with a syntax of its own.
    Text,
    /// The same, and the option may stand alone.
    OptionalText,
    /// One of these words; `:` and details may follow it.
    Choice(&'static [&'static str]),
    /// Whole numbers of 32 bits with suffixes such as `k`: one, or up to three with commas
    /// between them, for reads, writes and trims.
    Integer {
        /// The smallest allowed.
        min: i64,
        /// The largest allowed.
        max: i64,
    },
    /// The same with 64 bits.
    Long {
        /// The smallest allowed.
        min: i64,
    },
    /// A size, a percentage of the file, or a number of zones (`5z`).
    Size,
    /// A time.
    Time {
        /// The unit of a number without one.
        bare: Unit,
    },
    /// A time in seconds, or two of them, `1-3`, between which fio draws one.
    Delay,
    /// A pair of sizes, `4k-64k`, or up to three of them with commas between.
    Range,
    /// Numbers with `:` between them.
    Floats {
        /// How many, at most.
        most: usize,
        /// The smallest allowed.
        min: f64,
        /// The largest allowed.
        max: f64,
    },
    /// 0 or 1.
    Bool,
    /// Stands alone; 0 or 1 may be given.
    Flag,
    /// Once was an option, or is one of a profile: fio goes on without it.
    Ignored,
    /// Once was an option: fio stops.
    Removed,
}

/// Units of time that fio gives to bare numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// `runtime=10`.
    Seconds,
    /// `thinktime=10`.
    Microseconds,
}

const INTEGER: Kind = Kind::Integer { min: 0, max: u32::MAX as i64 };
const LONG: Kind = Kind::Long { min: 0 };

const fn at_least(min: i64) -> Kind {
    Kind::Integer { min, max: u32::MAX as i64 }
}

const fn within(min: i64, max: i64) -> Kind {
    Kind::Integer { min, max }
}

const fn long_from(min: i64) -> Kind {
    Kind::Long { min }
}

const fn floats(most: usize) -> Kind {
    Kind::Floats { most, min: f64::MIN, max: f64::MAX }
}

const fn named(name: &'static str, kind: Kind) -> OptionInfo {
    OptionInfo { name, alias: None, kind, since: newer::OLDEST }
}

const fn aliased(name: &'static str, alias: &'static str, kind: Kind) -> OptionInfo {
    OptionInfo { name, alias: Some(alias), kind, since: newer::OLDEST }
}

/// The option of that name or alias that every job may have, whatever its engine.
pub fn find(name: &str) -> Option<&'static OptionInfo> {
    in_table(&JOB_OPTIONS, name)
}

/// The option of that name or alias that `engine` adds.
pub fn find_of_engine(engine: &str, name: &str) -> Option<&'static OptionInfo> {
    of_engine(engine).find(|option| option.name == name || option.alias == Some(name))
}

/// Engines that have an option of that name; most of them need hardware or a library.
pub fn engines_with(name: &str) -> impl Iterator<Item = &'static str> {
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
    engines::OPTIONS.iter().chain(newer::OF_ENGINES)
}

/// The options that every job may have.
pub fn all() -> impl Iterator<Item = &'static OptionInfo> {
    io::OPTIONS.iter().chain(job::OPTIONS).chain(newer::OPTIONS)
}

type Named = (&'static str, &'static OptionInfo);

/// Names and aliases of all options of jobs, in order.
static JOB_OPTIONS: LazyLock<Vec<Named>> = LazyLock::new(|| {
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
