//! The settings of a section that count: of those of one option, the last.

use std::collections::HashMap;

use iotax_experiment::Error;

use crate::fio::section::{Section, Setting};
use crate::fio::values::{Amount, PerDirection};

/// A section, looked at by option.
#[derive(Clone)]
pub(super) struct Chosen<'a> {
    pub section: &'a Section,
    /// Positions of the last setting of each option.
    last: HashMap<&'static str, usize>,
}

impl<'a> Chosen<'a> {
    pub(super) fn new(section: &'a Section) -> Self {
        let positions = section.settings.iter().enumerate();
        Self { section, last: positions.map(|(at, setting)| (setting.name(), at)).collect() }
    }

    /// Those that count, in their order.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a Setting> {
        let counts = |(at, setting): &(usize, &Setting)| self.last.get(setting.name()) == Some(at);
        let all = self.section.settings.iter().enumerate();
        all.filter(counts).map(|(_, setting)| setting).collect::<Vec<_>>().into_iter()
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Setting> {
        self.last.get(name).and_then(|at| self.section.settings.get(*at))
    }

    /// Of options that set the same, the one written last.
    pub(super) fn last_of(&self, names: &[&str]) -> Option<&'a Setting> {
        let last = names.iter().filter_map(|name| self.last.get(name)).max()?;
        self.section.settings.get(*last)
    }

    /// The word of a choice.
    pub(super) fn word(&self, name: &str) -> Option<&'a str> {
        self.get(name).map(|setting| setting.word().0)
    }

    /// A whole number that is not negative.
    pub(super) fn whole(&self, name: &str, usual: u64) -> Result<u64, Error> {
        self.get(name).map_or(Ok(usual), Setting::whole)
    }

    /// One that fits 32 bits.
    pub(super) fn small(&self, name: &str, usual: u32) -> Result<u32, Error> {
        self.get(name).map_or(Ok(usual), Setting::small)
    }

    /// A time, 0 where it is not given.
    pub(super) fn duration_ns(&self, name: &str) -> Result<u64, Error> {
        self.get(name).map_or(Ok(0), Setting::duration_ns)
    }

    pub(super) fn switch(&self, name: &str, usual: bool) -> Result<bool, Error> {
        self.get(name).map_or(Ok(usual), Setting::boolean)
    }

    /// A whole number for each direction. An option that is set again for some of them keeps the
    /// others.
    pub(super) fn numbers(&self, name: &str) -> Result<PerDirection<u64>, Error> {
        let numbers = self.merged(name, Setting::per_direction)?;
        Ok(numbers.map(|number| number.map(unsigned)))
    }

    /// Pairs of sizes for each direction, with the same rule.
    pub(super) fn ranges(&self, name: &str) -> Result<PerDirection<(u64, u64)>, Error> {
        let ranges = self.merged(name, Setting::ranges)?;
        Ok(ranges.map(|range| range.map(|(low, high)| (unsigned(low), unsigned(high)))))
    }

    fn merged<T: Copy>(
        &self,
        name: &str,
        read: impl Fn(&Setting) -> Result<PerDirection<T>, Error>,
    ) -> Result<PerDirection<T>, Error> {
        let mut merged = [None; 3];
        if self.get(name).is_none() {
            return Ok(merged);
        }
        for setting in self.section.settings.iter().filter(|setting| setting.name() == name) {
            for (old, new) in merged.iter_mut().zip(read(setting)?) {
                *old = new.or(*old);
            }
        }
        Ok(merged)
    }
}

/// Negative numbers are refused where fio has none.
fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

impl Setting {
    /// The word of a choice and what follows it; for text, the text. Unreadable words were
    /// refused before.
    pub(super) fn word(&self) -> (&str, Option<&str>) {
        self.choice().unwrap_or_else(|_| (self.text(), None))
    }

    /// A whole number that fits 32 bits.
    pub(super) fn small(&self) -> Result<u32, Error> {
        let number = self.number()?;
        u32::try_from(number).map_err(|_| self.refuse_value("is out of range", "write less"))
    }

    /// A whole number that is not negative.
    pub(super) fn whole(&self) -> Result<u64, Error> {
        self.number().map(unsigned)
    }

    /// `a-b`, or `a` alone as both.
    pub(super) fn span(&self) -> Result<(u64, u64), Error> {
        let [low, high, _] = self.per_direction()?;
        let (low, high) = (low.or(high).unwrap_or_default(), high.or(low).unwrap_or_default());
        Ok((unsigned(low.min(high)), unsigned(low.max(high))))
    }
}

/// Bytes, where a share is of `whole`; `None` for zones.
pub(super) fn bytes_of(amount: Amount, whole: u64) -> Option<u64> {
    match amount {
        Amount::Bytes(bytes) => Some(bytes),
        Amount::Percent(percent) => {
            let share = u128::from(whole) * u128::from(percent) / 100;
            Some(u64::try_from(share).unwrap_or(u64::MAX))
        }
        Amount::Zones(_) => None,
    }
}
