//! A walk through XML that cannot be made to use more than its share of memory or stack.
//!
//! Nothing is built: whoever walks is told of each element as it begins and ends, with its place.
//! Depth and the text of one element are bounded; a document type, and with it every entity that
//! could expand, is refused.

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

/// Elements within each other; `DiskSpd` has nine.
const MAX_DEPTH: usize = 32;
/// Text of one element in bytes; the longest of `DiskSpd`'s is a path.
const MAX_TEXT: usize = 64 << 10;

/// Who is told what the walk comes past. `path` holds the names of the elements around and the
/// element's own, outermost first.
pub(super) trait Visitor {
    fn begins(&mut self, path: &[&str], element: &BytesStart<'_>) -> Result<(), String>;
    /// An element ends. `text` is what stood in it since the last element began or ended: all its
    /// text if it has no elements.
    fn ends(&mut self, path: &[&str], text: &str) -> Result<(), String>;
}

/// What is wrong, and in which line, from 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub line: usize,
    pub what: String,
}

/// Walks through all of `text`.
pub(super) fn walk(text: &str, visitor: &mut impl Visitor) -> Result<(), Fault> {
    let mut reader = Reader::from_str(text);
    // `DiskSpd` writes paths as they are, `&` included.
    reader.config_mut().allow_dangling_amp = true;
    let mut path: Vec<String> = Vec::new();
    let mut words = String::new();
    let mut elements = 0_usize;
    loop {
        let event = reader.read_event();
        let at = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let fault = |what: String| Fault { line: line_at(text, at), what };
        match event.map_err(|error| fault(error.to_string()))? {
            Event::Start(element) => {
                enter(&mut path, &element, visitor).map_err(fault)?;
                elements += 1;
                words.clear();
            }
            Event::Empty(element) => {
                enter(&mut path, &element, visitor).map_err(fault)?;
                elements += 1;
                words.clear();
                leave(&mut path, "", visitor).map_err(fault)?;
            }
            Event::End(_) => {
                leave(&mut path, words.trim(), visitor).map_err(fault)?;
                words.clear();
            }
            Event::Text(content) => append(&mut words, &content.into_inner()).map_err(fault)?,
            Event::CData(content) => append(&mut words, &content.into_inner()).map_err(fault)?,
            Event::GeneralRef(reference) => {
                append(&mut words, &resolved(&reference)).map_err(fault)?;
            }
            Event::DocType(_) => {
                return Err(fault("it has a document type, which DiskSpd never writes".to_owned()));
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::Eof => break,
        }
    }
    let end = |what: String| Fault { line: line_at(text, text.len()), what };
    match path.last() {
        Some(open) => Err(end(format!("it ends within <{open}>: the file was cut off"))),
        None if elements == 0 => Err(end("there is no element in it".to_owned())),
        None => Ok(()),
    }
}

fn enter(
    path: &mut Vec<String>,
    element: &BytesStart<'_>,
    visitor: &mut impl Visitor,
) -> Result<(), String> {
    if path.len() == MAX_DEPTH {
        return Err(format!("more than {MAX_DEPTH} elements within each other"));
    }
    path.push(element.name().as_ref().to_owned());
    visitor.begins(&names(path), element)
}

fn leave(path: &mut Vec<String>, text: &str, visitor: &mut impl Visitor) -> Result<(), String> {
    visitor.ends(&names(path), text)?;
    path.pop();
    Ok(())
}

fn names(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

fn append(words: &mut String, more: &str) -> Result<(), String> {
    if words.len() + more.len() > MAX_TEXT {
        return Err(format!("more than {MAX_TEXT} bytes of text in one element"));
    }
    words.push_str(more);
    Ok(())
}

/// The five entities of XML and characters by number; anything else as it was written.
fn resolved(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return character.to_string();
    }
    let name = reference.xml10_content();
    match &*name {
        "lt" => "<".to_owned(),
        "gt" => ">".to_owned(),
        "amp" => "&".to_owned(),
        "apos" => "'".to_owned(),
        "quot" => "\"".to_owned(),
        other => format!("&{other};"),
    }
}

fn line_at(text: &str, at: usize) -> usize {
    1 + text.get(..at).unwrap_or(text).matches('\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen(Vec<(String, String)>);

    impl Visitor for Seen {
        fn begins(&mut self, _: &[&str], _: &BytesStart<'_>) -> Result<(), String> {
            Ok(())
        }

        fn ends(&mut self, path: &[&str], text: &str) -> Result<(), String> {
            self.0.push((path.join("/"), text.to_owned()));
            Ok(())
        }
    }

    fn seen(text: &str) -> Result<Vec<(String, String)>, String> {
        let mut seen = Seen::default();
        walk(text, &mut seen).map_err(|f| format!("line {}: {}", f.line, f.what)).map(|()| seen.0)
    }

    #[test]
    fn paths_are_taken_as_they_were_written() {
        let pairs = seen("<a>\n <b>C:\\x &amp; y &#65; &z; R&D</b>\n <c/>\n</a>").unwrap();
        let text: Vec<_> =
            pairs.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        assert_eq!(text, [("a/b", "C:\\x & y A &z; R&D"), ("a/c", ""), ("a", "")]);
    }

    #[test]
    fn tricks_are_refused() {
        let bomb = "<!DOCTYPE a [<!ENTITY b \"&c;&c;\">]>\n<a>&b;</a>";
        insta::assert_snapshot!(seen(bomb).unwrap_err(), @"line 1: it has a document type, which DiskSpd never writes");
        insta::assert_snapshot!(seen(&"<a>".repeat(40)).unwrap_err(), @"line 1: more than 32 elements within each other");
        insta::assert_snapshot!(seen(&format!("<a>{}</a>", "x".repeat(70_000))).unwrap_err(), @"line 1: more than 65536 bytes of text in one element");
        insta::assert_snapshot!(seen("<a>\n<b>\n").unwrap_err(), @"line 3: it ends within <b>: the file was cut off");
        insta::assert_snapshot!(seen("<a></b>").unwrap_err(), @"line 1: ill-formed document: expected `</a>`, but `</b>` was found");
        insta::assert_snapshot!(seen("no XML").unwrap_err(), @"line 1: there is no element in it");
    }
}
