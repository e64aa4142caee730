//! Workloads that only fio can do: what keeps the native engines from it, in words.

use std::fmt;

use super::reach::refused_by_driver;
use crate::error::Error;
use crate::workload::{FioOption, Job, Workload};

/// Options listed; a file of many jobs may have hundreds.
const MOST_LISTED: usize = 12;
/// Width of a line on a terminal.
const COLUMNS: usize = 80;

impl Workload {
    /// Refuses a workload with options that the native engines cannot do, naming each.
    pub fn require_native(&self) -> Result<(), Error> {
        require_native(std::iter::once(self))
    }
}

/// The same for all phases together.
pub(crate) fn require_native<'a>(phases: impl Iterator<Item = &'a Workload>) -> Result<(), Error> {
    let jobs: Vec<&Job> = phases.flat_map(|workload| &workload.jobs).collect();
    let verifies = jobs.iter().any(|job| job.verify && job.writes());
    let beyond = jobs.iter().flat_map(|job| &job.fio).filter(|option| option.beyond.is_some());
    let mut options: Vec<FioOption> = Vec::new();
    for option in beyond {
        // What stands in [global] is in every job.
        if options.len() <= MOST_LISTED && !options.contains(option) {
            options.push(option.clone());
        }
    }
    if options.is_empty() { Ok(()) } else { Err(Error::Beyond { options, verifies }) }
}

/// Whether iotax keeps fio from it, too.
pub(crate) fn is_refused(option: &FioOption) -> bool {
    refused_by_driver(&option.name, option.value.as_deref().unwrap_or("1")).is_some()
}

pub(crate) fn headline(options: &[FioOption]) -> String {
    match options {
        [one] => format!("iotax's own engines cannot do {}", written(one, 40)),
        _ if options.len() > MOST_LISTED => {
            format!("iotax's own engines cannot do more than {MOST_LISTED} options of this")
        }
        _ => format!("iotax's own engines cannot do {} options of this", options.len()),
    }
}

pub(crate) fn write_details(
    f: &mut fmt::Formatter<'_>,
    options: &[FioOption],
    verifies: bool,
) -> fmt::Result {
    for option in options.iter().take(MOST_LISTED) {
        let room = COLUMNS.saturating_sub(option.place.chars().count() + 4);
        write!(f, "\n  {}: {}", option.place, written(option, room))?;
        write!(f, "\n    {}", option.beyond.as_deref().unwrap_or_default())?;
        if is_refused(option) {
            write!(f, "; iotax does not let fio do that either")?;
        }
    }
    if options.len() > MOST_LISTED {
        write!(f, "\n  and more")?;
    }
    match options.iter().filter(|option| is_refused(option)).count() {
        0 if verifies => write!(
            f,
            "\nrun it with fio itself, without verifying, which fio would do in the measured time:\n\
             --engine fio --set verify=false"
        ),
        0 => write!(f, "\nrun it with fio itself: --engine fio"),
        refused if refused == options.len() => write!(f, "\nleave it out"),
        _ => write!(f, "\nleave out what fio may not do; then run it with --engine fio"),
    }
}

/// `name=value`, at most so many characters.
fn written(option: &FioOption, room: usize) -> String {
    let text = match &option.value {
        None => option.name.clone(),
        Some(value) => format!("{}={value}", option.name),
    };
    if text.chars().count() <= room {
        return text;
    }
    let start: String = text.chars().take(room.saturating_sub(3)).collect();
    format!("{start}...")
}
