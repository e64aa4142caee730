//! Tokens of stack text, each with its position.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::Error;
use crate::error::brief;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub kind: TokenKind<'a>,
    pub span: Range<usize>,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind<'a> {
    /// A bare word, or text in double quotes without the quotes.
    Word(Cow<'a, str>),
    Open,
    Close,
    Comma,
    Equals,
    Plus,
    End,
}

impl TokenKind<'_> {
    /// For "expected ..., found ...".
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Word(word) => format!("`{}`", brief(word)),
            Self::Open => "`(`".into(),
            Self::Close => "`)`".into(),
            Self::Comma => "`,`".into(),
            Self::Equals => "`=`".into(),
            Self::Plus => "`+`".into(),
            Self::End => "the end".into(),
        }
    }

    fn of_mark(mark: char) -> Option<Self> {
        match mark {
            '(' => Some(Self::Open),
            ')' => Some(Self::Close),
            ',' => Some(Self::Comma),
            '=' => Some(Self::Equals),
            '+' => Some(Self::Plus),
            _ => None,
        }
    }
}

/// Whether a value can be in stack text without quotes.
pub(super) fn is_bare(value: &str) -> bool {
    !value.is_empty() && !value.contains(ends_word)
}

/// The value for stack text, with quotes only if it needs them.
pub fn quote(value: &str) -> Cow<'_, str> {
    if is_bare(value) {
        return Cow::Borrowed(value);
    }
    Cow::Owned(format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// Whether the value is already in quotes.
pub(super) fn is_quoted(value: &str) -> bool {
    value.len() > 1 && value.starts_with('"') && value.ends_with('"')
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || c == '"' || TokenKind::of_mark(c).is_some()
}

/// Splits `text`; the last token is always [`TokenKind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, Error> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let start = at;
        at += first.len_utf8();
        if first.is_whitespace() {
            continue;
        }
        let kind = if let Some(mark) = TokenKind::of_mark(first) {
            mark
        } else if first == '"' {
            let (word, length) = quoted(&text[at..]).ok_or_else(|| {
                Error::syntax("this quote is not closed", "add a \" after the value")
                    .at(text, start..text.len())
            })?;
            at += length;
            TokenKind::Word(Cow::Owned(word))
        } else {
            at = text[start..].find(ends_word).map_or(text.len(), |length| start + length);
            TokenKind::Word(Cow::Borrowed(&text[start..at]))
        };
        found.push(Token { kind, span: start..at });
    }
    found.push(Token { kind: TokenKind::End, span: text.len()..text.len() });
    Ok(found)
}

/// The text up to the closing quote, with `\"` and `\\` unescaped, and the bytes it took.
fn quoted(text: &str) -> Option<(String, usize)> {
    let mut word = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((word, at + 1)),
            '\\' => match chars.next()?.1 {
                escaped @ ('"' | '\\') => word.push(escaped),
                other => word.extend(['\\', other]),
            },
            other => word.push(other),
        }
    }
    None
}
