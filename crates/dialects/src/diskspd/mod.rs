//! Command lines of `DiskSpd` 2.2, with their meaning on Linux.
//!
//! ```text
//! diskspd -b256k -d30 -o10 -t1 -Sh -w100 -L -Z1G -c2G e:\io.tst.bin
//! ```
//!
//! Several command lines run as a shell would run them: lines of a batch file one after the other, what
//! `&` joins (or `start` starts) together. What `DiskSpd` refuses is refused here, in its sense; flags
//! without a meaning here are refused by name, or told in [`Workload::notes`] where leaving them out
//! changes nothing that is measured. Sources: `CmdLineParser.cpp` and `Profile::Validate` of
//! <https://github.com/microsoft/diskspd>, and its wiki.

mod flags;
mod line;
mod meaning;
#[cfg(test)]
mod tests;

use std::ops::Range;

use iotax_experiment::{Error, Workload};

use crate::lines::by_line;
use crate::shell;
use crate::shell::{Pasted, Start, Tool, Word};

/// Reads one command line, or several: a phase for those that run together.
///
/// The result is not yet validated: see [`Workload::validate`].
///
/// # Errors
/// What `DiskSpd` would refuse, and flags that have no meaning here, each with its position.
pub fn from_command(text: &str) -> Result<Vec<Workload>, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().contains('\n') { from_script("the script", text) } else { read(text) }
}

/// The same of a file, in which places have a line and `name`.
///
/// # Errors
/// As [`from_command`].
pub fn from_script(name: &str, text: &str) -> Result<Vec<Workload>, Error> {
    read(text.strip_prefix('\u{feff}').unwrap_or(text)).map_err(|error| by_line(error, name))
}

fn read(text: &str) -> Result<Vec<Workload>, Error> {
    let mut lines = Vec::new();
    let (commands, mut notes) = commands(text)?;
    for command in commands {
        let placed = |(span, error): (Range<usize>, Box<Error>)| {
            typed(*error, command.slashes).at(text, span)
        };
        let mut line = flags::read_flags(&command).map_err(placed)?;
        line::refuse(&line).map_err(placed)?;
        line.slashes = command.slashes;
        line.start = command.start;
        for note in &mut line.notes {
            *note = as_typed(note, command.slashes);
        }
        lines.push(line);
    }
    let mut phases = meaning::phases(text, &lines)?;
    if let Some(first) = phases.first_mut() {
        notes.append(&mut first.notes);
        first.notes = notes;
    }
    Ok(phases)
}

/// An error that names flags as they were typed.
fn typed(error: Error, slashes: bool) -> Error {
    match error {
        Error::Syntax { problem, advice } => {
            let typed = |message: &str| as_typed(message, slashes);
            Error::syntax(typed(&problem), typed(&advice))
        }
        error => error,
    }
}

// A command's words as `DiskSpd` reads them: flags may begin with a slash.

/// The words of one command, without the program's name; at least one.
#[derive(Debug, Clone)]
struct Command {
    pub words: Vec<Word>,
    pub start: Start,
    /// Flags were typed as `/b4K`: [`Word::text`] has `-b4K`.
    pub slashes: bool,
}

impl Command {
    fn span(&self) -> Range<usize> {
        let start = self.words.first().map_or(0, |word| word.span.start);
        start..self.words.last().map_or(0, |word| word.span.end)
    }
}

/// The commands of `text`, and what was left out of it.
fn commands(text: &str) -> Result<(Vec<Command>, Vec<String>), Error> {
    let Pasted { runs, notes } = shell::read_pasted(text, Tool::DiskSpd)?;
    let advice = "write for example diskspd -b4K -r -o32 -d10 -Sh -c1G io.dat";
    let mut commands = Vec::new();
    for run in runs {
        let mut words = run.words;
        if words.is_empty() {
            let error = Error::syntax("a command without flags and target", advice);
            return Err(error.at(text, run.span));
        }
        let mut slashes = false;
        for word in &mut words {
            slashes |= switch(word);
        }
        commands.push(Command { words, start: run.start, slashes });
    }
    if commands.is_empty() {
        return Err(Error::syntax("there is no command", advice));
    }
    let note = |note: shell::Note| format!("{}: {}", shell::shown(&text[note.span]), note.why);
    Ok((commands, notes.into_iter().map(note).collect()))
}

/// `/b4K` is `-b4K`: whether it was one. A path of this system has another slash.
fn switch(word: &mut Word) -> bool {
    if let Some(flag) = word.text.strip_prefix('/')
        && !flag.contains('/')
    {
        word.text = format!("-{flag}");
        return true;
    }
    false
}

/// A message about flags, with those flags as they were typed.
fn as_typed(message: &str, slashes: bool) -> String {
    if !slashes {
        return message.to_owned();
    }
    let mut before = ' ';
    let mut typed = String::with_capacity(message.len());
    let mut chars = message.chars().peekable();
    while let Some(c) = chars.next() {
        let is_flag = c == '-'
            && matches!(before, ' ' | '(' | '`')
            && chars.peek().is_some_and(|next| next.is_ascii_alphabetic() || *next == '?');
        typed.push(if is_flag { '/' } else { c });
        before = c;
    }
    typed
}
