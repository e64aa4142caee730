//! Whose command a pasted text is, if it is one.

use super::{prompt, typeset, word};

/// A tool whose command lines are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Fio,
    /// `DiskSpd`.
    DiskSpd,
}

impl Tool {
    /// What people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::DiskSpd => "diskspd",
        }
    }

    /// By the program's name.
    pub(super) fn of_program(name: &str) -> Option<Self> {
        match name {
            "fio" => Some(Self::Fio),
            "diskspd" => Some(Self::DiskSpd),
            _ => None,
        }
    }
}

/// The tool that a text runs, if the text is a command line or a script, and not a name or a path.
///
/// It is one if a line of it runs a tool with arguments: as its first word (behind a prompt), behind
/// programs that run others, or with an option behind it. Whether everything of it can be read is
/// another question.
pub fn tool(text: &str) -> Option<Tool> {
    tool_where(text, false).or_else(|| tool_where(text, true))
}

/// The same, of lines that are no comments, or of all of them.
pub(super) fn tool_where(text: &str, hash: bool) -> Option<Tool> {
    let text = text.trim_start_matches('\u{feff}');
    // A line that goes on is one line.
    let mut joined = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim_end();
        let open = line.strip_suffix(['\\', '^', '`']);
        joined.push_str(open.unwrap_or(line));
        joined.push(if open.is_some() { ' ' } else { '\n' });
    }
    joined.lines().find_map(|line| of_line(line, hash))
}

fn of_line(line: &str, hash: bool) -> Option<Tool> {
    let line = typeset::plain(line, false);
    let line = &line[prompt::length(&line, hash)..];
    let is_comment = line.starts_with('#') || line.starts_with("::");
    if is_comment {
        return None;
    }
    let between =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '&' | '|' | '(' | ')');
    let words: Vec<&str> = line.split(between).filter(|word| !word.is_empty()).collect();
    let first = words.first().map(|first| word::program(first.trim_start_matches('@')))?;
    if first == "rem" {
        return None;
    }
    // What is quoted begins with a quote: a path with blanks in it is several of these words.
    let is_quoted = line.starts_with(['"', '\'', '&', '.']);
    let runs = |at: usize| {
        let found = Tool::of_program(&word::program(words[at].trim_start_matches('@')))?;
        let behind = words.get(at + 1..).filter(|behind| !behind.is_empty())?;
        let is_run = at == 0
            || is_quoted
            || super::wrappers::wrapper_named(&first).is_some()
            || is_assignment(words[0])
            || behind.iter().any(|word| word.starts_with('-'));
        is_run.then_some(found)
    };
    (0..words.len()).find_map(runs)
}

/// `NAME=value`.
pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}
