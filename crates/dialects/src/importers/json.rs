//! Reads JSON as programs in C write it, and finds the position of errors.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::imported::Error;

/// The first value that begins with `begin`, and the text after it; earlier output of a shell is
/// skipped.
///
/// # Errors
/// [`Error::CutOff`] or [`Error::Json`], with the line.
pub(super) fn first<T: DeserializeOwned>(text: &str, begin: char) -> Result<(T, &str), Error> {
    let start = text.find(begin).unwrap_or(0);
    let line = 1 + text[..start].bytes().filter(|byte| *byte == b'\n').count();
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<T>();
    match values.next() {
        Some(Ok(value)) => Ok((value, &text[start + values.byte_offset()..])),
        Some(Err(error)) if !error.is_eof() => Err(broken(&error, line)),
        Some(Err(_)) | None => Err(Error::CutOff { line }),
    }
}

/// The error for JSON that begins in this line.
pub(super) fn broken(error: &serde_json::Error, begins: usize) -> Error {
    // The parser's message ends with a position in its own text.
    let said = error.to_string();
    let why = said.rsplit_once(" at line ").map_or(said.as_str(), |(why, _)| why).to_owned();
    Error::Json { line: begins + error.line().saturating_sub(1), column: error.column(), why }
}

/// fio and iperf3 write floats with `%f`, so a mean without values may be `nan` or `-nan`, which is
/// not valid JSON. Older versions of fio do not escape control characters. The former become
/// `null`, the latter blanks.
pub(super) fn tidy(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let (mut out, mut copied) = (String::new(), 0);
    let (mut i, mut in_string) = (0, false);
    while i < bytes.len() {
        let (end, instead) = match bytes[i] {
            b'\\' if in_string => (i + 2, None),
            b'"' => {
                in_string = !in_string;
                (i + 1, None)
            }
            0..0x20 if in_string => (i + 1, Some(" ")),
            b'-' | b'a'..=b'z' | b'A'..=b'Z' if !in_string => {
                let end = i + 1 + word_length(&bytes[i + 1..]);
                (end, is_no_number(&bytes[i..end]).then_some("null"))
            }
            _ => (i + 1, None),
        };
        if let Some(instead) = instead {
            out.push_str(&json[copied..i]);
            out.push_str(instead);
            copied = end;
        }
        i = end;
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(&json[copied..]);
    Cow::Owned(out)
}

fn word_length(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_alphabetic()).count()
}

fn is_no_number(word: &[u8]) -> bool {
    let word = word.strip_prefix(b"-").unwrap_or(word);
    [&b"nan"[..], b"inf", b"infinity"].iter().any(|no| word.eq_ignore_ascii_case(no))
}

/// An object in its written order: programs repeat keys (`"0.00"` in unused entries of
/// `percentile`).
pub(super) struct Pairs<T>(pub Vec<(String, T)>);

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

struct PairsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PairsVisitor<T> {
    type Value = Pairs<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<T>, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(PairsVisitor(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_no_number_is_replaced() {
        let json = r#"{"a": nan, "b": -nan, "c": [inf], "nan": "a nan \" nan", "d": -1}"#;
        let tidied = r#"{"a": null, "b": null, "c": [null], "nan": "a nan \" nan", "d": -1}"#;
        assert_eq!(tidy(json), tidied);
        assert_eq!(tidy("{\"a\": \"x\ty\"}"), "{\"a\": \"x y\"}");
        assert!(matches!(tidy(tidied), Cow::Borrowed(_)));
    }
}
