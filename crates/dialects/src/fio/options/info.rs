//! What is known of an option.

/// The release of fio 3 that all tables but `newer` describe.
pub(super) const OLDEST: u8 = 33;

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
    pub(super) since: u8,
}

impl OptionInfo {
    pub(super) const fn since(self, since: u8) -> Self {
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

pub(super) const INTEGER: Kind = Kind::Integer { min: 0, max: u32::MAX as i64 };
pub(super) const LONG: Kind = Kind::Long { min: 0 };

pub(super) const fn at_least(min: i64) -> Kind {
    Kind::Integer { min, max: u32::MAX as i64 }
}

pub(super) const fn within(min: i64, max: i64) -> Kind {
    Kind::Integer { min, max }
}

pub(super) const fn long_from(min: i64) -> Kind {
    Kind::Long { min }
}

pub(super) const fn floats(most: usize) -> Kind {
    Kind::Floats { most, min: f64::MIN, max: f64::MAX }
}

pub(super) const fn named(name: &'static str, kind: Kind) -> OptionInfo {
    OptionInfo { name, alias: None, kind, since: OLDEST }
}

pub(super) const fn aliased(name: &'static str, alias: &'static str, kind: Kind) -> OptionInfo {
    OptionInfo { name, alias: Some(alias), kind, since: OLDEST }
}
