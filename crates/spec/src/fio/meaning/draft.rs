//! One section on its way to a job.

mod blocks;
mod engine;
mod order;
mod pace;
mod places;
mod rest;
mod times;

use std::sync::Arc;

use super::chosen::Chosen;
use super::classes::{Class, is_usual};
use crate::error::Error;
use crate::fio::options;
use crate::fio::written::{Place, Section, Setting};
use crate::workload::{FioOption, Job};

pub(super) use times::Timing;

/// A job, and what only becomes clear when its phase is known.
pub(super) struct Draft<'a> {
    /// The settings that count.
    pub chosen: Chosen<'a>,
    /// What they mean so far.
    pub job: Job,
    /// When it runs.
    pub timing: Timing,
    /// What means something else here, or nothing.
    pub notes: Vec<String>,
}

impl<'a> Draft<'a> {
    /// Reads all settings of a section but those that relate jobs to each other.
    pub fn read(section: &'a Section) -> Result<Self, Error> {
        let chosen = Chosen::of(section);
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
        draft.read_rest();
        Ok(draft)
    }

    /// Those options that need no code: silent, kept, noted and beyond.
    fn read_rest(&mut self) {
        let settings: Vec<&Setting> = self.chosen.all().collect();
        for setting in settings {
            self.note_variables(setting);
            match Class::of(setting.option) {
                Some(Class::Meaning | Class::Silent) => {}
                Some(Class::Kept) => self.keep(setting),
                Some(Class::Noted { unless, note }) => {
                    if !is_usual(setting.value.as_deref(), unless) {
                        self.note(setting, note);
                    }
                }
                Some(Class::Beyond { unless, why }) => {
                    if !is_usual(setting.value.as_deref(), unless) {
                        self.beyond(setting, why);
                    }
                }
                None => self.beyond(setting, "is not known to iotax"),
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

    /// Says what becomes of a setting.
    pub fn note(&mut self, setting: &Setting, text: &str) {
        let note = format!("{}: {}: {text}", setting.place.words(), written(setting));
        self.notes.push(note);
    }

    /// Leaves a setting to fio.
    pub fn beyond(&mut self, setting: &Setting, why: &str) {
        let came = options::came(setting.name(), setting.value.as_deref().unwrap_or_default());
        let why = match came {
            Some(version) => format!("{why}; came {}", version.came()),
            None => why.to_owned(),
        };
        self.job.fio.push(option(setting, Some(why)));
    }

    /// Hands a setting on to fio; the native engines do the same without it.
    pub fn keep(&mut self, setting: &Setting) {
        self.job.fio.push(option(setting, None));
    }

    /// The section's own place.
    pub fn place(&self) -> &Arc<Place> {
        &self.chosen.section.place
    }
}

/// `name=value` as a user would know it again, not too long.
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

/// Passwords and keys stay out of messages and records; no engine that takes them is ever run.
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
