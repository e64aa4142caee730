//! What is known of an option.

/// An option of fio.
#[derive(Debug, PartialEq)]
pub struct OptionInfo {
    /// fio's first name of it, by which its results call it.
    pub name: &'static str,
    /// Another name that fio takes for it.
    pub alias: Option<&'static str>,
    /// How its value is read.
    pub kind: ValueKind,
    /// Engines that add it; none if every job may have it.
    pub engines: Vec<&'static str>,
    /// The release of fio 3 that it came in, or 33 if it was there before: see
    /// [`OptionInfo::came`].
    pub(super) since: u8,
    /// What iotax makes of it.
    pub(crate) class: Class,
    /// What iotax keeps fio from doing with it.
    pub(crate) reach: Reach,
}

impl OptionInfo {
    /// Its name, and the other one if it has one.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.alias)
    }

    pub(super) fn is_called(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }
}

/// How fio reads the value of an option.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueKind {
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

/// What an option means to iotax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// The code of this room reads it.
    Meaning,
    /// Nothing that is measured depends on it.
    Silent,
    /// Nothing natively, since the native engines get by without; fio is given it where it drives.
    Kept,
    /// It is not followed, and the user is told, unless it has one of these values.
    Noted { unless: &'static str, note: &'static str },
    /// Only fio can do it, unless it has one of these values.
    Beyond { unless: &'static str, why: &'static str },
}

/// Whether an option can make fio reach beyond the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// It is not known what its value may be.
    Unknown,
    /// Its value is a number or a word, never a path, a program or an address.
    Inside,
    /// The same with `/` and `:` between numbers.
    Shares,
    /// It reaches outside where its value names a path.
    Path,
    /// A value in `'` quotes is the name of a file to read.
    Pattern,
    /// It is refused whatever its value, for this reason.
    Refused(&'static str),
}
