//! Finds the line of a position in a script.

use std::ops::Range;

use iotax_experiment::{Error, FilePlace};

/// The number of the line with this byte, from 1, and the start of that line.
pub(crate) fn line_at(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at.min(text.len()))];
    (before.matches('\n').count() + 1, before.rfind('\n').map_or(0, |end| end + 1))
}

/// An error in a script, with the affected line instead of the whole text.
pub(crate) fn by_line(error: Error, source: &str) -> Error {
    match error {
        Error::InText { source: error, text, start, end } => {
            let (line, begins) = line_at(&text, start);
            let line_text = text[begins..].lines().next().unwrap_or_default();
            let part = start.saturating_sub(begins)..end.saturating_sub(begins);
            let place = place_in_file(source, line, line_text, part);
            Error::InFile { source: error, place: Box::new(place) }
        }
        error => error,
    }
}

/// A part of a line, in bytes of the line.
pub(crate) fn place_in_file(
    file: &str,
    line: usize,
    line_text: &str,
    part: Range<usize>,
) -> FilePlace {
    let end = line_text.floor_char_boundary(part.end.min(line_text.len()));
    let start = line_text.floor_char_boundary(part.start.min(end));
    FilePlace {
        file: file.to_owned(),
        line,
        column: line_text[..start].chars().count() + 1,
        width: line_text[start..end].chars().count().max(1),
        line_text: line_text.to_owned(),
        key: String::new(),
    }
}
