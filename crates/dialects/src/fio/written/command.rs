//! A list of commands as one workload: who starts when.

use std::sync::Arc;

use iotax_spec::Error;

use super::arguments;
use super::budget::Budget;
use super::shell::{self, Joint, Simple, Word};
use crate::fio::outside::Include;
use crate::fio::place::Place;
use crate::fio::section::Section;

/// Longest `sleep` that makes sense between two commands: a day.
const LONGEST_SLEEP_S: f64 = 86_400.0;

/// The sections of all commands; `source` is what the text is called.
pub(super) fn read(source: &str, text: &str, include: Include<'_>) -> Result<Vec<Section>, Error> {
    let mut budget = Budget::new();
    budget.text(text)?;
    let (source, text): (Arc<str>, Arc<str>) = (source.into(), text.into());
    let mut clock = Clock { phase: 0, began_ns: None, now_ns: 0, command: 0 };
    let (mut found, mut beside) = (Vec::new(), Vec::new());
    for Simple { words, joint } in shell::commands(&text)? {
        match program(&text, &words)? {
            Program::Wait => clock.next_phase(),
            Program::Sleep(ns) if joint == Joint::Sequence => clock.pause(ns),
            Program::Sleep(_) | Program::Nothing => {}
            // What is published with it, to watch the devices.
            Program::Watch => {
                let span = words[0].span.start..words[words.len() - 1].span.end;
                let (source, text) = (Arc::clone(&source), Arc::clone(&text));
                beside.push(Arc::new(Place { source, line: 0, text, span }));
            }
            Program::Fio(arguments) => {
                let mut sections =
                    arguments::read((&source, &text), arguments, include, &mut budget)?;
                if sections.is_empty() {
                    let span = words[0].span.start..words[words.len() - 1].span.end;
                    return Err(no_job().at(&text, span));
                }
                clock.stamp(&mut sections);
                found.append(&mut sections);
                if joint == Joint::Sequence {
                    clock.next_phase();
                }
            }
        }
    }
    let Some(first) = found.first_mut() else {
        return Err(Error::syntax("this has no fio command", "begin with fio --name=..."));
    };
    let first: &mut Section = first;
    first.ignored.append(&mut beside);
    Ok(found)
}

fn no_job() -> Error {
    Error::syntax(
        "this command has no job",
        "write --name=NAME in front of a job's options, or name a job file",
    )
}

/// When the next command starts.
struct Clock {
    phase: u32,
    /// When the first command of the phase started.
    began_ns: Option<u64>,
    now_ns: u64,
    command: u32,
}

impl Clock {
    /// Gives the sections of one command their time.
    fn stamp(&mut self, sections: &mut [Section]) {
        let began = *self.began_ns.get_or_insert(self.now_ns);
        for section in sections {
            section.phase = self.phase;
            section.command = self.command;
            section.start_offset_ns = self.now_ns - began;
        }
        self.command += 1;
    }

    fn pause(&mut self, ns: u64) {
        self.now_ns = self.now_ns.saturating_add(ns);
    }

    /// All commands so far end before the next one starts.
    fn next_phase(&mut self) {
        if self.began_ns.take().is_some() {
            self.phase += 1;
            self.now_ns = 0;
        }
    }
}

enum Program<'a> {
    Fio(&'a [Word]),
    Sleep(u64),
    Wait,
    /// It reports.
    Watch,
    /// It is about the shell itself.
    Nothing,
}

/// What a command runs. `sudo` and the `$` of a prompt in front of it change nothing here.
fn program<'a>(text: &str, words: &'a [Word]) -> Result<Program<'a>, Error> {
    let mut rest = words;
    while let [first, behind @ ..] = rest
        && matches!(first.text.as_str(), "$" | "sudo")
        && !behind.is_empty()
    {
        rest = behind;
    }
    let [first, arguments @ ..] = rest else {
        return Err(Error::syntax("this has no fio command", "begin with fio --name=..."));
    };
    let name = first.text.rsplit('/').next().unwrap_or_default();
    match name {
        "fio" | "fio.exe" => Ok(Program::Fio(arguments)),
        "sleep" => sleep(text, first, arguments).map(Program::Sleep),
        "wait" => Ok(Program::Wait),
        "iostat" | "vmstat" | "mpstat" | "sar" | "echo" | "date" => Ok(Program::Watch),
        "set" | "true" => Ok(Program::Nothing),
        _ => {
            let (name, advice) = if first.text.starts_with('-') {
                (&first.text, "begin with fio")
            } else {
                (&first.text, "leave it out; only fio, sleep and wait are read here")
            };
            let error = Error::syntax(format!("`{name}` is not a fio command"), advice);
            Err(error.at(text, first.span.clone()))
        }
    }
}

/// `sleep 1.5m`: one time, in seconds where it has no unit.
fn sleep(text: &str, first: &Word, arguments: &[Word]) -> Result<u64, Error> {
    let refuse = |word: &Word| {
        let error = Error::syntax("sleep takes one time", "write seconds: sleep 10");
        Err(error.at(text, word.span.clone()))
    };
    let [time] = arguments else { return refuse(arguments.get(1).unwrap_or(first)) };
    let (number, unit) = match time.text.find(|c: char| c.is_ascii_alphabetic()) {
        Some(at) => time.text.split_at(at),
        None => (time.text.as_str(), "s"),
    };
    let unit_s = match unit {
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return refuse(time),
    };
    match number.parse::<f64>() {
        Ok(number) if (0.0..=LONGEST_SLEEP_S).contains(&(number * unit_s)) => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
            let ns = (number * unit_s * 1e9).round() as u64;
            Ok(ns)
        }
        _ => refuse(time),
    }
}
