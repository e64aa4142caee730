//! What iperf3 prints, as one result: `-J`, the duplicate members of `--bidir` in 3.7, and the lines of
//! `--json-stream`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Root;
use crate::importers::imported::Error;
use crate::importers::json::{self, Pairs, tidy};

/// The result, and whether more follows it.
pub(super) fn read_root(text: &str) -> Result<(Root, bool), Error> {
    let start = text.find('{').unwrap_or(text.len());
    let text = match tidy(&text[start..]) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(tidied) => Cow::Owned(format!("{}{tidied}", &text[..start])),
    };
    let (root, rest) = match json::first::<Root>(&text, '{') {
        Ok(found) => found,
        // iperf3 3.7 gives the sums of both directions the same names.
        Err(Error::Json { why, .. }) if why.starts_with("duplicate field") => {
            let (twice, rest) = json::first::<Twice>(&text, '{')?;
            (put_together(&twice.into())?, rest)
        }
        Err(error) => return Err(error),
    };
    if root.event.is_some() {
        return Ok((of_events(&text)?, false));
    }
    Ok((root, rest.contains('{')))
}

/// What was put together of several parts. As a text, so that there is one reader of results.
fn put_together(value: &Value) -> Result<Root, Error> {
    json::first(&value.to_string(), '{').map(|(root, _)| root)
}

/// A line of `--json-stream` (3.17).
#[derive(Deserialize)]
#[serde(expecting = "an event")]
struct Event {
    event: String,
    #[serde(default)]
    data: Value,
}

/// Events of one test: its start, its intervals, its end.
fn of_events(text: &str) -> Result<Root, Error> {
    let mut whole = Map::new();
    let mut intervals = Vec::new();
    let mut rest = text;
    while rest.contains('{') {
        let (event, behind) = match json::first::<Event>(rest, '{') {
            Ok(found) => found,
            // What was printed last may be cut off.
            Err(Error::CutOff { .. }) if !whole.is_empty() => break,
            Err(error) => return Err(error),
        };
        rest = behind;
        match event.event.as_str() {
            "interval" => intervals.push(event.data),
            "start" | "end" | "error" => {
                whole.insert(event.event, event.data);
            }
            _ => {}
        }
    }
    whole.insert("intervals".to_owned(), Value::Array(intervals));
    put_together(&Value::Object(whole))
}

/// JSON in which a member that comes again is that of the way back.
#[derive(Deserialize)]
#[serde(untagged)]
enum Twice {
    Members(Pairs<Twice>),
    Items(Vec<Twice>),
    Leaf(Value),
}

impl From<Twice> for Value {
    fn from(twice: Twice) -> Self {
        let pairs = match twice {
            Twice::Members(Pairs(pairs)) => pairs,
            Twice::Items(items) => return items.into_iter().map(Self::from).collect(),
            Twice::Leaf(value) => return value,
        };
        let mut all = Map::new();
        for (name, value) in pairs {
            let value = Self::from(value);
            let Some(first) = all.get_mut(&name) else {
                all.insert(name, value);
                continue;
            };
            let back = format!("{name}_bidir_reverse");
            // The client's own direction comes first, unless they say otherwise.
            let is_swapped = first["sender"] == false && value["sender"] == true;
            let second = if is_swapped { std::mem::replace(first, value) } else { value };
            all.entry(back).or_insert(second);
        }
        Self::Object(all)
    }
}
