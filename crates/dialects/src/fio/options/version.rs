//! Which fio knows an option, and a value of it.

use std::fmt;

use super::info::OptionInfo;
use super::table::OLDEST;
use super::{named, option_named};

/// The newest release whose options are known here.
pub(crate) const NEWEST_KNOWN: Version = of_fio_3(42);
const LATER: u8 = 43;

/// New values of options that are older: the option, the value, the release.
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

/// Options that older releases had, the first and the last of them, and what to write instead.
const GONE: [(&str, &str, &str, &str); 4] = [
    ("use_os_rand", "1.52", "3.11", "leave it out: fio has a generator of its own"),
    ("fadvise_stream", "2.2.7", "2.21", "write write_hint"),
    ("chunck_size", "2.3", "2.13", "write chunk_size"),
    ("stream", "2.21", "2.21", "write write_hint"),
];

/// A release of fio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// 3, for years.
    pub major: u16,
    /// 33 of 3.33.
    pub minor: u16,
}

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
    let of_option = match option_named(name) {
        Some(option) => option.came(),
        None => named(name).min_by_key(|option| option.since).and_then(OptionInfo::came),
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
    use crate::fio::options::ValueKind;

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
