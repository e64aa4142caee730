//! What iotax makes of each option of fio: one line per option, so that none is passed over.

mod drive;
mod engines;
mod newer;
mod place;
mod report;
mod row;

use crate::fio::options::{Kind, OptionInfo};
pub(super) use row::Class;
use row::Row;

impl Class {
    /// The class of an option; every option that is read has one.
    pub(super) fn of(option: &OptionInfo) -> Option<Self> {
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

fn rows() -> impl Iterator<Item = Row> {
    let families = [place::ROWS, drive::ROWS, report::ROWS, engines::ROWS, newer::ROWS];
    families.into_iter().flatten().copied()
}

/// Names of the options that have a class.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    rows().map(|(name, _)| name)
}
