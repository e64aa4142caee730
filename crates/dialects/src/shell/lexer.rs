//! Words of a command, and the operators that join commands.

use std::ops::Range;

use iotax_experiment::Error;

use super::typeset::TypesetKind;
use super::{Style, prompt, typeset};

/// One word without its quotes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Word {
    pub text: String,
    /// Its bytes in the whole text, including quotes.
    pub span: Range<usize>,
    /// Whether it begins with a quote: the shell does not replace variables or read options in it.
    pub quoted: bool,
    /// Why its value is unknown, or known only to a shell.
    pub fault: Option<Box<Error>>,
    /// Whether the fault was made by a word processor or a web page.
    pub typeset: bool,
}

impl Word {
    /// Its last part as a path, in lower case and without `.exe`: the name of a program.
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

/// Operator after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// The next one starts at once.
    Background,
    /// The next one waits.
    Sequence,
    /// The next one reads the output of this one.
    Pipe,
    /// The next one runs if this one fails.
    OnFailure,
}

/// A redirection of input or output.
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
    /// The bytes of the operator that joins it to the next one.
    pub joint_span: Range<usize>,
}

impl Simple {
    /// From its first word to its last, without redirections.
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

// Splits a text into commands and words, like the shell for which it was written.
//
// Features that only that shell has (variables, patterns for file names) are noted at the word,
// which may not be needed.

/// fio's own variables: published commands often omit the quotes around them.
const FIOS: [&str; 3] = ["jobname", "jobnum", "filenum"];
/// Characters that `^` makes ordinary in cmd.
const OF_CMD: [char; 7] = ['&', '|', '<', '>', '^', '%', '"'];

/// All commands in a part of `text`.
pub(super) fn commands(text: &str, part: Range<usize>, style: Style) -> Result<Vec<Simple>, Error> {
    let mut lexer = Lexer { text, at: part.start, end: part.end, style, odd: None, begins: true };
    let mut found = Vec::new();
    while lexer.at < lexer.end {
        let command = lexer.command()?;
        if !command.words.is_empty() || !command.redirects.is_empty() {
            found.push(command);
        }
    }
    Ok(found)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    end: usize,
    style: Style,
    /// A typeset blank before the next word.
    odd: Option<usize>,
    /// Nothing of this line was read yet.
    begins: bool,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..self.end]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.end);
    }

    /// The words of a command, up to the operator that joins it to the next one.
    fn command(&mut self) -> Result<Simple, Error> {
        let mut words: Vec<Word> = Vec::new();
        let mut redirects: Vec<Redirect> = Vec::new();
        let (joint, joint_span) = loop {
            if self.begins && words.is_empty() {
                self.line();
            }
            let at = self.at;
            let Some(c) = self.peek() else { break (Joint::Sequence, at..at) };
            if let Some(length) = self.continued() {
                self.skip(length);
                self.continuation();
                continue;
            }
            match c {
                '\n' if goes_on(&words, self.rest()) => self.skip(1),
                '\n' | ';' => {
                    self.skip(1);
                    self.begins = c == '\n';
                    break (Joint::Sequence, at..self.at);
                }
                '&' if self.rest().starts_with("&>") => redirects.push(self.redirect(at)?),
                // PowerShell runs a quoted program in this way.
                '&' if self.style.windows && words.is_empty() => self.skip(1),
                '&' | '|' => break self.joint(),
                '<' | '>' => redirects.push(self.redirect(at)?),
                '#' if self.is_comment() => self.skip_line(),
                _ if c.is_whitespace() => {
                    let typeset = typeset::typeset_of(c).map(|_| at);
                    self.odd = self.odd.or(typeset);
                    self.skip(c.len_utf8());
                }
                _ => self.word_or_redirect(&mut words, &mut redirects)?,
            }
        };
        Ok(Simple { words, redirects, joint, joint_span })
    }

    /// Skips, at the start of a line, a prompt, a comment of cmd, or output that was pasted with
    /// the command.
    fn line(&mut self) {
        self.begins = false;
        let rest = self.rest();
        let line = rest.lines().next().unwrap_or_default();
        let prompt = prompt::length(line, self.style.hash_prompts);
        if self.style.prompts && prompt == 0 && !line.trim().is_empty() {
            return self.skip_line();
        }
        self.skip(prompt);
        let line = line[prompt..].trim_start();
        let lower = line.to_ascii_lowercase();
        let is_remark =
            lower.starts_with("::") || ["rem ", "@rem "].iter().any(|r| lower.starts_with(r));
        if self.style.windows && (is_remark || matches!(lower.trim(), "rem" | "@rem")) {
            self.skip_line();
        }
    }

    fn skip_line(&mut self) {
        let length = self.rest().find('\n').unwrap_or(self.rest().len());
        self.skip(length);
    }

    /// On Windows `#1` is a disk.
    fn is_comment(&self) -> bool {
        let behind = self.rest()[1..].chars().next();
        !self.style.windows || !behind.is_some_and(|c| c.is_ascii_digit())
    }

    /// Length of an escaped line break. Blanks before it are accepted, because they are invisible.
    fn continued(&self) -> Option<usize> {
        let rest = self.rest();
        let marks: &[char] = if self.style.windows { &['\\', '^', '`'] } else { &['\\'] };
        let behind = rest.strip_prefix(marks)?;
        let broken = behind.trim_start_matches([' ', '\t', '\r']).strip_prefix('\n')?;
        Some(rest.len() - broken.len())
    }

    /// Skips what a shell prints before a continued line.
    fn continuation(&mut self) {
        for mark in [">> ", "> ", "More? "] {
            if let Some(behind) = self.rest().strip_prefix(mark)
                && behind.trim_start().starts_with(['-', '/'])
            {
                return self.skip(mark.len());
            }
        }
    }

    fn joint(&mut self) -> (Joint, Range<usize>) {
        let start = self.at;
        let rest = self.rest();
        let (length, joint) = match () {
            () if rest.starts_with("&&") => (2, Joint::Sequence),
            () if rest.starts_with("||") => (2, Joint::OnFailure),
            () if rest.starts_with("|&") => (2, Joint::Pipe),
            () if rest.starts_with('|') => (1, Joint::Pipe),
            () if self.style.ampersand_waits => (1, Joint::Sequence),
            () => (1, Joint::Background),
        };
        self.skip(length);
        (joint, start..self.at)
    }

    /// `> file`, `2>&1`, `< file`; `start` is the position of its number or `&`.
    fn redirect(&mut self, start: usize) -> Result<Redirect, Error> {
        self.skip(usize::from(self.peek() == Some('&')));
        let reads = self.peek() == Some('<');
        if self.rest().starts_with("<<") && !self.rest().starts_with("<<<") {
            let advice = "save the lines as job.fio, then run: iotax run job.fio TARGET";
            let problem = "a job file follows on the next lines";
            return Err(Error::syntax(problem, advice).at(self.text, self.at..self.at + 2));
        }
        let marks = self.rest().len() - self.rest().trim_start_matches(['<', '>', '|']).len();
        self.skip(marks);
        let target = if let Some(number) = self.rest().strip_prefix('&') {
            let digits = |c: char| c.is_ascii_digit() || c == '-';
            self.skip(1 + number.len() - number.trim_start_matches(digits).len());
            String::new()
        } else {
            let blanks = self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
            self.skip(blanks);
            self.word()?.map(|word| word.text).unwrap_or_default()
        };
        Ok(Redirect { span: start..self.at, reads, target })
    }

    /// Digits directly before `>` belong to it.
    fn word_or_redirect(
        &mut self,
        words: &mut Vec<Word>,
        redirects: &mut Vec<Redirect>,
    ) -> Result<(), Error> {
        let start = self.at;
        let digits = self.rest().trim_start_matches(|c: char| c.is_ascii_digit() || c == '*');
        if digits.len() < self.rest().len() && digits.starts_with('>') {
            self.at = self.end - digits.len();
            redirects.push(self.redirect(start)?);
            return Ok(());
        }
        words.extend(self.word()?);
        Ok(())
    }

    fn word(&mut self) -> Result<Option<Word>, Error> {
        let start = self.at;
        let quoted = self.rest().starts_with(['\'', '"']);
        let mut word =
            Word { text: String::new(), span: start..start, quoted, fault: None, typeset: false };
        if let Some(at) = self.odd.take() {
            self.typeset(at, &mut word);
        }
        let mut is_word = false;
        while let Some(c) = self.peek() {
            if let Some(length) = self.continued() {
                self.skip(length);
                self.continuation();
                continue;
            }
            if c.is_whitespace() || matches!(c, ';' | '&' | '|' | '<' | '>') {
                break;
            }
            is_word = true;
            let at = self.at;
            self.skip(c.len_utf8());
            match c {
                '\\' if !self.style.windows => self.escaped(&mut word),
                '^' if self.style.windows && self.rest().starts_with(OF_CMD) => {
                    self.escaped(&mut word);
                }
                '\'' => self.quoted(at, &mut word)?,
                '"' => self.double_quoted(at, &mut word)?,
                '$' => self.dollar(at, &mut word),
                '`' if !self.style.windows => self.backquote(at, &mut word),
                '`' => self.escaped(&mut word),
                '%' if self.style.windows => self.percent(at, &mut word),
                _ => self.plain(at, c, &mut word),
            }
        }
        word.span.end = self.at;
        Ok(is_word.then_some(word))
    }

    fn escaped(&mut self, word: &mut Word) {
        if let Some(c) = self.peek() {
            word.text.push(c);
            self.skip(c.len_utf8());
        }
    }

    /// One character; some have a meaning to a shell, and some were changed by a word processor.
    fn plain(&mut self, at: usize, c: char, word: &mut Word) {
        let rest = self.rest();
        let ends = rest.is_empty() || rest.starts_with(char::is_whitespace);
        let is_option = word.text.starts_with('-') && !word.text.contains('=');
        let is_start = word.text.is_empty() || word.text == "@";
        let is_odd = typeset::typeset_of(c).is_some_and(|found| match found.kind {
            TypesetKind::Dash => is_start || is_option,
            TypesetKind::SingleQuote => is_start || ends || word.text.ends_with('='),
            TypesetKind::Ellipsis => is_start,
            TypesetKind::Quote | TypesetKind::Blank | TypesetKind::Letter => true,
        });
        if is_odd {
            self.typeset(at, word);
        }
        let windows = self.style.windows;
        let what = match c {
            '(' | ')' if !windows || is_start => Some("a group in parentheses"),
            '{' | '}' if word.text.is_empty() => Some("a group in braces"),
            '*' | '?' if !windows => Some("a pattern for file names"),
            _ => None,
        };
        if let Some(what) = what {
            let advice = match c {
                '{' | '}' => {
                    "leave out the braces, or replace the group with the text that it expands to"
                }
                _ => "put the word in single quotes if it is meant for fio",
            };
            self.fault(word, |lexer| lexer.refuse(what, at..at + 1, advice));
        }
        word.text.push(c);
    }

    fn quoted(&mut self, start: usize, word: &mut Word) -> Result<(), Error> {
        let Some(length) = self.rest().find('\'') else { return Err(self.never_closed(start)) };
        word.text.push_str(&self.rest()[..length]);
        self.skip(length + 1);
        Ok(())
    }

    fn double_quoted(&mut self, start: usize, word: &mut Word) -> Result<(), Error> {
        while let Some(c) = self.peek() {
            let at = self.at;
            self.skip(c.len_utf8());
            match c {
                '"' => return Ok(()),
                '`' if !self.style.windows => self.backquote(at, word),
                '$' => self.dollar(at, word),
                '%' if self.style.windows => self.percent(at, word),
                '\\' if !self.style.windows => match self.peek() {
                    Some('\n') => self.skip(1),
                    Some('$' | '`' | '"' | '\\') => self.escaped(word),
                    _ => word.text.push('\\'),
                },
                _ => word.text.push(c),
            }
        }
        Err(self.never_closed(start))
    }

    /// After a dollar sign: fio's own variables stay, those of a shell are unknown.
    fn dollar(&mut self, start: usize, word: &mut Word) {
        let rest = self.rest();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
        let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
        let is_letter = name.is_empty() && !rest.starts_with(['(', '{', '\'', '"']);
        if FIOS.contains(&name) || is_letter || self.style.windows && self.style.ampersand_waits {
            word.text.push('$');
            return;
        }
        if rest.starts_with('(') {
            let advice = "replace the command with its output";
            self.fault(word, |lexer| lexer.refuse("a command in $( )", start..start + 2, advice));
            let length = closing(rest);
            return self.skip(length);
        }
        // The target replaces every directory, so this one need not be known.
        if let Some(here) = ["PWD", "{PWD}"].into_iter().find(|here| rest.starts_with(here))
            && (here.starts_with('{') || name == here)
        {
            word.text.push('.');
            return self.skip(here.len());
        }
        let length = match rest.find('}') {
            Some(at) if rest.starts_with('{') => at + 1,
            _ => name.len(),
        };
        self.variable(start..start + 1 + length, word);
        self.skip(length);
    }

    /// `%NAME%` and `%1` of cmd; any other `%` is an ordinary character.
    fn percent(&mut self, start: usize, word: &mut Word) {
        let rest = self.rest();
        let name = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let length = rest.len() - name.len();
        if length > 0 && name.starts_with('%') {
            self.variable(start..start + length + 2, word);
            return self.skip(length + 1);
        }
        word.text.push('%');
    }

    fn variable(&self, span: Range<usize>, word: &mut Word) {
        let variable = &self.text[span.clone()];
        word.text.push_str(variable);
        self.fault(word, |lexer| {
            Error::syntax(
                format!("`{variable}` is a shell variable whose value iotax does not know"),
                "replace the variable with its value, or put it in single quotes if it is meant \
                 for fio",
            )
            .at(lexer.text, span)
        });
    }

    fn backquote(&mut self, start: usize, word: &mut Word) {
        let what = "a command in backquotes";
        self.fault(word, |lexer| {
            lexer.refuse(what, start..start + 1, "replace the command with its output")
        });
        let length = self.rest().find('`').map_or(0, |end| end + 1);
        self.skip(length);
    }

    fn typeset(&self, at: usize, word: &mut Word) {
        word.typeset |= word.fault.is_none();
        self.fault(word, |lexer| typeset::refuse(lexer.text, at, lexer.style.short_options));
    }

    /// Only the first fault of a word counts.
    fn fault(&self, word: &mut Word, why: impl FnOnce(&Self) -> Error) {
        if word.fault.is_none() {
            word.fault = Some(Box::new(why(self)));
        }
    }

    fn refuse(&self, what: &str, span: Range<usize>, advice: &str) -> Error {
        let text = format!("{what} needs a shell, but iotax does not run one");
        Error::syntax(text, advice).at(self.text, span)
    }

    fn never_closed(&self, start: usize) -> Error {
        Error::syntax("this quote is not closed", "add the same quote after the value")
            .at(self.text, start..self.end)
    }
}

/// A line that begins with an option belongs to the command before it: pages with commands often
/// lose the character that continues a line.
fn goes_on(words: &[Word], rest: &str) -> bool {
    !words.is_empty() && rest.trim_start().starts_with('-')
}

/// Bytes up to the parenthesis that closes the first one.
fn closing(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}
