//! What iotax makes of each option of fio: one line per option, so that none is passed over.

mod drive;
mod engines;
mod newer;
mod place;
mod report;

use crate::fio::options::{Kind, OptionInfo};

/// What an option means to iotax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// The code of this room reads it.
    Meaning,
    /// Nothing that is measured depends on it.
    Silent,
    /// Nothing natively, since the native engines get by without; fio is given it where it drives.
    Kept,
    /// It is not followed, and the user is told, unless it has one of these values.
    Noted {
        /// Values that ask for nothing, with `|` between them.
        unless: &'static str,
        /// What iotax does instead.
        note: &'static str,
    },
    /// Only fio can do it, unless it has one of these values.
    Beyond {
        /// Values that ask for nothing, with `|` between them.
        unless: &'static str,
        /// What the native engines cannot do.
        why: &'static str,
    },
}

impl Class {
    /// The class of an option; every option that is read has one.
    pub fn of(option: &OptionInfo) -> Option<Self> {
        if is_without_effect(option) {
            return Some(Self::Silent);
        }
        rows().find(|(known, _)| *known == option.name).map(|(_, class)| class)
    }
}

/// Whether fio itself passes it over.
pub(super) const fn is_without_effect(option: &OptionInfo) -> bool {
    matches!(option.kind, Kind::Ignored | Kind::Removed)
}

/// Whether `value` is one of `usual`; a flag that stands alone is 1.
pub(super) fn is_usual(value: Option<&str>, usual: &str) -> bool {
    let value = value.unwrap_or("1");
    usual.split('|').any(|word| word == value)
}

type Row = (&'static str, Class);

fn rows() -> impl Iterator<Item = Row> {
    let families = [place::ROWS, drive::ROWS, report::ROWS, engines::ROWS, newer::ROWS];
    families.into_iter().flatten().copied()
}

/// Names of the options that have a class.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    rows().map(|(name, _)| name)
}

const fn meaning(name: &'static str) -> Row {
    (name, Class::Meaning)
}

const fn silent(name: &'static str) -> Row {
    (name, Class::Silent)
}

const fn kept(name: &'static str) -> Row {
    (name, Class::Kept)
}

const fn noted(name: &'static str, unless: &'static str, note: &'static str) -> Row {
    (name, Class::Noted { unless, note })
}

const fn beyond(name: &'static str, unless: &'static str, why: &'static str) -> Row {
    (name, Class::Beyond { unless, why })
}
