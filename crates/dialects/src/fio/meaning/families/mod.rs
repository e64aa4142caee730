//! Reading a section, family by family of options.

mod engine;
mod order;
mod places;
mod rest;

use iotax_experiment::{Error, Job};

use super::draft::{Chosen, Draft, Timing};
use crate::fio::options::Class;
use crate::fio::section::{Section, Setting};

impl<'a> Draft<'a> {
    /// Reads all settings of a section but those that relate jobs to each other.
    pub(super) fn of_section(section: &'a Section) -> Result<Self, Error> {
        let chosen = Chosen::new(section);
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

    /// Those options that need no code: silent, kept, noted and beyond.
    fn read_rest(&mut self) {
        let settings: Vec<&Setting> = self.chosen.all().collect();
        for setting in settings {
            self.note_variables(setting);
            // A flag that stands alone is 1.
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

    /// Says what was put into a setting from outside: elsewhere it may be something else.
    fn note_variables(&mut self, setting: &Setting) {
        for variable in setting.variables.iter() {
            let origin =
                if variable.starts_with("${") { "the environment" } else { "this machine" };
            self.note(setting, &format!("{variable} is from {origin}"));
        }
    }
}
