//! JSON of other tools: the first value of a text, with the place of what is wrong in it.

use serde::de::DeserializeOwned;

use super::error::Error;

/// The first value that begins with `begin`, and what follows it; what a shell printed before is passed
/// over.
///
/// # Errors
/// [`Error::CutOff`] or [`Error::Json`], with the line.
pub(super) fn first<T: DeserializeOwned>(text: &str, begin: char) -> Result<(T, &str), Error> {
    let start = text.find(begin).unwrap_or(0);
    let before = text[..start].bytes().filter(|byte| *byte == b'\n').count();
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<T>();
    let error = match values.next() {
        Some(Ok(value)) => return Ok((value, &text[start + values.byte_offset()..])),
        Some(Err(error)) if !error.is_eof() => error,
        Some(Err(_)) | None => return Err(Error::CutOff { line: before + 1 }),
    };
    let said = error.to_string();
    let why = said.rsplit_once(" at line ").map_or(said.as_str(), |(why, _)| why).to_owned();
    Err(Error::Json { line: before + error.line(), column: error.column(), why })
}
