//! A command's words as `DiskSpd` reads them: flags may begin with a slash.

use std::ops::Range;

use iotax_experiment::Error;

use crate::shell::{self, Pasted, Start, Tool, Word};

/// The words of one command, without the program's name; at least one.
#[derive(Debug, Clone)]
pub(super) struct Command {
    pub words: Vec<Word>,
    pub start: Start,
    /// Flags were typed as `/b4K`: [`Word::text`] has `-b4K`.
    pub slashes: bool,
}

impl Command {
    pub(super) fn span(&self) -> Range<usize> {
        let start = self.words.first().map_or(0, |word| word.span.start);
        start..self.words.last().map_or(0, |word| word.span.end)
    }
}

/// The commands of `text`, and what was left out of it.
pub(super) fn commands(text: &str) -> Result<(Vec<Command>, Vec<String>), Error> {
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
pub(super) fn as_typed(message: &str, slashes: bool) -> String {
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
