//! Values of settings, read by fio's own rules (`parse.c` of fio 3.33).
//!
//! Where fio guesses, this refuses: fio reads `bs=4x` as 4 bytes, `size=1.5g` as 1 byte and
//! `runtime=10sec` as 10 microseconds, and nobody means that.

mod arithmetic;
mod check;
mod lists;
mod number;
mod pattern;
mod shares;
#[cfg(test)]
mod tests;

use iotax_experiment::{Error, Zone};

use super::options::{Unit, ValueKind};
use super::section::Setting;
pub(crate) use lists::PerDirection;
pub use number::Amount;

/// Why a value does not read, before it is known where it stands.
#[derive(Debug, PartialEq)]
struct Unreadable {
    pub problem: String,
    pub advice: String,
}

impl Unreadable {
    fn new(problem: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { problem: problem.into(), advice: advice.into() }
    }
}

/// The whole number that an expression without units makes.
pub(super) fn computed(expression: &str) -> Option<i64> {
    let value = arithmetic::evaluate(expression, false).ok()?;
    (!value.has_unit).then_some(value.integer)
}

impl Setting {
    /// Refuses a value that does not read as the option's kind.
    pub(crate) fn check_value(&self) -> Result<(), Error> {
        match self.option.kind {
            ValueKind::Ignored => Ok(()),
            ValueKind::Removed => {
                let advice = match self.name() {
                    "percentage_sequential" => "write percentage_random: 100 minus this",
                    _ => "leave it out",
                };
                Err(self.refuse("fio 3.33 no longer has this option", advice))
            }
            ValueKind::OptionalText | ValueKind::Flag if self.value.is_none() => Ok(()),
            _ => self.marked(check::value(self)),
        }
    }

    /// The word of a choice, and what follows its `:`.
    pub(crate) fn choice(&self) -> Result<(&'static str, Option<&str>), Error> {
        self.marked(check::choice(self))
    }

    /// Whether a switch is on; a flag without a value is.
    pub(crate) fn boolean(&self) -> Result<bool, Error> {
        self.marked(check::boolean(self))
    }

    /// A whole number, or bytes: the one for reads where there are three.
    pub fn number(&self) -> Result<i64, Error> {
        let numbers = self.per_direction()?;
        numbers.into_iter().flatten().next().ok_or_else(|| self.missing())
    }

    /// Whole numbers, or bytes, for reads, writes and trims. A missing one is the one before it.
    pub(crate) fn per_direction(&self) -> Result<PerDirection<i64>, Error> {
        let read = |part: &str| number::integer(part, self.kb_base);
        self.marked(lists::per_direction(self.written(), read))
    }

    /// A size, a percentage, or zones.
    pub fn amount(&self) -> Result<Amount, Error> {
        self.marked(number::amount(self.written(), self.kb_base))
    }

    /// A time in nanoseconds.
    pub fn duration_ns(&self) -> Result<u64, Error> {
        let bare = match self.option.kind {
            ValueKind::Time { bare } => bare,
            _ => Unit::Seconds,
        };
        self.marked(number::time_ns(self.written(), bare))
    }

    /// Pairs of sizes, smaller first, for reads, writes and trims.
    pub(crate) fn ranges(&self) -> Result<PerDirection<(i64, i64)>, Error> {
        let read = |part: &str| lists::range(part, self.kb_base);
        self.marked(lists::comma_separated(self.written(), read))
    }

    /// Sizes with their shares in percent (`bssplit`), for reads, writes and trims. Shares are as
    /// fio's: rounded down where they are shared out, so that they need not add up to 100.
    pub fn split(&self) -> Result<[Vec<(u64, u32)>; 3], Error> {
        self.marked(shares::split(self.text(), self.kb_base))
    }

    /// The zones of `random_distribution=zoned` or `zoned_abs`, for reads, writes and trims.
    pub(crate) fn zones(&self) -> Result<[Vec<Zone>; 3], Error> {
        let (word, detail) = self.choice()?;
        let parts = if word == "zoned" { shares::Parts::Percents } else { shares::Parts::Sizes };
        self.marked(shares::zones(detail.unwrap_or_default(), parts, self.kb_base))
    }

    /// The first of some numbers.
    pub(crate) fn float(&self) -> Result<f64, Error> {
        let numbers = self.marked(lists::floats(self.text()))?;
        numbers.first().copied().ok_or_else(|| self.missing())
    }

    /// Data written as strings and numbers; `None` where it is more than its bytes.
    pub(crate) fn pattern(&self) -> Result<Option<Vec<u8>>, Error> {
        self.marked(pattern::pattern(self.text()))
    }

    /// Sizes with priorities (`cmdprio_bssplit`), for reads and writes.
    pub(crate) fn priorities(&self) -> Result<[Vec<shares::Priority>; 2], Error> {
        self.marked(shares::priorities(self.text(), self.kb_base))
    }

    /// Numbers and ranges of them that are a part of the value.
    pub(crate) fn listed(&self, part: &str) -> Result<Vec<u32>, Error> {
        self.marked(lists::cpus(part))
    }

    /// Numbers of CPUs, ascending (`cpus_allowed=0-3,8`).
    pub(crate) fn cpus(&self) -> Result<Vec<u32>, Error> {
        self.marked(lists::cpus(self.text()))
    }

    fn missing(&self) -> Error {
        let name = self.name();
        self.refuse("has no value", format!("write {name}=VALUE"))
    }

    fn marked<T>(&self, read: Result<T, Unreadable>) -> Result<T, Error> {
        if self.value.is_none()
            && !matches!(self.option.kind, ValueKind::Flag | ValueKind::OptionalText)
        {
            return Err(self.missing());
        }
        read.map_err(|Unreadable { problem, advice }| self.refuse_value(&problem, advice))
    }
}
