//! Finds the JSON in what fio printed, and keeps what else it printed.

use std::borrow::Cow;

use crate::importers::error::Error;
use crate::importers::json::tidy;

/// Lines beside the JSON that are kept: the normal report may stand there too.
const MOST_LINES: usize = 20;
/// Characters of such a line that are kept.
const LONGEST_LINE: usize = 300;

/// The last whole JSON object of the text.
pub(super) struct Document<'a> {
    /// Valid JSON as far as fio's own habits go: see [`tidy`].
    pub json: Cow<'a, str>,
    /// The line in which it begins, from 1.
    pub line: usize,
    /// Lines before, between and after objects.
    pub around: Vec<String>,
}

/// The last whole object: fio prints one each `--status-interval`, and one at the end.
pub(super) fn last(text: &str) -> Result<Document<'_>, Error> {
    let text = text.trim_start_matches('\u{feff}');
    let mut found = None;
    let mut around = Around::default();
    let (mut at, mut line) = (0, 1);
    while at < text.len() {
        let rest = &text[at..];
        let this = rest.lines().next().unwrap_or("");
        if this.trim_start().starts_with('{') {
            let Some(length) = object_length(rest) else {
                around.cut_off(found.is_some(), line)?;
                break;
            };
            found = Some((line, &rest[..length]));
            at += length;
            line += newlines(&rest[..length]);
            continue;
        }
        around.keep(this);
        at += rest.find('\n').map_or(rest.len(), |end| end + 1);
        line += 1;
    }
    let Some((line, json)) = found else {
        return Err(Error::NoDocument { text: around.first() });
    };
    Ok(Document { json: tidy(json), line, around: around.into_lines() })
}

/// What stands beside the JSON, so much of it as anybody would read.
#[derive(Default)]
struct Around {
    lines: Vec<String>,
    more: usize,
}

impl Around {
    fn keep(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() || self.lines.iter().any(|known| known == line) {
            return;
        }
        if self.lines.len() < MOST_LINES {
            self.lines.push(line.chars().take(LONGEST_LINE).collect());
        } else {
            self.more += 1;
        }
    }

    /// An object without an end is passed over if there was a whole one before.
    fn cut_off(&mut self, found: bool, line: usize) -> Result<(), Error> {
        if !found {
            return Err(Error::CutOff { line });
        }
        self.lines.push(format!(
            "the JSON that begins in line {line} is cut off; the one before it, an interim snapshot, is used"
        ));
        Ok(())
    }

    fn first(self) -> String {
        self.lines.into_iter().next().unwrap_or_default().chars().take(60).collect()
    }

    fn into_lines(mut self) -> Vec<String> {
        if self.more > 0 {
            self.lines.push(format!("and {} more lines", self.more));
        }
        self.lines
    }
}

/// Length of the object at the start of `text`, after blanks; `None` if it does not end.
fn object_length(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for (i, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(i + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_whole_object_counts_and_lines_around_are_kept() {
        let found = last("note: a\n\n{\"a\": \"}\"}\nb\n {\n\"c\": {}}\nd\n{\"cut").unwrap();
        assert_eq!((found.json.as_ref(), found.line), (" {\n\"c\": {}}", 5));
        insta::assert_debug_snapshot!(found.around, @r#"
        [
            "note: a",
            "b",
            "d",
            "the JSON that begins in line 8 is cut off; the one before it, an interim snapshot, is used",
        ]
        "#);
    }
}
