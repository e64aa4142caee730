//! A workload in the words of fio, so that fio can do the same I/O.
//!
//! What is written here is the load alone. Where it goes (`directory`, or `filename` for a file or
//! device), how long it takes (`runtime`, `ramp_time`) and the seed are the caller's to add: they
//! differ from trial to trial.
//!
//! Sizes carry the plain letters `k`, `M`, `G`: fio 3.33 reads `10M`, `10MB` and `10Mi` all as
//! 10 x 2^20, and only `10MiB` as 10^7 (its default is `kb_base=1024`).

mod job;
mod shares;
mod times;
mod values;
mod without;

use std::fmt::Write as _;

use iotax_experiment::Workload;

pub(crate) use job::options;
pub use times::{Times, times};
pub(crate) use values::file_name;
pub use values::is_writable;
pub use without::without;

/// One job of a job file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its name, as it stands between `[` and `]`.
    pub name: String,
    /// fio's options and their values, in the order in which they are to be written. Flags of fio
    /// have the value 1 (its JSON leaves out flags without a value).
    pub options: Vec<(String, Option<String>)>,
}

impl Section {
    /// The value of an option, if it is given with one.
    pub fn value(&self, option: &str) -> Option<&str> {
        let given = self.options.iter().rev().find(|(name, _)| name == option);
        given.and_then(|(_, value)| value.as_deref())
    }

    /// Gives an option, in place of what was given for it before.
    pub fn set(&mut self, option: &str, value: impl Into<String>) {
        let value = Some(value.into());
        match self.options.iter_mut().find(|(name, _)| name == option) {
            Some(given) => given.1 = value,
            None => self.options.push((option.to_owned(), value)),
        }
    }
}

/// The jobs of a workload that fio can do, in their order. See [`without`] for what is lost.
///
/// A job with a file of its own name has `filename`, which is relative to the caller's
/// `directory`. Jobs that last as long as the trial have `time_based=1` and need a `runtime`;
/// others have `io_size`. Each job is a reporting group of its own, so that its threads are
/// reported together and apart from other jobs.
pub fn sections(workload: &Workload) -> Vec<Section> {
    let jobs = workload.jobs.iter().filter(|job| !job.engine.has_tree());
    let mut sections: Vec<Section> = Vec::new();
    for job in jobs {
        let mut name = values::section_name(&job.name);
        while sections.iter().any(|other| other.name == name) {
            name.push('_');
        }
        sections.push(Section { name, options: options(job) });
    }
    sections
}

/// A job file of these sections. What cannot stand in one is left out, or replaced by `_` in
/// names: a value never becomes a second option.
pub fn text(sections: &[Section]) -> String {
    let mut text = String::new();
    for (n, section) in sections.iter().enumerate() {
        let gap = if n == 0 { "" } else { "\n" };
        let name = if section.name == "global" {
            section.name.clone()
        } else {
            values::section_name(&section.name)
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{gap}[{name}]");
        let can_stand = |(option, value): &&(String, Option<String>)| {
            values::can_stand(option, value.as_deref())
        };
        for (option, value) in section.options.iter().filter(can_stand) {
            let _ = match value {
                Some(value) => writeln!(text, "{option}={value}"),
                None => writeln!(text, "{option}"),
            };
        }
    }
    text
}

#[cfg(test)]
mod tests;
