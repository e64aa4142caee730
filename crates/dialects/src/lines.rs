//! Lines of a script: where in it something is.

use iotax_experiment::{Error, FilePlace};

/// The number of the line with this byte, from 1, and where that line begins.
pub(crate) fn line_at(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at.min(text.len()))];
    (before.matches('\n').count() + 1, before.rfind('\n').map_or(0, |end| end + 1))
}

/// An error in a script, with the line in question instead of the whole text.
pub(crate) fn by_line(error: Error, source: &str) -> Error {
    match error {
        Error::InText { source: error, text, start, end } => {
            let (line, begins) = line_at(&text, start);
            let line_text = text[begins..].lines().next().unwrap_or_default();
            let before = text.get(begins..start).unwrap_or_default();
            let part = text.get(start..end).unwrap_or_default();
            let place = FilePlace {
                file: source.to_owned(),
                line,
                column: before.chars().count() + 1,
                width: part.lines().next().map_or(1, |part| part.chars().count()).max(1),
                line_text: line_text.to_owned(),
                key: String::new(),
            };
            Error::InFile { source: error, place: Box::new(place) }
        }
        error => error,
    }
}
