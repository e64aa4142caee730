//! A section that is being made into a job.

use std::collections::HashMap;
use std::sync::Arc;

use iotax_experiment::{Error, FioOption, Job};

use super::replay::replayed;
use crate::fio::options::{self, Class};
use crate::fio::section::{Include, Section, Setting, TextPlace};
use crate::fio::values::{Amount, PerDirection};

/// Times of a job, relative to the start of its phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Timing {
    /// Wait before the first I/O.
    pub delay_ns: u64,
    /// Length of the ramp, which is not measured.
    pub ramp_ns: u64,
    /// Time after the ramp, for a job that ends by time.
    pub runtime_ns: Option<u64>,
    /// Whether all other jobs end with this one.
    pub ends_all: bool,
}

impl Timing {
    /// Time at which the ramp ends.
    pub(super) fn ramped_ns(&self) -> u64 {
        self.delay_ns.saturating_add(self.ramp_ns)
    }

    /// Time at which the job ends, if it ends by time.
    pub(super) fn end_ns(&self) -> Option<u64> {
        self.runtime_ns.map(|runtime| self.ramped_ns().saturating_add(runtime))
    }
}

/// A job, and the facts that need the whole phase.
pub(super) struct Draft<'a> {
    /// The effective settings.
    pub chosen: Chosen<'a>,
    /// The job so far.
    pub job: Job,
    /// The times of the job.
    pub timing: Timing,
    /// Options that have another meaning here, or none.
    pub notes: Vec<String>,
}

impl Draft<'_> {
    /// Notes how a setting is treated.
    pub(super) fn note(&mut self, setting: &Setting, text: &str) {
        let note = format!("{}: {}: {text}", setting.place.words(), written(setting));
        self.notes.push(note);
    }

    /// Marks a setting as one that only fio supports.
    pub(super) fn beyond(&mut self, setting: &Setting, why: &str) {
        let came = options::came(setting.name(), setting.value.as_deref().unwrap_or_default());
        let why = match came {
            Some(version) => format!("{why}; introduced {}", version.came()),
            None => why.to_owned(),
        };
        self.job.fio.push(option(setting, Some(why)));
    }

    /// Passes a setting on to fio; the native engines behave the same without it.
    pub(super) fn keep(&mut self, setting: &Setting) {
        self.job.fio.push(option(setting, None));
    }

    /// The position of the section.
    pub(super) fn place(&self) -> &Arc<TextPlace> {
        &self.chosen.section.place
    }
}

/// `name=value` as the user wrote it, shortened.
fn written(setting: &Setting) -> String {
    const MOST_CHARS: usize = 40;
    match shown_value(setting) {
        None => setting.name().to_owned(),
        Some(value) if value.chars().count() > MOST_CHARS => {
            let start: String = value.chars().take(MOST_CHARS).collect();
            format!("{}={start}...", setting.name())
        }
        Some(value) => format!("{}={value}", setting.name()),
    }
}

/// Hides passwords and keys from messages and records. Engines that take them are never run.
fn shown_value(setting: &Setting) -> Option<String> {
    let is_secret = [
        "http_pass",
        "http_s3_key",
        "http_s3_keyid",
        "http_swift_auth_token",
        "http_s3_security_token",
        "rbd_encryption_passphrase",
    ]
    .contains(&setting.name())
        || setting.name().ends_with("customer_key");
    setting.value.as_deref().map(|value| if is_secret { "***".into() } else { value.to_owned() })
}

fn option(setting: &Setting, beyond: Option<String>) -> FioOption {
    FioOption {
        name: setting.name().to_owned(),
        value: shown_value(setting),
        place: setting.place.words(),
        beyond,
    }
}

// The effective settings of a section: the last one of each option.

/// A section, for lookup by option.
#[derive(Clone)]
pub(super) struct Chosen<'a> {
    pub section: &'a Section,
    /// Index of the last setting of each option.
    last: HashMap<&'static str, usize>,
}

impl<'a> Chosen<'a> {
    pub(super) fn new(section: &'a Section) -> Self {
        let positions = section.settings.iter().enumerate();
        Self { section, last: positions.map(|(at, setting)| (setting.name(), at)).collect() }
    }

    /// The effective settings, in order.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a Setting> {
        let counts = |(at, setting): &(usize, &Setting)| self.last.get(setting.name()) == Some(at);
        let all = self.section.settings.iter().enumerate();
        all.filter(counts).map(|(_, setting)| setting).collect::<Vec<_>>().into_iter()
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Setting> {
        self.last.get(name).and_then(|at| self.section.settings.get(*at))
    }

    /// The last setting of several options that set the same thing.
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

    /// A whole number that fits in 32 bits.
    pub(super) fn small(&self, name: &str, usual: u32) -> Result<u32, Error> {
        self.get(name).map_or(Ok(usual), Setting::small)
    }

    /// A time; 0 if not given.
    pub(super) fn duration_ns(&self, name: &str) -> Result<u64, Error> {
        self.get(name).map_or(Ok(0), Setting::duration_ns)
    }

    pub(super) fn switch(&self, name: &str, usual: bool) -> Result<bool, Error> {
        self.get(name).map_or(Ok(usual), Setting::boolean)
    }

    /// A whole number for each direction. A later setting for some directions keeps the others.
    pub(super) fn numbers(&self, name: &str) -> Result<PerDirection<u64>, Error> {
        let numbers = self.merged(name, Setting::per_direction)?;
        Ok(numbers.map(|number| number.map(unsigned)))
    }

    /// Pairs of sizes for each direction; the same rule applies.
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

/// Negative numbers have been refused where fio does not allow them.
fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

impl Setting {
    /// The word of a choice and the text after it; for text, the text. Unreadable words have been
    /// refused before.
    pub(super) fn word(&self) -> (&str, Option<&str>) {
        self.choice().unwrap_or_else(|_| (self.text(), None))
    }

    /// A whole number that fits in 32 bits.
    pub(super) fn small(&self) -> Result<u32, Error> {
        let number = self.number()?;
        u32::try_from(number)
            .map_err(|_| self.refuse_value("is out of range", "use a smaller number"))
    }

    /// A whole number that is not negative.
    pub(super) fn whole(&self) -> Result<u64, Error> {
        self.number().map(unsigned)
    }

    /// `a-b`, or `a` alone, which stands for both.
    pub(super) fn span(&self) -> Result<(u64, u64), Error> {
        let [low, high, _] = self.per_direction()?;
        let (low, high) = (low.or(high).unwrap_or_default(), high.or(low).unwrap_or_default());
        Ok((unsigned(low.min(high)), unsigned(low.max(high))))
    }
}

/// Bytes; a percentage is of `whole`. `None` for zones.
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

// Reads a section, one family of options at a time.

impl<'a> Draft<'a> {
    /// Reads all settings of a section except those that relate jobs to each other.
    pub(super) fn of_section(section: &'a Section, outside: Include<'_>) -> Result<Self, Error> {
        let chosen = Chosen::new(section);
        if let Some(log) = chosen.get("read_iolog") {
            return replayed(chosen, log, outside);
        }
        let mut draft = Self {
            job: Job::new(section.name.clone()),
            timing: Timing::default(),
            notes: Vec::new(),
            chosen,
        };
        draft.read_engine()?;
        let directions = draft.read_order()?;
        draft.read_blocks(directions)?;
        draft.read_places()?;
        draft.read_times()?;
        draft.read_pace(directions)?;
        draft.read_switches()?;
        draft.read_shares()?;
        draft.read_rest();
        Ok(draft)
    }

    /// Handles options that need no code: silent, kept, noted and beyond.
    fn read_rest(&mut self) {
        let settings: Vec<&Setting> = self.chosen.all().collect();
        for setting in settings {
            self.note_variables(setting);
            // A flag without a value means 1.
            let value = setting.value.as_deref().unwrap_or("1");
            let is_one_of = |usual: &str| usual.split('|').any(|word| word == value);
            match setting.option.class {
                Class::Kept => self.keep(setting),
                Class::Noted { unless, note } if !is_one_of(unless) => self.note(setting, note),
                Class::Beyond { unless, why } if !is_one_of(unless) => self.beyond(setting, why),
                Class::Meaning | Class::Silent | Class::Noted { .. } | Class::Beyond { .. } => {}
            }
        }
    }

    /// Notes the variables in a setting, since they may have other values elsewhere.
    pub(super) fn note_variables(&mut self, setting: &Setting) {
        for variable in setting.variables.iter() {
            let origin =
                if variable.starts_with("${") { "the environment" } else { "this machine" };
            self.note(setting, &format!("{variable} is taken from {origin}"));
        }
    }
}
