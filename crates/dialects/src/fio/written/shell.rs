//! Splits a command line into words as a POSIX shell does, as far as a list of fio commands goes.
//!
//! What only a shell can do (variables, pipes, loops) is refused by name.

use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

use iotax_spec::Error;

/// One word with its quotes undone.
#[derive(Debug, PartialEq)]
pub(super) struct Word {
    pub text: String,
    /// Its bytes in the whole text, quotes and all.
    pub span: Range<usize>,
}

/// What stands behind a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// `&`: the next one starts at once.
    Background,
    /// `;`, `&&`, a new line or the end: the next one waits.
    Sequence,
}

/// One command.
#[derive(Debug, PartialEq)]
pub(super) struct Simple {
    pub words: Vec<Word>,
    pub joint: Joint,
}

/// fio's own variables: published commands often leave out the quotes around them.
const FIOS: [&str; 3] = ["jobname", "jobnum", "filenum"];

/// All commands in `text`.
pub(super) fn commands(text: &str) -> Result<Vec<Simple>, Error> {
    let mut shell = Shell { text, chars: text.char_indices().peekable(), words: Vec::new() };
    let mut found = Vec::new();
    while let Some(joint) = shell.command()? {
        let words = std::mem::take(&mut shell.words);
        if !words.is_empty() {
            found.push(Simple { words, joint });
        }
    }
    Ok(found)
}

struct Shell<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
    words: Vec<Word>,
}

impl Shell<'_> {
    /// Gathers the words of a command; `None` at the end of the text.
    fn command(&mut self) -> Result<Option<Joint>, Error> {
        loop {
            let Some((at, c)) = self.chars.peek().copied() else {
                return Ok((!self.words.is_empty()).then_some(Joint::Sequence));
            };
            match c {
                '\n' if self.goes_on(at) => {
                    while self.chars.next_if(|(_, c)| c.is_whitespace()).is_some() {}
                }
                '\n' | ';' => {
                    self.chars.next();
                    return Ok(Some(Joint::Sequence));
                }
                '&' => {
                    self.chars.next();
                    if self.chars.next_if(|(_, next)| *next == '&').is_some() {
                        return Ok(Some(Joint::Sequence));
                    }
                    return Ok(Some(Joint::Background));
                }
                '#' => while self.chars.next_if(|(_, c)| *c != '\n').is_some() {},
                _ if c.is_whitespace() => {
                    self.chars.next();
                }
                _ => self.word(at)?,
            }
        }
    }

    /// A line that begins with an option belongs to the command before it: pages that show
    /// commands often lose the backslash.
    fn goes_on(&self, at: usize) -> bool {
        !self.words.is_empty() && self.text[at..].trim_start().starts_with('-')
    }

    fn word(&mut self, start: usize) -> Result<(), Error> {
        let mut word = String::new();
        let mut is_word = false;
        while let Some((at, c)) = self.chars.peek().copied() {
            if c.is_whitespace() || matches!(c, ';' | '&') {
                break;
            }
            self.chars.next();
            match c {
                '\\' => match self.chars.next() {
                    Some((_, '\r')) if self.next_is('\n') => {
                        self.chars.next();
                    }
                    Some((_, '\n')) | None => {}
                    Some((_, escaped)) => {
                        word.push(escaped);
                        is_word = true;
                    }
                },
                '\'' => {
                    self.quoted(at, &mut word)?;
                    is_word = true;
                }
                '"' => {
                    self.double_quoted(at, &mut word)?;
                    is_word = true;
                }
                _ => {
                    self.plain(at, c, &mut word)?;
                    is_word = true;
                }
            }
        }
        if is_word {
            let end = self.at();
            self.words.push(Word { text: word, span: start..end });
        }
        Ok(())
    }

    fn plain(&mut self, at: usize, c: char, word: &mut String) -> Result<(), Error> {
        let what = match c {
            '$' => return self.dollar(at, word),
            '`' => "a command in backquotes",
            '|' => "a pipe",
            '<' | '>' => "a redirection",
            '(' | ')' => "a group in parentheses",
            '{' | '}' if word.is_empty() => "a group in braces",
            '*' | '?' => "a pattern for file names",
            _ => {
                word.push(c);
                return Ok(());
            }
        };
        let advice = match c {
            '<' | '>' | '|' => "leave it out",
            '(' | ')' | '*' | '?' => "put the word in single quotes if it is meant for fio",
            _ => "write what it stands for",
        };
        Err(self.refuse(what, at..at + c.len_utf8(), advice))
    }

    fn quoted(&mut self, start: usize, word: &mut String) -> Result<(), Error> {
        for (_, c) in self.chars.by_ref() {
            if c == '\'' {
                return Ok(());
            }
            word.push(c);
        }
        Err(self.never_closed(start))
    }

    fn double_quoted(&mut self, start: usize, word: &mut String) -> Result<(), Error> {
        while let Some((at, c)) = self.chars.next() {
            match c {
                '"' => return Ok(()),
                '`' => {
                    let advice = "write what it stands for";
                    return Err(self.refuse("a command in backquotes", at..at + 1, advice));
                }
                '$' => self.dollar(at, word)?,
                '\\' => match self.chars.next() {
                    Some((_, '\n')) => {}
                    Some((_, escaped @ ('$' | '`' | '"' | '\\'))) => word.push(escaped),
                    Some((_, other)) => word.extend(['\\', other]),
                    None => break,
                },
                _ => word.push(c),
            }
        }
        Err(self.never_closed(start))
    }

    /// Behind a dollar: fio's own variables stay, a shell's are refused.
    fn dollar(&mut self, start: usize, word: &mut String) -> Result<(), Error> {
        let rest = &self.text[start + 1..];
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
        if FIOS.contains(&name) || (name.is_empty() && !rest.starts_with(['(', '{', '\'', '"'])) {
            word.push('$');
            return Ok(());
        }
        if rest.starts_with('(') {
            let advice = "write what it stands for";
            return Err(self.refuse("a command in $( )", start..start + 2, advice));
        }
        // The target takes the place of every directory, so this one need not be known.
        if let Some(here) = ["PWD", "{PWD}"].into_iter().find(|here| rest.starts_with(here))
            && (here.starts_with('{') || name == here)
        {
            word.push('.');
            self.chars.nth(here.len() - 1);
            return Ok(());
        }
        let end = match rest.find('}') {
            Some(at) if rest.starts_with('{') => start + at + 2,
            _ => start + 1 + name.len(),
        };
        let variable = &self.text[start..end];
        Err(Error::syntax(
            format!("`{variable}` is a variable of the shell, which is not known here"),
            "write its value, or put it in single quotes if it is meant for fio",
        )
        .at(self.text, start..end))
    }

    fn next_is(&mut self, wanted: char) -> bool {
        self.chars.peek().is_some_and(|(_, c)| *c == wanted)
    }

    fn at(&mut self) -> usize {
        self.chars.peek().map_or(self.text.len(), |(at, _)| *at)
    }

    fn refuse(&self, what: &str, span: Range<usize>, advice: &str) -> Error {
        let text = format!("{what} is for a shell, and no shell reads this");
        Error::syntax(text, advice).at(self.text, span)
    }

    fn never_closed(&self, start: usize) -> Error {
        Error::syntax("this quote is never closed", "put the same quote behind the value")
            .at(self.text, start..self.text.len())
    }
}
