//! One line of the tables of classes.

/// What an option means to iotax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fio::meaning) enum Class {
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

/// An option's name and its class.
pub(super) type Row = (&'static str, Class);

pub(super) const fn meaning(name: &'static str) -> Row {
    (name, Class::Meaning)
}

pub(super) const fn silent(name: &'static str) -> Row {
    (name, Class::Silent)
}

pub(super) const fn kept(name: &'static str) -> Row {
    (name, Class::Kept)
}

pub(super) const fn noted(name: &'static str, unless: &'static str, note: &'static str) -> Row {
    (name, Class::Noted { unless, note })
}

pub(super) const fn beyond(name: &'static str, unless: &'static str, why: &'static str) -> Row {
    (name, Class::Beyond { unless, why })
}
