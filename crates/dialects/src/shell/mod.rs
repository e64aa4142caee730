//! Reads command lines as people paste them: the commands that a shell would run, and the text
//! around them.
//!
//! | file | idea |
//! |---|---|
//! | `lexer` | commands and words |
//! | `prompt`, `typeset` | what a terminal or a web page has added or changed |
//! | `stage`, `wrappers` | programs in front of a tool, and commands beside it |
//!
//! Everything that is left out is noted, with what it would have done; anything that might change
//! the load is refused by name.

mod lexer;
mod prompt;
mod stage;
#[cfg(test)]
mod tests;
mod typeset;
mod wrappers;

use std::ops::Range;

use iotax_experiment::Error;

use lexer::{Joint, Simple};
use stage::{Found, Stage};
use wrappers::OWN_WAY;

pub(crate) use lexer::{Note, Word};

/// Maximum depth of nested shells.
const DEEPEST: u32 = 4;

/// A command of the tool.
#[derive(Debug)]
pub(crate) struct Run {
    /// The words after the name of the program.
    pub words: Vec<Word>,
    /// The program and all its words.
    pub span: Range<usize>,
    pub start: Start,
}

/// The contents of a text.
#[derive(Debug, Default)]
pub(crate) struct Pasted {
    pub runs: Vec<Run>,
    pub notes: Vec<Note>,
}

/// A part of a text for a note: in one line, and shortened.
pub(crate) fn shown(written: &str) -> String {
    const MOST_CHARS: usize = 60;
    let line = written.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MOST_CHARS {
        return line;
    }
    let start: String = line.chars().take(MOST_CHARS - 3).collect();
    format!("{}...", start.trim_end())
}

/// The commands of `tool` in a text.
pub(crate) fn read_pasted(text: &str, tool: Tool) -> Result<Pasted, Error> {
    let style = style_of(text, tool);
    let mut reader =
        Reader { text, tool, style, clock: Clock::default(), pasted: Pasted::default() };
    reader.part(0..text.len(), Joint::Sequence, 0)?;
    Ok(reader.pasted)
}

struct Reader<'a> {
    text: &'a str,
    tool: Tool,
    style: Style,
    clock: Clock,
    pasted: Pasted,
}

impl Reader<'_> {
    /// The commands of a part of the text; `joint` is the operator after the last of them.
    fn part(&mut self, part: Range<usize>, joint: Joint, depth: u32) -> Result<(), Error> {
        let mut commands = lexer::commands(self.text, part, self.style)?;
        if let Some(last) = commands.last_mut()
            && last.joint == Joint::Sequence
        {
            last.joint = joint;
        }
        let mut rest = commands.as_slice();
        let mut if_failed = false;
        while !rest.is_empty() {
            let piped = rest.iter().take_while(|command| command.joint == Joint::Pipe).count();
            let (pipeline, behind) = rest.split_at((piped + 1).min(rest.len()));
            rest = behind;
            if if_failed {
                self.on_failure(pipeline)?;
            } else {
                self.pipeline(pipeline, depth)?;
            }
            if_failed = pipeline.last().is_some_and(|last| last.joint == Joint::OnFailure);
        }
        Ok(())
    }

    /// Skips commands that run only if another one fails; here none fails.
    fn on_failure(&mut self, pipeline: &[Simple]) -> Result<(), Error> {
        if let Some(word) = pipeline.iter().find_map(|command| self.runs_tool(command)) {
            let problem = "this runs only if the command before it fails";
            let advice = "leave it out, or join the commands with `;`";
            return Err(Error::syntax(problem, advice).at(self.text, word.span.clone()));
        }
        self.note(whole(pipeline), "skipped; it runs only after a failure");
        Ok(())
    }

    fn runs_tool<'a>(&self, command: &'a Simple) -> Option<&'a Word> {
        command.words.iter().find(|word| stage::tool_of(word) == Some(self.tool))
    }

    fn pipeline(&mut self, pipeline: &[Simple], depth: u32) -> Result<(), Error> {
        let joint = pipeline.last().map_or(Joint::Sequence, |last| last.joint);
        let at = pipeline.iter().position(|command| self.runs_tool(command).is_some());
        let Some(at) = at else {
            return pipeline.iter().try_for_each(|command| self.stage(command, joint, depth));
        };
        let (before, behind) = (&pipeline[..at], &pipeline[at + 1..]);
        if let Some(word) = behind.iter().find_map(|command| self.runs_tool(command)) {
            let problem = format!("this {} reads the output of another command", self.tool.name());
            let error = Error::syntax(problem, "join the commands with `;` or `&`");
            return Err(error.at(self.text, word.span.clone()));
        }
        if let [first, ..] = before {
            let end = before[before.len() - 1].joint_span.end;
            self.note(first.span().start..end, "ignored; the command does not read standard input");
        }
        self.stage(&pipeline[at], joint, depth)?;
        if !behind.is_empty() {
            self.note(pipeline[at].joint_span.start..whole(behind).end, OWN_WAY);
        }
        Ok(())
    }

    fn stage(&mut self, command: &Simple, joint: Joint, depth: u32) -> Result<(), Error> {
        let stage = Stage { text: self.text, tool: self.tool, style: self.style };
        let (found, mut notes) = stage.read_command(command)?;
        self.pasted.notes.append(&mut notes);
        match found {
            Found::Run { words, span, at_once } => {
                let next_waits = joint != Joint::Background && !at_once;
                let start = self.clock.start(next_waits);
                self.pasted.runs.push(Run { words, span, start });
            }
            Found::Inside(part) if depth < DEEPEST => self.part(part, joint, depth + 1)?,
            Found::Inside(part) => {
                let advice = "paste only the innermost command";
                return Err(Error::syntax("too many nested shells", advice).at(self.text, part));
            }
            Found::Sleep(ns) if joint != Joint::Background => self.clock.pause(ns),
            Found::Wait => self.clock.wait(),
            Found::Sleep(_) | Found::Nothing => {}
        }
        Ok(())
    }

    fn note(&mut self, span: Range<usize>, why: &'static str) {
        self.pasted.notes.push(Note { span, why });
    }
}

fn whole(pipeline: &[Simple]) -> Range<usize> {
    let start = pipeline.first().map_or(0, |first| first.span().start);
    let last = pipeline.last();
    let end = last.map_or(start, |last| {
        let redirects = last.redirects.iter().map(|redirect| redirect.span.end);
        redirects.chain([last.span().end]).max().unwrap_or(start)
    });
    start..end.max(start)
}

/// When one of several commands starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Start {
    /// Index among those that wait for each other.
    pub phase: u32,
    /// Index among all commands.
    pub command: u32,
    /// Relative to the start of its phase.
    pub offset_ns: u64,
}

/// Simulates what a shell would do.
#[derive(Debug, Default)]
struct Clock {
    phase: u32,
    /// When the first command of the phase started.
    began_ns: Option<u64>,
    now_ns: u64,
    command: u32,
}

impl Clock {
    /// Starts a command; the next one waits for it, or not.
    fn start(&mut self, next_waits: bool) -> Start {
        let began = *self.began_ns.get_or_insert(self.now_ns);
        let offset_ns = self.now_ns - began;
        let start = Start { phase: self.phase, command: self.command, offset_ns };
        self.command += 1;
        if next_waits {
            self.wait();
        }
        start
    }

    fn pause(&mut self, ns: u64) {
        self.now_ns = self.now_ns.saturating_add(ns);
    }

    /// Ends all commands so far before the next one starts.
    fn wait(&mut self) {
        if self.began_ns.take().is_some() {
            self.phase += 1;
            self.now_ns = 0;
        }
    }
}

// Detects whether a pasted text is a command, and of which tool.

/// A tool whose command lines can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Fio,
    /// `DiskSpd`.
    DiskSpd,
}

impl Tool {
    /// Its name, for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::DiskSpd => "diskspd",
        }
    }

    /// Finds it by the name of its program.
    fn of_program(name: &str) -> Option<Self> {
        match name {
            "fio" => Some(Self::Fio),
            "diskspd" => Some(Self::DiskSpd),
            _ => None,
        }
    }
}

/// The tool that a text runs, if the text is a command line or a script and not a name or a path.
///
/// A text is a command line if one of its lines runs a tool with arguments: as its first word
/// (after a prompt), after programs that run others, or followed by an option. Whether all of it
/// can be read is not checked.
pub fn tool(text: &str) -> Option<Tool> {
    tool_where(text, false).or_else(|| tool_where(text, true))
}

/// The same, for lines that are not comments, or for all lines.
fn tool_where(text: &str, hash: bool) -> Option<Tool> {
    let text = text.trim_start_matches('\u{feff}');
    // A continued line counts as one line.
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
    let first = words.first().map(|first| lexer::program(first.trim_start_matches('@')))?;
    if first == "rem" {
        return None;
    }
    // A quoted path begins with a quote; with blanks in it, it makes several of these words.
    let is_quoted = line.starts_with(['"', '\'', '&', '.']);
    let runs = |at: usize| {
        let found = Tool::of_program(&lexer::program(words[at].trim_start_matches('@')))?;
        let behind = words.get(at + 1..).filter(|behind| !behind.is_empty())?;
        let is_run = at == 0
            || is_quoted
            || wrappers::wrapper_named(&first).is_some()
            || is_assignment(words[0])
            || behind.iter().any(|word| word.starts_with('-'));
        is_run.then_some(found)
    };
    (0..words.len()).find_map(runs)
}

/// `NAME=value`.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

// The syntax of a text: that of a POSIX shell, or of a Windows shell.

/// How to split a text into commands.
#[expect(clippy::struct_excessive_bools, reason = "independent habits of shells")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Style {
    /// A backslash is part of a path, and `^` or a backquote continues a line.
    pub windows: bool,
    /// `a & b` runs one after the other, as in cmd.
    pub ampersand_waits: bool,
    /// A line that begins with `#` is a command after a prompt, not a comment.
    pub hash_prompts: bool,
    /// Some lines have a prompt: those without one are output of a command.
    pub prompts: bool,
    /// Options have one letter, like those of `DiskSpd`.
    pub short_options: bool,
}

/// Features of cmd only.
const OF_CMD: [&str; 9] =
    ["cmd", "rem", "@rem", "@echo", "setlocal", "@setlocal", "call", "start", "goto"];
/// Features of PowerShell only.
const OF_POWERSHELL: [&str; 3] = ["powershell", "pwsh", "start-process"];

/// The style of a text that runs this tool.
fn style_of(text: &str, tool: Tool) -> Style {
    let hash_prompts = tool_where(text, false).is_none();
    let mut style = Style {
        windows: tool == Tool::DiskSpd,
        ampersand_waits: false,
        hash_prompts,
        prompts: false,
        short_options: tool == Tool::DiskSpd,
    };
    let lower = text.to_ascii_lowercase();
    style.windows |= lower.contains("fio.exe");
    for line in lower.lines() {
        let end = prompt::length(line, hash_prompts);
        let (before, line) = (line[..end].trim(), line[end..].trim());
        let first = line.split_whitespace().next().map(lexer::program).unwrap_or_default();
        let is_cmd = OF_CMD.contains(&first.as_str())
            || line.starts_with("::")
            || line.ends_with('^')
            || before.ends_with('>') && before.contains(":\\") && !before.starts_with("ps");
        let is_powershell = OF_POWERSHELL.contains(&first.as_str())
            || before.starts_with("ps") && before.ends_with('>')
            || line.starts_with("& ")
            || line.ends_with(" `");
        style.windows |= is_cmd || is_powershell || is_drive(line);
        style.ampersand_waits |= is_cmd;
        style.prompts |= end > 0 && !before.is_empty() && !line.is_empty() && before != ">";
    }
    style
}

/// Whether it begins with a program on a drive.
fn is_drive(line: &str) -> bool {
    let line = line.trim_start_matches(['"', '\'']);
    let bytes = line.as_bytes();
    bytes.len() > 3 && bytes[0].is_ascii_alphabetic() && bytes[1..].starts_with(b":\\")
}
