//! One section on its way to a job.

use std::sync::Arc;

use iotax_experiment::{FioOption, Job};

use super::chosen::Chosen;
use crate::fio::options;
use crate::fio::place::TextPlace;
use crate::fio::section::Setting;

/// When a job runs, from the start of its phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Timing {
    /// Wait before its first I/O.
    pub delay_ns: u64,
    /// What is discarded of its run.
    pub ramp_ns: u64,
    /// What follows, if it ends by time.
    pub runtime_ns: Option<u64>,
    /// Whether all others end with it.
    pub ends_all: bool,
}

impl Timing {
    /// When its ramp is over.
    pub(super) fn ramped_ns(&self) -> u64 {
        self.delay_ns.saturating_add(self.ramp_ns)
    }

    /// When it ends, if by time.
    pub(super) fn end_ns(&self) -> Option<u64> {
        self.runtime_ns.map(|runtime| self.ramped_ns().saturating_add(runtime))
    }
}

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

impl Draft<'_> {
    /// Says what becomes of a setting.
    pub(super) fn note(&mut self, setting: &Setting, text: &str) {
        let note = format!("{}: {}: {text}", setting.place.words(), written(setting));
        self.notes.push(note);
    }

    /// Leaves a setting to fio.
    pub(super) fn beyond(&mut self, setting: &Setting, why: &str) {
        let came = options::came(setting.name(), setting.value.as_deref().unwrap_or_default());
        let why = match came {
            Some(version) => format!("{why}; came {}", version.came()),
            None => why.to_owned(),
        };
        self.job.fio.push(option(setting, Some(why)));
    }

    /// Hands a setting on to fio; the native engines do the same without it.
    pub(super) fn keep(&mut self, setting: &Setting) {
        self.job.fio.push(option(setting, None));
    }

    /// The section's own place.
    pub(super) fn place(&self) -> &Arc<TextPlace> {
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
