//! Words of a command, and what joins commands.

use std::ops::Range;

use iotax_experiment::Error;

/// One word with its quotes undone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Word {
    pub text: String,
    /// Its bytes in the whole text, quotes and all.
    pub span: Range<usize>,
    /// It begins with a quote: what looks like a variable or an option in it is none of the shell's.
    pub quoted: bool,
    /// Why only a shell, or nobody, knows what it stands for.
    pub fault: Option<Box<Error>>,
    /// The fault is what a word processor or a web page has made of it.
    pub typeset: bool,
}

impl Word {
    /// The last part of it as a path, in lower case and without `.exe`: what a program is known by.
    pub(super) fn program(&self) -> String {
        program(&self.text)
    }
}

/// See [`Word::program`].
pub(super) fn program(text: &str) -> String {
    // `%~dp0diskspd.exe`: the directory of a batch file.
    let text = text.strip_prefix("%~dp0").unwrap_or(text);
    let name = text.rsplit(['/', '\\']).next().unwrap_or(text).to_ascii_lowercase();
    name.strip_suffix(".exe").map_or(name.clone(), str::to_owned)
}

/// What stands behind a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// The next one starts at once.
    Background,
    /// The next one waits.
    Sequence,
    /// The next one reads what this one prints.
    Pipe,
    /// The next one runs if this one fails.
    OnFailure,
}

/// Where input comes from or output goes to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Redirect {
    pub span: Range<usize>,
    pub reads: bool,
    /// The file, as far as it is known.
    pub target: String,
}

/// One command.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Simple {
    pub words: Vec<Word>,
    pub redirects: Vec<Redirect>,
    pub joint: Joint,
    /// The bytes of what joins it to the next one.
    pub joint_span: Range<usize>,
}

impl Simple {
    /// From its first word to its last, without what its output does.
    pub(super) fn span(&self) -> Range<usize> {
        span(&self.words)
    }
}

/// From the first word to the last.
pub(super) fn span(words: &[Word]) -> Range<usize> {
    let start = words.first().map_or(0, |word| word.span.start);
    start..words.last().map_or(start, |word| word.span.end)
}

/// A part that was left out, and why, or what it would have done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub span: Range<usize>,
    pub why: &'static str,
}
