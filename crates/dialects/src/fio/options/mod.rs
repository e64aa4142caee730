//! All options of fio: names, kind of value, release that introduced them, how iotax treats them,
//! and whether they can reach beyond the target.
//!
//! The table follows `options.c` and the option lists of the engines in fio 3.33; a test compares
//! it with `fio --cmdhelp` and `fio --enghelp`. Later options, up to August 2026, are from the tags
//! of fio's repository. Options that are not released yet are assigned to the next release.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

/// All options: first those of every job, then those of engines.
pub fn every() -> impl Iterator<Item = &'static OptionInfo> {
    OPTIONS.iter()
}

/// The options that every job can have.
pub fn all() -> impl Iterator<Item = &'static OptionInfo> {
    every().filter(|option| option.engines.is_empty())
}

/// Finds by name or alias an option that every job can have, whatever its engine.
pub fn option_named(name: &str) -> Option<&'static OptionInfo> {
    static BY_NAME: LazyLock<BTreeMap<&str, &OptionInfo>> = LazyLock::new(|| {
        all().flat_map(|option| option.names().map(move |name| (name, option))).collect()
    });
    BY_NAME.get(name).copied()
}

/// The options that `engine` adds; none for an unknown engine.
pub fn of_engine(engine: &str) -> impl Iterator<Item = &'static OptionInfo> + use<'_> {
    every().filter(move |option| option.engines.contains(&engine))
}

/// Finds by name or alias an option that `engine` adds.
pub(crate) fn find_of_engine(engine: &str, name: &str) -> Option<&'static OptionInfo> {
    of_engine(engine).find(|option| option.is_called(name))
}

/// Engines that have an option with that name; most of them need hardware or a library.
pub(crate) fn engines_with(name: &str) -> impl Iterator<Item = &'static str> {
    named(name).flat_map(|option| &option.engines).copied()
}

/// All options with that name or alias; several if each engine has its own.
pub(crate) fn named(name: &str) -> impl Iterator<Item = &'static OptionInfo> {
    every().filter(move |option| option.is_called(name))
}

// Facts about an option.

/// An option of fio.
#[derive(Debug, PartialEq)]
pub struct OptionInfo {
    /// fio's main name for it, which is used in results.
    pub name: &'static str,
    /// Another name that fio accepts.
    pub alias: Option<&'static str>,
    /// How its value is read.
    pub kind: ValueKind,
    /// Engines that add it; empty if every job can have it.
    pub engines: Vec<&'static str>,
    /// The release of fio 3 that introduced it, or 33 if it is older: see [`OptionInfo::came`].
    since: u8,
    /// How iotax treats it.
    pub(crate) class: Class,
    /// What iotax does not let fio do with it.
    pub(crate) reach: Reach,
}

impl OptionInfo {
    /// Its name, and its alias if it has one.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.alias)
    }

    fn is_called(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }
}

/// How fio reads the value of an option.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueKind {
    /// Any text, or text with a syntax of its own.
    Text,
    /// The same; the option may also have no value.
    OptionalText,
    /// One of these words, perhaps followed by `:` and details.
    Choice(&'static [&'static str]),
    /// Whole numbers of 32 bits with suffixes such as `k`: one, or up to three separated by commas,
    /// for reads, writes and trims.
    Integer {
        /// The smallest allowed value.
        min: i64,
        /// The largest allowed value.
        max: i64,
    },
    /// The same, with 64 bits.
    Long {
        /// The smallest allowed value.
        min: i64,
    },
    /// A size, a percentage of the file, or a number of zones (`5z`).
    Size,
    Time {
        /// The unit of a bare number.
        bare: Unit,
    },
    /// A time in seconds, or two of them as in `1-3`, between which fio picks one at random.
    Delay,
    /// A pair of sizes, `4k-64k`, or up to three pairs separated by commas.
    Range,
    /// Numbers separated by `:`.
    Floats {
        /// The maximum count.
        most: usize,
        /// The smallest allowed value.
        min: f64,
        /// The largest allowed value.
        max: f64,
    },
    /// 0 or 1.
    Bool,
    /// No value needed; 0 or 1 may be given.
    Flag,
    /// A former option, or one of a profile: fio ignores it.
    Ignored,
    /// A former option: fio stops.
    Removed,
}

/// Units of time for bare numbers in fio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// `runtime=10`.
    Seconds,
    /// `thinktime=10`.
    Microseconds,
}

/// How iotax treats an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// The code of this module reads it.
    Meaning,
    /// It does not affect anything that is measured.
    Silent,
    /// The native engines do not need it; it is passed on if fio drives.
    Kept,
    /// It is ignored with a note to the user, unless it has one of these values.
    Noted { unless: &'static str, note: &'static str },
    /// Only fio supports it, unless it has one of these values.
    Beyond { unless: &'static str, why: &'static str },
}

/// Whether an option can make fio reach beyond the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Its possible values are unknown.
    Unknown,
    /// Its value is a number or a word, never a path, a program or an address.
    Inside,
    /// The same, with `/` and `:` between numbers.
    Shares,
    /// It reaches outside the target if its value names a path.
    Path,
    /// A value in `'` quotes is the name of a file to read.
    Pattern,
    /// It is refused with any value, for this reason.
    Refused(&'static str),
}

// The table of options, one line per option: `data/fio_options.tsv`.
//
// An option that several engines define differently has one line for each of them.

/// The release of fio 3 for options that do not specify one.
const OLDEST: u8 = 33;

/// All options in the order of fio's help: first those of every job, then those of engines.
static OPTIONS: LazyLock<Vec<OptionInfo>> = LazyLock::new(|| {
    let lines = include_str!("../../../data/fio_options.tsv").lines().skip(1);
    lines.map(|line| option(line).unwrap_or_else(|| panic!("no option of fio: {line}"))).collect()
});

fn option(line: &'static str) -> Option<OptionInfo> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [name, alias, engines, since, takes, class, reach, unless, says] = cells[..] else {
        return None;
    };
    Some(OptionInfo {
        name,
        alias: Some(alias).filter(|alias| !alias.is_empty()),
        kind: kind(takes)?,
        engines: engines.split_whitespace().collect(),
        since: if since.is_empty() { OLDEST } else { since.strip_prefix("3.")?.parse().ok()? },
        class: match class {
            "meaning" => Class::Meaning,
            "silent" => Class::Silent,
            "kept" => Class::Kept,
            "noted" => Class::Noted { unless, note: says },
            "beyond" => Class::Beyond { unless, why: says },
            _ => return None,
        },
        reach: match reach {
            "" => Reach::Unknown,
            "inside" => Reach::Inside,
            "shares" => Reach::Shares,
            "path" => Reach::Path,
            "pattern" => Reach::Pattern,
            why => Reach::Refused(why),
        },
    })
}

/// Parses `bool`, `one-of read|write`, `integer 1..`, `floats 20 0..100`.
fn kind(text: &'static str) -> Option<ValueKind> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    Some(match word {
        "text" => ValueKind::Text,
        "text?" => ValueKind::OptionalText,
        "one-of" => ValueKind::Choice(rest.split('|').collect::<Vec<_>>().leak()),
        "integer" => {
            let (min, max) = limits(rest, 0, u32::MAX.into())?;
            ValueKind::Integer { min, max }
        }
        "long" => ValueKind::Long { min: limits(rest, 0, i64::MAX)?.0 },
        "size" => ValueKind::Size,
        "seconds" => ValueKind::Time { bare: Unit::Seconds },
        "microseconds" => ValueKind::Time { bare: Unit::Microseconds },
        "delay" => ValueKind::Delay,
        "range" => ValueKind::Range,
        "floats" => {
            let (most, range) = rest.split_once(' ').unwrap_or((rest, ""));
            let (min, max) = limits(range, f64::MIN, f64::MAX)?;
            ValueKind::Floats { most: most.parse().ok()?, min, max }
        }
        "bool" => ValueKind::Bool,
        "flag" => ValueKind::Flag,
        "ignored" => ValueKind::Ignored,
        "removed" => ValueKind::Removed,
        _ => return None,
    })
}

/// Parses `1..100`, `1..` or nothing.
fn limits<T: FromStr>(range: &str, min: T, max: T) -> Option<(T, T)> {
    let Some((from, to)) = range.split_once("..") else {
        return range.is_empty().then_some((min, max));
    };
    Some((from.parse().ok()?, if to.is_empty() { max } else { to.parse().ok()? }))
}

// Which release of fio introduced an option, or a value of it.

/// The newest release whose options are in the table.
pub(crate) const NEWEST_KNOWN: Version = of_fio_3(42);
const LATER: u8 = 43;

/// New values of older options: the option, the value, the release.
const VALUES: [(&str, &str, u8); 10] = [
    ("ioengine", "libblkio", 34),
    ("fadvise_hint", "noreuse", 35),
    ("protocol", "vsock", 37),
    ("verify", "pattern_hdr", 40),
    ("steadystate", "lat", 42),
    ("steadystate", "lat_slope", 42),
    ("cmd_type", "bsg", LATER),
    ("random_distribution", "sequence", LATER),
    ("ioengine", "libhipfile", LATER),
    ("ioengine", "page_fault", LATER),
];

/// Options that only older releases had: the option, the first and last of these releases, and what
/// to write instead.
const GONE: [(&str, &str, &str, &str); 4] = [
    ("use_os_rand", "1.52", "3.11", "leave it out; fio has its own generator"),
    ("fadvise_stream", "2.2.7", "2.21", "write write_hint"),
    ("chunck_size", "2.3", "2.13", "write chunk_size"),
    ("stream", "2.21", "2.21", "write write_hint"),
];

/// A release of fio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// 3, for several years.
    pub major: u16,
    /// 33 in 3.33.
    pub minor: u16,
}

const fn of_fio_3(minor: u8) -> Version {
    Version { major: 3, minor: minor as u16 }
}

impl Version {
    /// Parses the output of `fio --version`: `fio-3.33`, `fio-3.36-12-gabcdef`.
    pub fn parse(said: &str) -> Option<Self> {
        let digits = |text: &str| {
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            text[..end].parse().ok()
        };
        let (major, rest) = said.trim().strip_prefix("fio-")?.split_once('.')?;
        Some(Self { major: digits(major)?, minor: digits(rest)? })
    }

    /// `with fio 3.34`, or `after fio 3.42` if it is not released yet.
    pub fn came(self) -> String {
        if self > NEWEST_KNOWN {
            format!("after fio {NEWEST_KNOWN}")
        } else {
            format!("with fio {self}")
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl OptionInfo {
    /// The release that introduced it, if later than 3.33.
    pub fn came(&self) -> Option<Version> {
        (self.since > OLDEST).then(|| of_fio_3(self.since))
    }
}

/// The release that introduced an option with this value, if later than 3.33.
///
/// If several engines have an option with that name, the first one counts.
pub fn came(name: &str, value: &str) -> Option<Version> {
    let word = value.split(':').next().unwrap_or_default().trim();
    let of_value = VALUES.iter().find(|(option, known, _)| *option == name && *known == word);
    let of_option = match option_named(name) {
        Some(option) => option.came(),
        None => named(name).min_by_key(|option| option.since).and_then(OptionInfo::came),
    };
    of_option.max(of_value.map(|(_, _, since)| of_fio_3(*since)))
}

/// For a former option: the releases that had it, and what to do.
pub(crate) fn gone(name: &str) -> Option<(String, &'static str)> {
    let (_, first, last, advice) = GONE.iter().find(|(gone, ..)| *gone == name)?;
    let had = if first == last { format!("fio {first}") } else { format!("fio {first} to {last}") };
    Some((had, advice))
}

#[cfg(test)]
mod tests_of_version {
    use super::{ValueKind, *};

    #[test]
    fn versions_are_read() {
        let read = |said| Version::parse(said).map(|version| version.to_string());
        assert_eq!(read("fio-3.33\n").as_deref(), Some("3.33"));
        assert_eq!(read("fio-3.36-12-gabcdef\n").as_deref(), Some("3.36"));
        assert_eq!(read("fio-3.9.1").as_deref(), Some("3.9"));
        assert_eq!(read("flexible"), None);
    }

    #[test]
    fn options_and_values_have_the_release_they_came_in() {
        let came = |name, value| came(name, value).map(Version::came);
        assert_eq!(came("fdp", "1").as_deref(), Some("with fio 3.34"));
        assert_eq!(came("bs", "4k"), None);
        assert_eq!(came("fadvise_hint", "random"), None);
        assert_eq!(came("fadvise_hint", "noreuse").as_deref(), Some("with fio 3.35"));
        assert_eq!(came("steadystate", "lat:10%").as_deref(), Some("with fio 3.42"));
        assert_eq!(came("verify_policy", "").as_deref(), Some("after fio 3.42"));
        // Of two engines, and one of them had it before.
        assert_eq!(came("hipri", "1"), None);
        assert_eq!(came("deac", "1").as_deref(), Some("with fio 3.39"));
    }

    #[test]
    fn new_values_are_values_of_their_options() {
        for (name, value, _) in VALUES {
            let option = named(name).next().unwrap();
            if let ValueKind::Choice(words) = option.kind {
                assert!(words.contains(&value), "{name}={value}");
            }
        }
    }
}
