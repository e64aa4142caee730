//! Command lines as people paste them: what a shell would run, and what stands around it.
//!
//! | file | idea |
//! |---|---|
//! | `tool` | whether a text is a command line, whose, and for which shell it was written |
//! | `lexer` | commands and words |
//! | `prompt`, `typeset` | what a terminal or a web page has added or changed |
//! | `stage`, `wrappers` | programs in front of a tool, and commands beside it |
//!
//! Everything that is left out is noted with what it would have done; what might change the load is
//! refused by name.

mod lexer;
mod prompt;
mod stage;
mod tool;
mod typeset;
mod wrappers;

#[cfg(test)]
mod tests;

use std::ops::Range;

use iotax_experiment::Error;

pub(crate) use lexer::{Note, Word};
pub use tool::{Tool, tool};

use lexer::{Joint, Simple};
use stage::{Found, Stage};
use tool::Style;
use wrappers::OWN_WAY;

/// Shells within shells that are looked into.
const DEEPEST: u32 = 4;

/// A command of the tool.
#[derive(Debug)]
pub(crate) struct Run {
    /// What stands behind the program's name.
    pub words: Vec<Word>,
    /// The program and all of them.
    pub span: Range<usize>,
    pub start: Start,
}

/// What a text comes to.
#[derive(Debug, Default)]
pub(crate) struct Pasted {
    pub runs: Vec<Run>,
    pub notes: Vec<Note>,
}

/// A part of a text in a note: in one line, and not too long.
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
    let style = tool::style_of(text, tool);
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
    /// The commands of a part of the text, the last of which is joined to what follows by `joint`.
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

    /// What runs only if a command fails, which none does here.
    fn on_failure(&mut self, pipeline: &[Simple]) -> Result<(), Error> {
        if let Some(word) = pipeline.iter().find_map(|command| self.runs_tool(command)) {
            let problem = "this runs only if the command before it fails";
            let advice = "leave it out, or join the commands by `;`";
            return Err(Error::syntax(problem, advice).at(self.text, word.span.clone()));
        }
        self.note(whole(pipeline), "runs only after a failure");
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
            let problem = format!("this {} reads what another one prints", self.tool.name());
            let error = Error::syntax(problem, "join the commands by `;` or `&`");
            return Err(error.at(self.text, word.span.clone()));
        }
        if let [first, ..] = before {
            let end = before[before.len() - 1].joint_span.end;
            self.note(first.span().start..end, "the command reads nothing from it");
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
                let advice = "paste the innermost command alone";
                return Err(
                    Error::syntax("too many shells within shells", advice).at(self.text, part)
                );
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
    /// Which of those that wait for each other, from 0.
    pub phase: u32,
    /// Which of all commands, from 0.
    pub command: u32,
    /// After the start of its phase.
    pub offset_ns: u64,
}

/// What a shell would do next.
#[derive(Debug, Default)]
struct Clock {
    phase: u32,
    /// When the first command of the phase started.
    began_ns: Option<u64>,
    now_ns: u64,
    command: u32,
}

impl Clock {
    /// A command starts; the next one waits for it, or not.
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

    /// All commands so far end before the next one starts.
    fn wait(&mut self) {
        if self.began_ns.take().is_some() {
            self.phase += 1;
            self.now_ns = 0;
        }
    }
}
