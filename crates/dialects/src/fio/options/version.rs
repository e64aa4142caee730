//! Which fio knows an option, and a value of it.

use std::fmt;

use super::info::{OLDEST, OptionInfo};
use super::lookup::{engines, find, find_of_engine};
use super::newer::{GONE, NEWEST, VALUES};

/// A release of fio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// 3, for years.
    pub major: u16,
    /// 33 of 3.33.
    pub minor: u16,
}

/// The newest release whose options are known here.
pub(crate) const NEWEST_KNOWN: Version = of_fio_3(NEWEST);

const fn of_fio_3(minor: u8) -> Version {
    Version { major: 3, minor: minor as u16 }
}

impl Version {
    /// From what `fio --version` says: `fio-3.33`, `fio-3.36-12-gabcdef`.
    pub fn parse(said: &str) -> Option<Self> {
        let digits = |text: &str| {
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            text[..end].parse().ok()
        };
        let (major, rest) = said.trim().strip_prefix("fio-")?.split_once('.')?;
        Some(Self { major: digits(major)?, minor: digits(rest)? })
    }

    /// `with fio 3.34`, or `after fio 3.42` for what no release has yet.
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
    /// The release it came in, if that is one after 3.33.
    pub fn came(&self) -> Option<Version> {
        (self.since > OLDEST).then(|| of_fio_3(self.since))
    }
}

/// The release that an option with this value came in, if that is one after 3.33.
///
/// Where several engines have an option of that name, the first of them counts.
pub fn came(name: &str, value: &str) -> Option<Version> {
    let word = value.split(':').next().unwrap_or_default().trim();
    let of_value = VALUES.iter().find(|(option, known, _)| *option == name && *known == word);
    let of_engines = || engines().filter_map(|engine| find_of_engine(engine, name));
    let of_option = match find(name) {
        Some(option) => option.came(),
        None => of_engines().min_by_key(|option| option.since).and_then(OptionInfo::came),
    };
    of_option.max(of_value.map(|(_, _, since)| of_fio_3(*since)))
}

/// Of an option that no fio has any more: the releases that had it, and what to do.
pub(crate) fn gone(name: &str) -> Option<(String, &'static str)> {
    let (_, first, last, advice) = GONE.iter().find(|(gone, ..)| *gone == name)?;
    let had = if first == last { format!("fio {first}") } else { format!("fio {first} to {last}") };
    Some((had, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::options::Kind;

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
            let of_engine = || engines().find_map(|engine| find_of_engine(engine, name));
            let option = find(name).or_else(of_engine).unwrap();
            if let Kind::Choice(words) = option.kind {
                assert!(words.contains(value), "{name}={value}");
            }
        }
    }
}
