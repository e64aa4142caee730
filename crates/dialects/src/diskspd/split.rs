//! Text into commands, and commands into words, as a shell would split them.

use std::ops::Range;

use iotax_spec::Error;

/// One word, quotes taken off, with its bytes in the whole text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub text: String,
    pub span: Range<usize>,
}

/// The words of one command, without the program's name; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    pub words: Vec<Word>,
    /// Flags were typed as `/b4K`: [`Word::text`] has `-b4K`.
    pub slashes: bool,
}

impl Command {
    pub(super) fn span(&self) -> Range<usize> {
        let start = self.words.first().map_or(0, |word| word.span.start);
        start..self.words.last().map_or(0, |word| word.span.end)
    }
}

enum Token {
    Word(Word),
    /// `&` or a line break.
    Next,
    /// `>`: the word that follows is where the output goes.
    Redirect(Range<usize>),
}

/// The commands of `text`.
pub(super) fn commands(text: &str) -> Result<Vec<Command>, Error> {
    let mut commands = Vec::new();
    let mut words: Vec<Word> = Vec::new();
    let mut redirected: Option<Range<usize>> = None;
    let tokens = tokens(text)?;
    for token in tokens.into_iter().chain([Token::Next]) {
        match token {
            // Where DiskSpd's output would go does not matter.
            Token::Word(_) if redirected.take().is_some() => {}
            Token::Word(word) => words.push(word),
            Token::Redirect(span) => redirected = Some(span),
            Token::Next => {
                if let Some(span) = redirected.take() {
                    return Err(
                        Error::syntax("output goes nowhere", "leave this out").at(text, span)
                    );
                }
                commands.extend(command(text, std::mem::take(&mut words))?);
            }
        }
    }
    if commands.is_empty() {
        let advice = "write for example diskspd -b4K -r -o32 -d10 -Sh -c1G io.dat";
        return Err(Error::syntax("there is no command", advice));
    }
    Ok(commands)
}

/// A command without the program in front of it; `None` if there are no words.
fn command(text: &str, mut words: Vec<Word>) -> Result<Option<Command>, Error> {
    let mut slashes = false;
    for word in &mut words {
        slashes |= switch(word);
    }
    let Some(first) = words.first() else { return Ok(None) };
    if is_program(&first.text) {
        let program = words.remove(0);
        if words.is_empty() {
            let advice = "write for example diskspd -b4K -r -o32 -d10 -Sh -c1G io.dat";
            return Err(
                Error::syntax("a command without flags and target", advice).at(text, program.span)
            );
        }
    } else if !first.text.starts_with('-') {
        let problem = format!("`{}` is no command of DiskSpd", first.text);
        let advice = "begin every command with diskspd, and join commands by & or line breaks";
        return Err(Error::syntax(problem, advice).at(text, first.span.clone()));
    }
    Ok(Some(Command { words, slashes }))
}

/// `/b4K` is `-b4K`: whether it was one. A path of this system has another slash, or is the
/// program.
fn switch(word: &mut Word) -> bool {
    if let Some(flag) = word.text.strip_prefix('/')
        && !flag.contains('/')
        && !is_program(&word.text)
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

/// `diskspd`, `DiskSpd.exe`, `C:\tools\amd64\diskspd.exe`, `./diskspd`.
fn is_program(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word).to_ascii_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name) == "diskspd"
}

fn tokens(text: &str) -> Result<Vec<Token>, Error> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let end = at + first.len_utf8();
        if let Some(length) = continued(&text[at..]) {
            at += length;
            continue;
        }
        match first {
            '\n' => found.push(Token::Next),
            _ if first.is_whitespace() => {}
            '&' if text[end..].starts_with('&') => {
                let advice = "join commands that run together by one & or a line break; run \
                              others one after the other";
                let problem = "commands joined by && run one after the other";
                return Err(Error::syntax(problem, advice).at(text, at..end + 1));
            }
            '&' => found.push(Token::Next),
            '>' => found.push(Token::Redirect(at..end)),
            '|' | ';' | '<' => {
                let problem = format!("`{first}` means nothing here");
                let advice = "join commands by & or line breaks";
                return Err(Error::syntax(problem, advice).at(text, at..end));
            }
            _ => {
                let word = word(text, at)?;
                at = word.span.end;
                found.push(Token::Word(word));
                continue;
            }
        }
        at = end;
    }
    Ok(found)
}

/// Bytes of a line break that is none: after `^` (cmd), a backquote (PowerShell) or, with a blank
/// before it, `\` (sh).
fn continued(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(['^', '`', '\\'])?;
    let broken = rest.strip_prefix('\r').unwrap_or(rest).strip_prefix('\n')?;
    Some(text.len() - broken.len())
}

/// The word that starts at byte `start`. A backslash is part of a Windows path, and escapes
/// nothing.
fn word(text: &str, start: usize) -> Result<Word, Error> {
    let mut word = String::new();
    let mut quote: Option<(char, usize)> = None;
    for (offset, c) in text[start..].char_indices() {
        let at = start + offset;
        match quote {
            Some((open, _)) if c == open => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some((c, at)),
            None if c.is_whitespace() || matches!(c, '&' | '|' | ';' | '<' | '>') => {
                return Ok(Word { text: word, span: start..at });
            }
            Some(_) | None => word.push(c),
        }
    }
    match quote {
        None => Ok(Word { text: word, span: start..text.len() }),
        Some((open, at)) => {
            let advice = format!("put a {open} behind the value");
            Err(Error::syntax("this quote is never closed", advice).at(text, at..text.len()))
        }
    }
}
