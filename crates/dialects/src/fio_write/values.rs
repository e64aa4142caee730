//! Values as fio reads them, and the texts that it would misread.

use std::fmt::Display;

/// The longest line that fio reads: it takes 4096 bytes with their end.
const LONGEST_LINE: usize = 4000;
/// The longest name of a section.
const LONGEST_NAME: usize = 200;

/// Options under construction.
#[derive(Default)]
pub(super) struct Options(pub(super) Vec<(String, Option<String>)>);

impl Options {
    pub(super) fn give(&mut self, name: &str, value: impl Display) {
        self.0.push((name.to_owned(), Some(format!("{value}"))));
    }

    pub(super) fn give_some(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.give(name, value);
        }
    }

    pub(super) fn give_if(&mut self, given: bool, name: &str) {
        self.give_some(name, given.then_some(1));
    }
}

/// `0,2`, if there are any.
pub(super) fn list(numbers: &[u32]) -> Option<String> {
    let texts: Vec<String> = numbers.iter().map(u32::to_string).collect();
    (!texts.is_empty()).then(|| texts.join(","))
}

/// Bytes with the largest letter that divides them.
pub(super) fn size(bytes: u64) -> String {
    let units = [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "k")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit)) {
        Some((unit, letter)) => format!("{}{letter}", bytes / unit),
        None => bytes.to_string(),
    }
}

/// A duration in whole microseconds, fio's finest unit, at least one unless it is 0.
pub(super) fn duration(ns: u64) -> String {
    let us = if ns == 0 { 0 } else { ns.saturating_add(500) / 1000 };
    let us = us.max(u64::from(ns > 0));
    match us {
        0 => "0".to_owned(),
        us if us.is_multiple_of(1_000_000) => format!("{}s", us / 1_000_000),
        us if us.is_multiple_of(1000) => format!("{}ms", us / 1000),
        us => format!("{us}us"),
    }
}

/// The name of a job as the name of a section: also the beginning of its files' names.
///
/// fio ends a name at `]`, takes every name that begins with `global` for the defaults of all
/// jobs, and makes directories of `/`.
pub(super) fn section_name(name: &str) -> String {
    let mut plain = file_name(name);
    let prefix = plain.get(..6).unwrap_or_default();
    if prefix.eq_ignore_ascii_case("global") {
        plain.insert(0, '_');
    }
    plain
}

/// A text as the name of a file inside the target: letters, digits, `.`, `_` and `-`, which stand
/// for themselves in job files and in shells.
pub(crate) fn file_name(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let plain = text.chars().map(|c| if is_plain(c) { c } else { '_' });
    let plain: String = plain.take(LONGEST_NAME).collect();
    if plain.trim_matches('.').is_empty() || plain.starts_with('-') {
        return format!("_{plain}");
    }
    plain
}

/// Whether a value can stand in a job file: fio cuts lines at `;` and `#` even inside values, and
/// drops blanks at their ends.
pub fn is_writable(value: &str) -> bool {
    let cut = |c: char| c.is_control() || matches!(c, ';' | '#');
    !value.contains(cut) && value.trim() == value && value.len() < LONGEST_LINE
}

/// Whether fio reads the option as it is meant.
pub(super) fn can_stand(name: &str, value: Option<&str>) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !name.is_empty()
        && name.len() < LONGEST_NAME
        && name.chars().all(plain)
        && value.is_none_or(is_writable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations_are_short_and_exact() {
        let sizes = [0, 512, 4096, 1 << 20, 3 << 29, 50 << 30, (1 << 30) + 1].map(size);
        assert_eq!(sizes, ["0", "512", "4k", "1M", "1536M", "50G", "1073741825"]);
        let times = [0, 1, 1000, 250_000, 2_000_000, 90_000_000_000, 1_500_600].map(duration);
        assert_eq!(times, ["0", "1us", "1us", "250us", "2ms", "90s", "1501us"]);
    }

    #[test]
    fn names_that_mean_something_to_fio_are_changed() {
        let names = ["io", "GlobalWarming", "a]b\n[c", "../x", "..", "-x", "a:b", ""];
        let names = names.map(section_name);
        assert_eq!(names, ["io", "_GlobalWarming", "a_b__c", ".._x", "_..", "_-x", "a_b", "_"]);
    }

    #[test]
    fn values_that_fio_would_cut_cannot_be_written() {
        assert!(is_writable("zipf:1.2") && is_writable("a b"));
        for value in ["a;b", "a#b", "a\nexec_prerun=x", " a", "a\0"] {
            assert!(!is_writable(value), "{value:?}");
        }
    }
}
